package subscribe

import (
	"cmp"
	"slices"
	"strings"
	"sync/atomic"

	"callboard/subscribe/condition"
)

// Key names a client's set of subscriptions in the matcher. The broker
// chooses it; the matcher only hands it back.
type Key uint64

// Config configures a Matcher.
type Config struct {
	Zones           map[string][][2]float64 // polygons for inside(), in m; default none
	ConditionLength int                     // characters that a condition may have; default 4096
}

// Matcher holds the subscriptions and tests readings against them. Sessions
// read immutable snapshots of it and never wait; Install and Remove are for
// one goroutine at a time, Compile for any number.
type Matcher struct {
	compiler *condition.Compiler
	snapshot atomic.Pointer[snapshot]
	recent   atomic.Pointer[recent]

	// What follows belongs to the goroutine that installs.
	keys    map[Key][]*entry // by ascending id
	scopes  map[string]*scopeUse
	entries uint64   // numbers given
	free    []uint64 // numbers of programs that are in use no more
	scoped  uint64   // numbers given to scopes
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
	m := &Matcher{compiler: compiler, keys: map[Key][]*entry{}, scopes: map[string]*scopeUse{}}
	m.snapshot.Store(&snapshot{})
	m.recent.Store(&recent{})
	return m, nil
}

// Version is that of the newest snapshot. Safe for concurrent use.
func (m *Matcher) Version() uint64 { return m.snapshot.Load().version }

// Size counts what is installed. Safe for concurrent use.
func (m *Matcher) Size() (conditions int) { return m.snapshot.Load().texts.size }

// Install makes set the whole set of key, as one change: each reading is
// tested by the old set or by the new one. Subscriptions that are the same as
// before (id, specification and allowed robots) keep their policy state,
// others begin anew. It returns the version in which the change is visible.
func (m *Matcher) Install(key Key, set []*Subscription) (version uint64) {
	old := m.keys[key]
	var next, put, gone []*entry
	sorted := slices.SortedStableFunc(slices.Values(set), func(a, b *Subscription) int { return cmp.Compare(a.Spec.ID, b.Spec.ID) })
	for i, sub := range sorted {
		if i+1 < len(sorted) && sorted[i+1].Spec.ID == sub.Spec.ID {
			continue // of one id the last counts
		}
		for len(old) > 0 && old[0].sub.Spec.ID < sub.Spec.ID {
			gone, old = append(gone, old[0]), old[1:]
		}
		if len(old) > 0 && old[0].sub.Same(sub) {
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
	return m.change(put, gone)
}

// Remove takes the set of key away and returns the version in which it is gone.
func (m *Matcher) Remove(key Key) (version uint64) { return m.Install(key, nil) }

// change puts entries and takes others away, in one snapshot.
func (m *Matcher) change(put, gone []*entry) uint64 {
	if len(put)+len(gone) == 0 {
		return m.Version()
	}
	s := *m.snapshot.Load()
	s.version++
	s.ended += uint64(len(gone))
	slices.SortFunc(gone, func(a, b *entry) int { return cmp.Compare(a.number, b.number) })
	for _, e := range gone {
		m.place(&s, e, false)
		m.release(&s, e)
	}
	for _, e := range put {
		m.entries++
		e.number = m.entries
		e.program = m.intern(&s, e.sub.program, true)
		for _, sel := range e.sub.selected {
			m.intern(&s, sel.program, false)
		}
		m.place(&s, e, true)
	}
	m.snapshot.Store(&s)
	for _, e := range gone {
		e.ended.Store(true)
	}
	return s.version
}

// most is how many robot names a subscription may list and still stand under
// each of them.
const mostNames = 16

// place puts an entry where sessions find it, or takes it away.
func (m *Matcher) place(s *snapshot, e *entry, put bool) {
	robots := e.sub.Spec.Robots
	if len(robots) > 0 && len(robots) <= mostNames && !slices.ContainsFunc(robots, func(p string) bool { return !literal(p) }) {
		for i, name := range robots {
			if slices.Contains(robots[:i], name) || !matchesAny(e.sub.Allowed, name) {
				continue
			}
			b, _ := s.robot(name)
			s.setRobot(name, b.change(e, put))
		}
		return
	}
	name := strings.Join(robots, "\x00") + "\x01" + strings.Join(e.sub.Allowed, "\x00")
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
	in.bucket = in.bucket.change(e, put)
	if put {
		use.uses++
	} else if use.uses--; use.uses == 0 {
		delete(m.scopes, name)
		s.scopes = s.scopes.without(use.number)
		return
	}
	s.scopes = s.scopes.with(use.number, in)
}

// intern gives the one program of a text, and counts one more use of it.
func (m *Matcher) intern(s *snapshot, p *condition.Program, truth bool) *program {
	found := s.findText(p.Text(), truth)
	if found == nil {
		found = &program{number: s.programs, program: p, truth: truth}
		if n := len(m.free); n > 0 {
			found.number, m.free = m.free[n-1], m.free[:n-1]
		} else {
			s.programs++
		}
		h := hash(p.Text())
		list, _ := s.texts.get(h)
		s.texts = s.texts.with(h, append(slices.Clone(list), found))
	}
	found.uses++
	return found
}

// release counts one use less of an entry's programs.
func (m *Matcher) release(s *snapshot, e *entry) {
	drop := func(p *program) {
		if p.uses--; p.uses > 0 {
			return
		}
		m.free = append(m.free, p.number)
		h := hash(p.program.Text())
		list, _ := s.texts.get(h)
		list = slices.DeleteFunc(slices.Clone(list), func(o *program) bool { return o == p })
		if len(list) == 0 {
			s.texts = s.texts.without(h)
		} else {
			s.texts = s.texts.with(h, list)
		}
	}
	drop(e.program)
	for _, sel := range e.sub.selected {
		if p := s.findText(sel.program.Text(), false); p != nil {
			drop(p)
		}
	}
}
