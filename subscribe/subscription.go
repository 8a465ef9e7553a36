package subscribe

import (
	"path"
	"strings"

	"callboard/player"
	"callboard/subscribe/condition"
	"callboard/subscribe/protocol"
	"callboard/subscribe/view"
)

// Subscription is a compiled subscription. It is immutable: an update makes
// another one.
type Subscription struct {
	// Spec is the subscription as it was asked for.
	Spec protocol.Subscription
	// Allowed are the robot patterns that the client's token allows; none
	// means all. The broker sets it, between Compile and Install.
	Allowed []string

	program  *condition.Program
	selected []selection // by name
}

// selection is a selected expression.
type selection struct {
	name    string
	program *condition.Program
}

// Cost is what evaluating the subscription takes, in about one step of an
// interpreter, its selected expressions included.
func (s *Subscription) Cost() int {
	cost := s.program.Cost()
	for _, sel := range s.selected {
		cost += sel.program.Cost()
	}
	return cost
}

// Load is what the subscription takes of each reading, in the steps of Cost:
// all of its cost if each reading evaluates it, a hundredth if the index finds
// it by values.
func (s *Subscription) Load() int {
	plan := s.program.Plan("", false)
	if plan.Never || len(plan.Accesses) > 0 {
		return 1 + s.Cost()/100
	}
	return 1 + s.Cost()
}

// Needs lists the interfaces without which the condition is never true: of
// each group one, by Player's names. None means that there is no such.
func (s *Subscription) Needs() [][]string {
	var out [][]string
	for k := range view.Kind(view.NumKinds) {
		if s.program.Named().Has(k.Set()) {
			out = append(out, names(k.Interfaces()))
		}
	}
	return out
}

// Requires returns what must hold of a robot for it to be of any concern; nothing
// for a subscription that is told of conditions which are false.
func (s *Subscription) Requires() []condition.Requirement {
	if s.Spec.Trigger == protocol.TriggerChange {
		return nil
	}
	return s.program.Requires()
}

// Interfaces lists the interfaces whose readings conditions know, by Player's
// names.
func Interfaces() []string { return names(view.Interfaces()) }

func names(interfaces []player.Interface) []string {
	var all []string
	for _, i := range interfaces {
		all = append(all, i.String())
	}
	return all
}

func trigger(s *protocol.Subscription) string {
	if s.Trigger == "" {
		return protocol.TriggerEvery
	}
	return s.Trigger
}

// whole reports whether the reading itself goes out.
func (s *Subscription) whole() bool { return len(s.selected) == 0 && !s.Spec.Messages }

// stateful reports whether the subscription must see readings that do not match.
func (s *Subscription) stateful() bool {
	return trigger(&s.Spec) != protocol.TriggerEvery || s.Spec.For > 0
}

// tellsFalse reports whether the subscription reports that its condition is false,
// also at first.
func (s *Subscription) tellsFalse() bool { return trigger(&s.Spec) == protocol.TriggerChange }

// policed reports whether the subscription has state for each robot.
func (s *Subscription) policed() bool { return s.stateful() || s.Spec.MinInterval > 0 }

// bare reports that a condition that holds is all there is to ask.
func (s *Subscription) bare() bool { return !s.policed() && len(s.Spec.Devices) == 0 }

// wantsRobot reports whether the robot is one that the subscription asks for
// and may see.
func (s *Subscription) wantsRobot(name string) bool {
	return MatchesAny(s.Spec.Robots, name) && MatchesAny(s.Allowed, name)
}

// wantsDevice reports whether a device, by its interface and its address, is
// one that the subscription asks for.
func (s *Subscription) wantsDevice(interf, addr string) bool {
	return WantsDevice(s.Spec.Devices, interf, addr)
}

// WantsDevice reports whether patterns ask for a device, by its interface
// ("laser") and its address ("laser:0"); none ask for all.
func WantsDevice(patterns []string, interf, addr string) bool {
	if len(patterns) == 0 {
		return true
	}
	for _, p := range patterns {
		if matches(p, addr) || !strings.Contains(p, ":") && matches(p, interf) {
			return true
		}
	}
	return false
}

// MatchesAny reports whether a name matches one of the patterns; none match all.
func MatchesAny(patterns []string, name string) bool {
	if len(patterns) == 0 {
		return true
	}
	for _, p := range patterns {
		if matches(p, name) {
			return true
		}
	}
	return false
}

func matches(pattern, name string) bool {
	if pattern == name || pattern == "*" {
		return true
	}
	ok, err := path.Match(pattern, name)
	return ok && err == nil
}

// literal reports that a pattern is a plain name.
func literal(pattern string) bool { return !strings.ContainsAny(pattern, `*?[\`) }
