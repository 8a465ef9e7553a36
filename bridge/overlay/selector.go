package overlay

import (
	"crypto/sha256"
	"path"
	"slices"
	"strings"
)

// selector is the part of a subscription that robots' names must match. Equal
// ones are shared: an event of a robot asks each once.
type selector struct {
	key             string // tells the robots asked for and allowed
	robots, allowed []string
	names           []string // robots, if all of them are names and not patterns
	users           int
	event           uint64 // of the answer
	answer          bool
	version         uint64 // of the robots, when some was found out
	some            bool   // it matches some robot's name
}

// selectors are those of all sets of the broker.
type selectors struct {
	keys  map[string]*selector
	event uint64 // counts, so that a selector is asked once an event
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

// matchesAny reports whether one of the patterns matches; none means all.
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

// acquire returns the shared selector of a subscription.
func (r *selectors) acquire(sub *Subscription) *selector {
	key := strings.Join(sub.Robots, "\x00") + "\x01" + strings.Join(sub.Allowed, "\x00")
	if len(key) >= sha256.Size { // a list of names may have a megabyte
		sum := sha256.Sum256([]byte(key))
		key = string(sum[:])
	}
	s := r.keys[key]
	if s == nil {
		s = newSelector(sub)
		s.key = key
		r.keys[key] = s
	}
	s.users++
	return s
}

func (r *selectors) giveBack(s *selector) {
	if s.users--; s.users == 0 {
		delete(r.keys, s.key)
	}
}

// ask reports whether s matches the robot of the present event.
func (r *selectors) ask(s *selector, name string) bool {
	if s.event != r.event {
		s.event, s.answer = r.event, s.matches(name)
	}
	return s.answer
}
