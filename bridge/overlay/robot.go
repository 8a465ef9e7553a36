package overlay

import (
	"slices"
	"strings"
)

// robot is an advertisement and what became of the robot.
type robot struct {
	name, world string
	devices     []string // nil: not known
	bounds      []Bound
	now         *Availability // not in the view while it is refused
	refused     bool          // the name is another broker's
	holder      BrokerID      // whose
	rival       BrokerID      // another broker that was refused it
	claimed     Instant       // since when it is advertised, of a bulletin
}

// matchesAs reports whether the registry's test of two advertisements of a
// robot is the same.
func (r *robot) matchesAs(o *robot) bool {
	return r.world == o.world && slices.Equal(r.devices, o.devices) && (r.devices == nil) == (o.devices == nil) && slices.Equal(r.bounds, o.bounds)
}

// robots are those that this broker reads, with their advertisements.
type robots struct {
	named   map[string]*robot
	names   []string // sorted
	version uint64   // counts the changes of names
	changes uint64   // counts those of advertisements
}

// canMatch is the registry's test of a subscription: a 'no' is never false.
func (r *robot) canMatch(sub *sub) bool { return !r.refused && r.mayMatch(sub) }

// mayMatch is the same whosever the robot's name is.
func (r *robot) mayMatch(sub *sub) bool {
	if !sub.selector.matches(r.name) {
		return false
	}
	for i := range sub.Requires {
		if !r.canMeet(&sub.Requires[i]) {
			return false
		}
	}
	if r.devices == nil {
		return true
	}
	for _, group := range sub.Needs {
		if !slices.ContainsFunc(r.devices, func(d string) bool { return slices.Contains(group, interfaceOf(d)) }) {
			return false
		}
	}
	return len(sub.Devices) == 0 || slices.ContainsFunc(r.devices, func(d string) bool { return deviceMatches(sub.Devices, d) })
}

// canMeet reports whether what is known of the robot leaves room for a
// requirement.
func (r *robot) canMeet(q *Requirement) bool {
	if q.Texts == nil {
		at := slices.IndexFunc(r.bounds, func(b Bound) bool { return b.Name == q.Name })
		return at < 0 || q.Lo <= r.bounds[at].Hi && r.bounds[at].Lo <= q.Hi
	}
	switch q.Name {
	case "robot":
		return slices.Contains(q.Texts, r.name)
	case "world": // its readings may have come before it was known
		return r.world == "" || slices.Contains(q.Texts, r.world) || slices.Contains(q.Texts, "")
	case "interface":
		return r.devices == nil || slices.ContainsFunc(r.devices, func(d string) bool { return slices.Contains(q.Texts, interfaceOf(d)) })
	}
	return true
}

// deviceMatches reports whether a pattern may mean the device. A ranger can
// stand for a laser or a sonar.
func deviceMatches(patterns []string, d string) bool {
	interf := interfaceOf(d)
	if matchesAny(patterns, d) || matchesAny(patterns, interf) {
		return true
	}
	if interf != "ranger" {
		return false
	}
	index := strings.TrimPrefix(d, interf)
	return matchesAny(patterns, "laser") || matchesAny(patterns, "sonar") ||
		matchesAny(patterns, "laser"+index) || matchesAny(patterns, "sonar"+index)
}

func interfaceOf(d string) string {
	interf, _, _ := strings.Cut(d, ":")
	return interf
}

// anyCanMatch reports whether a robot is registered that sub can match.
func (r *robots) anyCanMatch(sub *sub) bool {
	if sel := sub.selector; sel.version != r.version {
		sel.version, sel.some = r.version, slices.ContainsFunc(r.names, sel.matches)
	}
	if !sub.selector.some {
		return false
	}
	for _, name := range r.names {
		if r.named[name].canMatch(sub) {
			return true
		}
	}
	return false
}
