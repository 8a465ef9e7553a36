package subscribe

import (
	"hash/maphash"
	"slices"
	"sync/atomic"

	"callboard/subscribe/condition"
)

// snapshot is one version of all that is installed. It is immutable; an
// install makes another that shares all but the changed paths with it.
//
// A subscription stands under the names of the robots that it lists or whose
// names its condition asks for, else under its scope, which sessions match
// once; there under the kinds of readings that test it; and there under the
// intervals of a value without which its condition is false. So a reading
// meets hardly more than what it matches.
type snapshot struct {
	version uint64
	robots  trie[[]namedBucket] // by hash of the name
	scopes  trie[scoped]        // by the scope's number
	texts   trie[[]*program]    // by hash of the text
	entries uint64              // all entries' numbers are up to it
	ended   uint64              // entries that have ended so far
	// messages are the entries that ask for the messages that readings came of.
	messages []*entry
	seed     maphash.Seed
}

// namedBucket is what is installed for one robot by its name.
type namedBucket struct {
	robot  string
	bucket bucket
}

// scope is a set of robots by patterns: those asked for and those allowed.
type scope struct{ robots, allowed []string }

func (s *scope) has(robot string) bool {
	return MatchesAny(s.robots, robot) && MatchesAny(s.allowed, robot)
}

// scoped is what is installed for a scope.
type scoped struct {
	scope  *scope
	bucket bucket
}

// program is an installed expression, shared by all with the same text.
type program struct {
	number  uint64
	program *condition.Program
	slots   []uint32 // of the program's own values
	truth   bool     // it is a condition, not a selected expression
	uses    int32    // the matcher's count
}

// slot says where sessions keep a value of the program. Those of the schema
// have their numbers.
func (p *program) slot(value int) uint64 {
	if own := value - condition.SchemaValues(); own >= 0 {
		return uint64(p.slots[own])
	}
	return uint64(value)
}

// value returns a value of the program by its number.
func (p *program) value(number int) *condition.Value {
	if own := number - condition.SchemaValues(); own >= 0 {
		return p.program.Own()[own]
	}
	return condition.SchemaValue(number)
}

// entry is a subscription while it is installed.
type entry struct {
	key     Key
	sub     *Subscription
	number  uint64
	program *program
	ended   atomic.Uint64 // the version from which on it is installed no more; 0: it is
	failed  atomic.Bool   // its owner was told that it failed
}

// maxNames is how many robots' names a subscription may ask for and still
// stand under each of them.
const maxNames = 16

// names lists the robots that the entry can match, if they are few and known:
// by the subscription, or else by its condition.
func (e *entry) names() (names []string, ok bool) {
	names = e.sub.Spec.Robots
	if len(names) == 0 || slices.ContainsFunc(names, func(p string) bool { return !literal(p) }) {
		if e.sub.tellsFalse() {
			return nil, false
		}
		if names, ok = e.program.program.Robots(); !ok {
			return nil, false
		}
	}
	if len(names) > maxNames {
		return nil, false
	}
	var wanted []string
	for _, name := range names {
		if !slices.Contains(wanted, name) && e.sub.wantsRobot(name) {
			wanted = append(wanted, name)
		}
	}
	return wanted, true
}

// hash returns a number for a text, the same for few others that nobody can
// choose. It has few bits, for a dense trie.
func hash(seed maphash.Seed, s string) uint64 {
	const bits = 20
	return maphash.String(seed, s) >> (64 - bits)
}

// findText returns the installed program of a text, nil if there is none.
func (s *snapshot) findText(text string, truth bool) *program {
	list, _ := s.texts.get(hash(s.seed, text))
	for _, p := range list {
		if p.truth == truth && p.program.Text() == text {
			return p
		}
	}
	return nil
}

// robot returns what is installed for a robot by its name.
func (s *snapshot) robot(name string) (b bucket, ok bool) {
	list, _ := s.robots.get(hash(s.seed, name))
	for i := range list {
		if list[i].robot == name {
			return list[i].bucket, true
		}
	}
	return bucket{}, false
}

// setRobot changes what is installed for a robot by its name.
func (s *snapshot) setRobot(name string, b bucket) {
	h := hash(s.seed, name)
	list, _ := s.robots.get(h)
	list = slices.DeleteFunc(slices.Clone(list), func(n namedBucket) bool { return n.robot == name })
	if b.kinds != 0 {
		list = append(list, namedBucket{name, b})
	}
	if len(list) == 0 {
		s.robots = s.robots.without(h)
		return
	}
	s.robots = s.robots.with(s.version, h, list)
}
