package overlay

import (
	"path"
	"slices"
	"strings"
)

// robots are those that this broker reads, with their advertisements.
type robots struct {
	named   map[string]*robot
	names   []string // sorted
	version uint64   // counts the changes of names
	changes uint64   // counts those of advertisements
}

// selectors are those of all sets of the broker.
type selectors struct {
	texts map[string]*selector // by their canonical text
	event uint64               // counts, so that a selector is asked once an event
}

// robot is an advertisement and what became of the robot.
type robot struct {
	name, world string
	devices     []string // nil: not known
	bounds      []Bound
	now         *Availability // not in the view while it is refused
	refused     bool          // the name is another broker's
	holder      BrokerID      // whose
	rival       BrokerID      // another broker that was refused it
}

// selector is the part of a subscription that robots' names must match. Equal
// ones are shared: an event of a robot asks each once.
type selector struct {
	text            string
	robots, allowed []string
	names           []string // robots, if all of them are names and not patterns
	users           int
	event           uint64 // of the answer
	answer          bool
	version         uint64 // of the robots, when some was found out
	some            bool   // it matches some robot's name
}

func newSelector(sub *Subscription) *selector {
	s := &selector{robots: sub.Robots, allowed: sub.Allowed}
	if len(sub.Robots) > 0 && !slices.ContainsFunc(sub.Robots, func(p string) bool { return strings.ContainsAny(p, `*?[\`) }) {
		s.names = sub.Robots
	}
	return s
}

func (s *selector) matches(name string) bool {
	if s.names != nil && !slices.Contains(s.names, name) {
		return false
	}
	return (s.names != nil || matchesAny(s.robots, name)) && matchesAny(s.allowed, name)
}

// matchesAny tells whether one of the patterns matches; none means all.
func matchesAny(patterns []string, name string) bool {
	for _, p := range patterns {
		if p == name {
			return true
		}
		if ok, err := path.Match(p, name); ok && err == nil {
			return true
		}
	}
	return len(patterns) == 0
}

// acquire gives the shared selector of a subscription.
func (r *selectors) acquire(sub *Subscription) *selector {
	text := strings.Join(sub.Robots, "\x00") + "\x01" + strings.Join(sub.Allowed, "\x00")
	s := r.texts[text]
	if s == nil {
		s = newSelector(sub)
		s.text = text
		r.texts[text] = s
	}
	s.users++
	return s
}

func (r *selectors) giveBack(s *selector) {
	if s.users--; s.users == 0 {
		delete(r.texts, s.text)
	}
}

// ask tells whether s matches the robot of the present event.
func (r *selectors) ask(s *selector, name string) bool {
	if s.event != r.event {
		s.event, s.answer = r.event, s.matches(name)
	}
	return s.answer
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

// canMeet tells whether what is known of the robot leaves room for a
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

// deviceMatches tells whether a pattern may mean the device. A ranger can
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

// anyCanMatch tells whether a robot is registered that sub can match.
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

// advertise registers a robot: sets that can match it come into the local
// registry now (6).
func (b *source) advertise(in *Advertise) {
	r := b.robot(in.Robot)
	r.world, r.devices, r.bounds = in.World, slices.Clone(in.Devices), slices.Clone(in.Bounds)
	if in.Devices != nil && r.devices == nil {
		r.devices = []string{}
	}
	b.selectors.event++
	b.advertised()
	b.edge.appeared(r)
}

// appeared enters those clients here into the local registry that a robot of this
// broker can match, and that have no key there yet.
func (b *edge) appeared(r *robot) {
	for _, s := range b.order {
		if s.local == nil && s.elsewhere == 0 && s.selects(&b.selectors, r.name) && s.anySub(r.canMatch) {
			b.enter(s, nil)
		}
	}
}

// robot gives the robot's registration, a new one if need be.
func (b *source) robot(name string) *robot {
	r := b.robots.named[name]
	if r == nil {
		r = &robot{name: name, now: &Availability{Robot: name, Since: b.now}}
		b.robots.named[name] = r
		at, _ := slices.BinarySearch(b.robots.names, name)
		b.robots.names = slices.Insert(b.robots.names, at, name)
		b.robots.version++
		b.advertised()
		b.appear(r)
	}
	return r
}

// advertised has what has changed told to the registry.
func (b *source) advertised() {
	b.robots.changes = max(b.robots.changes+1, uint64(max(b.now, 0)))
	b.hastenRegister()
}

// withdraw takes an advertisement back. Keys stay: a source broker once named
// stays named until the session ends (G1).
func (b *source) withdraw(in *Withdraw) {
	r := b.robots.named[in.Robot]
	if r == nil {
		return
	}
	delete(b.robots.named, in.Robot)
	at, _ := slices.BinarySearch(b.robots.names, in.Robot)
	b.robots.names = slices.Delete(b.robots.names, at, at+1)
	b.robots.version++
	b.advertised()
	b.disappear(r)
}

// selects tells whether a subscription of the set selects the robot of the
// present event.
func (s *set) selects(r *selectors, robot string) bool {
	for sel := range s.selectors { // one is enough, whichever
		if r.ask(sel, robot) {
			return true
		}
	}
	return false
}
