package subscribe

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"hash/maphash"
	"slices"
	"strings"
	"sync/atomic"

	"callboard/subscribe/condition"
	"callboard/subscribe/protocol"
)

// Key names a client's set of subscriptions in the matcher. The broker
// chooses it; the matcher only hands it back.
type Key uint64

// Config configures a Matcher.
type Config struct {
	Zones           map[string][][2]float64 // polygons for inside(), in m; default none
	ConditionLength int                     // characters that a condition may have; default 4096
	ClientLoad      int                     // load that the subscriptions of a client may have together (see Subscription.Load); default 1,000,000: about 10 ms a reading
}

// Matcher holds the subscriptions and tests readings against them. Sessions
// read immutable snapshots of it and never wait; Prepare, Install and Remove
// are for one goroutine at a time, Compile for any number.
type Matcher struct {
	compiler *condition.Compiler
	load     int // of a client
	seed     maphash.Seed
	snapshot atomic.Pointer[snapshot]
	recent   [maxRecent]atomic.Pointer[compiled]

	// What follows belongs to the goroutine that installs.
	newest   *snapshot        // that was prepared, perhaps not visible yet
	keys     map[Key][]*entry // by ascending id
	scopes   map[string]*scopeUse
	scoped   uint64 // numbers given to scopes
	programs uint64 // numbers given to programs
	values   map[string]*valueUse
	slots    uint32   // of values, given so far
	free     []uint32 // of them, those that are in use no more
}

// valueUse counts the programs that have a value of their own.
type valueUse struct {
	slot uint32
	uses int
}

// scopeUse counts who uses a scope.
type scopeUse struct {
	number uint64
	uses   int
}

// New makes a Matcher without subscriptions. An unusable zone is an error.
func New(c Config) (*Matcher, error) {
	compiler, err := condition.New(condition.Config{Zones: c.Zones, Length: c.ConditionLength})
	if err != nil {
		return nil, err
	}
	m := &Matcher{compiler: compiler, load: cmp.Or(c.ClientLoad, defaultClientLoad), seed: maphash.MakeSeed(), keys: map[Key][]*entry{}, scopes: map[string]*scopeUse{}, values: map[string]*valueUse{}}
	m.slots = uint32(condition.SchemaValues())
	m.newest = &snapshot{seed: m.seed}
	m.snapshot.Store(m.newest)
	return m, nil
}

const defaultClientLoad = 1_000_000

// Admit refuses a subscription that is too much together with what a client
// has: load is the sum of Subscription.Load of all its others. Safe for
// concurrent use.
func (m *Matcher) Admit(load int, next *Subscription) *protocol.Problem {
	if load+next.Load() <= m.load {
		return nil
	}
	return &protocol.Problem{Code: protocol.TooCostly, Message: fmt.Sprintf(
		"the client's conditions cost too much together: this one takes %d steps a reading, the others %d, the limit is %d", next.Load(), load, m.load)}
}

// Version is that of the newest snapshot. Safe for concurrent use.
func (m *Matcher) Version() uint64 { return m.snapshot.Load().version }

// Size counts what is installed. Safe for concurrent use.
func (m *Matcher) Size() (conditions int) { return m.snapshot.Load().texts.size }

// Install makes set the whole set of key, as one change: each reading is
// tested by the old set or by the new one. Subscriptions that were in the set
// before keep their policy state, others begin anew, alike or not: a client may
// have ended one and begun another meanwhile. It returns the version in which the change is visible.
func (m *Matcher) Install(key Key, set []*Subscription) (version uint64) {
	return m.Prepare([]Set{{key, set}}).Publish()
}

// Remove takes the set of key away and returns the version in which it is gone.
func (m *Matcher) Remove(key Key) (version uint64) { return m.Install(key, nil) }

// Set is the whole set of a key.
type Set struct {
	Key           Key
	Subscriptions []*Subscription
}

// Change is a change of the matcher that has been prepared: no reading meets it
// until it is published. Changes are published in the order of their preparing.
type Change struct {
	matcher  *Matcher
	snapshot *snapshot
}

// Prepare makes ready the sets of several keys, each as Install, all as one
// change: a large one costs far less than its parts one after another. Of one
// key the last set counts.
func (m *Matcher) Prepare(sets []Set) *Change {
	last := make(map[Key]int, len(sets))
	for i, s := range sets {
		last[s.Key] = i
	}
	var put, gone []*entry
	for i, s := range sets {
		if last[s.Key] == i {
			put, gone = m.differ(s.Key, s.Subscriptions, put, gone)
		}
	}
	if len(put)+len(gone) > 0 {
		m.newest = m.change(put, gone)
	}
	return &Change{m, m.newest}
}

// Publish makes the change visible, whatever its size at once, and returns the
// version in which it is. It may be called in another goroutine than Prepare.
func (c *Change) Publish() (version uint64) {
	c.matcher.snapshot.Store(c.snapshot)
	return c.snapshot.version
}

// differ makes set the key's, and appends the entries that come and go.
func (m *Matcher) differ(key Key, set []*Subscription, put, gone []*entry) (puts, goes []*entry) {
	old := m.keys[key]
	var next []*entry
	sorted := slices.SortedStableFunc(slices.Values(set), func(a, b *Subscription) int { return cmp.Compare(a.Spec.ID, b.Spec.ID) })
	for i, sub := range sorted {
		if i+1 < len(sorted) && sorted[i+1].Spec.ID == sub.Spec.ID {
			continue // of one id the last counts
		}
		for len(old) > 0 && old[0].sub.Spec.ID < sub.Spec.ID {
			gone, old = append(gone, old[0]), old[1:]
		}
		if len(old) > 0 && old[0].sub == sub {
			next, old = append(next, old[0]), old[1:]
			continue
		}
		e := &entry{key: key, sub: sub}
		next, put = append(next, e), append(put, e)
	}
	gone = append(gone, old...)
	if len(next) == 0 {
		delete(m.keys, key)
	} else {
		m.keys[key] = slices.Clip(next)
	}
	return put, gone
}

// change puts entries and takes others away, in one snapshot.
func (m *Matcher) change(put, gone []*entry) *snapshot {
	s := *m.newest
	s.version++
	s.ended += uint64(len(gone))
	slices.SortFunc(gone, func(a, b *entry) int { return cmp.Compare(a.number, b.number) })
	asks := func(e *entry) bool { return e.sub.Spec.Messages }
	if slices.ContainsFunc(gone, asks) {
		s.messages = slices.DeleteFunc(slices.Clone(s.messages), func(e *entry) bool { return slices.Contains(gone, e) })
	}
	for _, e := range gone {
		m.place(&s, e, false)
		m.release(&s, e)
	}
	for _, e := range put {
		s.entries++
		e.number = s.entries
		e.program = m.intern(&s, e.sub.program, true)
		for _, sel := range e.sub.selected {
			m.intern(&s, sel.program, false)
		}
		m.place(&s, e, true)
		if asks(e) {
			s.messages = append(slices.Clip(s.messages), e)
		}
	}
	for _, e := range gone {
		e.ended.Store(s.version)
	}
	return &s
}

// place puts an entry where sessions find it, or takes it away.
func (m *Matcher) place(s *snapshot, e *entry, put bool) {
	if names, ok := e.names(); ok {
		for _, name := range names {
			plan := e.program.program.Plan(name, true)
			if plan.Never && !e.sub.tellsFalse() {
				continue
			}
			old, _ := s.robot(name)
			if b := old.change(s.version, e, &plan, put); !b.same(old) {
				s.setRobot(name, b)
			}
		}
		return
	}
	robots := e.sub.Spec.Robots
	plan := e.program.program.Plan("", false)
	name := strings.Join(robots, "\x00") + "\x01" + strings.Join(e.sub.Allowed, "\x00")
	if len(name) >= sha256.Size { // a list of names may have a megabyte
		sum := sha256.Sum256([]byte(name))
		name = string(sum[:])
	}
	use := m.scopes[name]
	if use == nil {
		m.scoped++
		use = &scopeUse{number: m.scoped}
		m.scopes[name] = use
	}
	in, ok := s.scopes.get(use.number)
	if !ok {
		in.scope = &scope{robots: robots, allowed: e.sub.Allowed}
	}
	in.bucket = in.bucket.change(s.version, e, &plan, put)
	if put {
		use.uses++
	} else if use.uses--; use.uses == 0 {
		delete(m.scopes, name)
		s.scopes = s.scopes.without(use.number)
		return
	}
	s.scopes = s.scopes.with(s.version, use.number, in)
}

// intern returns the one program of a text, and counts one more use of it.
func (m *Matcher) intern(s *snapshot, p *condition.Program, truth bool) *program {
	found := s.findText(p.Text(), truth)
	if found == nil {
		m.programs++
		found = &program{number: m.programs, program: p, truth: truth, slots: m.slotsOf(p)}
		h := hash(m.seed, p.Text())
		list, _ := s.texts.get(h)
		s.texts = s.texts.with(s.version, h, append(slices.Clone(list), found))
	}
	found.uses++
	return found
}

// slotsOf assigns slots to a program's own values. The same values have the
// same.
func (m *Matcher) slotsOf(p *condition.Program) []uint32 {
	var slots []uint32
	for _, v := range p.Own() {
		use := m.values[v.Key()]
		if use == nil {
			use = &valueUse{slot: m.slots}
			if n := len(m.free); n > 0 {
				use.slot, m.free = m.free[n-1], m.free[:n-1]
			} else {
				m.slots++
			}
			m.values[v.Key()] = use
		}
		use.uses++
		slots = append(slots, use.slot)
	}
	return slots
}

func (m *Matcher) freeSlots(p *program) {
	for _, v := range p.program.Own() {
		use := m.values[v.Key()]
		if use.uses--; use.uses == 0 {
			m.free = append(m.free, use.slot)
			delete(m.values, v.Key())
		}
	}
}

// release counts one use less of an entry's programs.
func (m *Matcher) release(s *snapshot, e *entry) {
	drop := func(p *program) {
		if p.uses--; p.uses > 0 {
			return
		}
		m.freeSlots(p)
		h := hash(m.seed, p.program.Text())
		list, _ := s.texts.get(h)
		list = slices.DeleteFunc(slices.Clone(list), func(o *program) bool { return o == p })
		if len(list) == 0 {
			s.texts = s.texts.without(h)
		} else {
			s.texts = s.texts.with(s.version, h, list)
		}
	}
	drop(e.program)
	for _, sel := range e.sub.selected {
		if p := s.findText(sel.program.Text(), false); p != nil {
			drop(p)
		}
	}
}
