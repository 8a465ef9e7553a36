package subscribe

import (
	"hash/fnv"
	"slices"
	"sync/atomic"

	"callboard/subscribe/condition"
	"callboard/subscribe/view"
)

// snapshot is one version of all that is installed. It is immutable; an
// install makes another that shares all but the changed paths with it.
//
// A subscription stands under the names of the robots that it lists, or, if
// it has patterns, under its scope, which sessions match once; there in a
// group with all of the same condition; and the group under the kinds of
// readings that test it. So a reading meets only what it may match, and each
// condition is evaluated once.
type snapshot struct {
	version  uint64
	robots   trie[[]namedBucket] // by hash of the name
	scopes   trie[scoped]        // by the scope's number
	texts    trie[[]*program]    // by hash of the text
	programs uint64              // all program numbers are below
	ended    uint64              // entries that have ended so far
}

// namedBucket is what is installed for one robot by its name.
type namedBucket struct {
	robot  string
	bucket bucket
}

// scope is a set of robots by patterns: those asked for and those allowed.
type scope struct{ robots, allowed []string }

func (s *scope) has(robot string) bool {
	return matchesAny(s.robots, robot) && matchesAny(s.allowed, robot)
}

// scoped is what is installed for a scope.
type scoped struct {
	scope  *scope
	bucket bucket
}

// bucket holds groups by the kinds of readings that test them. A condition
// that names several kinds stands under each.
type bucket struct {
	kinds [view.NumKinds]trie[*group] // by the program's number
	every trie[*group]                // conditions that name no kind
}

func (b *bucket) empty() bool {
	if b.every.size > 0 {
		return false
	}
	for _, t := range b.kinds {
		if t.size > 0 {
			return false
		}
	}
	return true
}

// group is all entries of a bucket with the same condition.
type group struct {
	program *program
	plain   trie[*entry] // need only readings that match
	state   trie[*entry] // need to see readings that do not match, too
}

// program is an installed expression, shared by all with the same text.
type program struct {
	number  uint64
	program *condition.Program
	truth   bool // it is a condition, not a selected expression
	uses    int  // the matcher's count
}

// entry is a subscription while it is installed.
type entry struct {
	key     Key
	sub     *Subscription
	number  uint64
	program *program
	ended   atomic.Bool // it is installed no more
	failed  atomic.Bool // its owner was told that it failed
}

func hash(s string) uint64 {
	h := fnv.New32a()
	h.Write([]byte(s))
	return uint64(h.Sum32())
}

// findText gives the installed program of a text, nil if there is none.
func (s *snapshot) findText(text string, truth bool) *program {
	list, _ := s.texts.get(hash(text))
	for _, p := range list {
		if p.truth == truth && p.program.Text() == text {
			return p
		}
	}
	return nil
}

// robot gives what is installed for a robot by its name.
func (s *snapshot) robot(name string) (b bucket, ok bool) {
	list, _ := s.robots.get(hash(name))
	for i := range list {
		if list[i].robot == name {
			return list[i].bucket, true
		}
	}
	return bucket{}, false
}

// setRobot changes what is installed for a robot by its name.
func (s *snapshot) setRobot(name string, b bucket) {
	h := hash(name)
	list, _ := s.robots.get(h)
	list = slices.DeleteFunc(slices.Clone(list), func(n namedBucket) bool { return n.robot == name })
	if !b.empty() {
		list = append(list, namedBucket{name, b})
	}
	if len(list) == 0 {
		s.robots = s.robots.without(h)
		return
	}
	s.robots = s.robots.with(h, list)
}

// change gives the bucket with an entry put or taken away.
func (b bucket) change(e *entry, put bool) bucket {
	named := e.program.program.Named()
	if named == 0 {
		b.every = changeGroup(b.every, e, put)
		return b
	}
	for k := range b.kinds {
		if named.Has(view.Kind(k).Set()) {
			b.kinds[k] = changeGroup(b.kinds[k], e, put)
		}
	}
	return b
}

func changeGroup(groups trie[*group], e *entry, put bool) trie[*group] {
	g := group{program: e.program}
	if old, ok := groups.get(e.program.number); ok {
		g = *old
	}
	list := &g.plain
	if e.sub.stateful() {
		list = &g.state
	}
	if put {
		*list = list.with(e.number, e)
	} else {
		*list = list.without(e.number)
	}
	if g.plain.size+g.state.size == 0 {
		return groups.without(e.program.number)
	}
	return groups.with(e.program.number, &g)
}
