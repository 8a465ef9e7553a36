package subscribe

import (
	"cmp"
	"slices"

	"callboard/player"
)

// A shadow session does what another matcher's session with the same robot has done:
// it tests the same readings by the same sets, and tells nobody. So its policies are
// those of the other, and it can go on in its place.

// Shadow has the session test readings from now on by a change, which may not be the
// newest, and tell nobody what matches.
func (s *Session) Shadow(by *Change) { s.by, s.mute = by, true }

// Alone ends that: readings are tested by what is installed, and matches are told.
func (s *Session) Alone() { s.by, s.mute, s.blind = nil, false, false }

// Blind has the session take readings in that it does not test.
func (s *Session) Blind() { s.blind = true }

// Policy is the state of a subscription's policy, for one robot.
type Policy struct {
	Key      Key
	ID       string
	Device   player.Addr // that tested it last
	Holds    bool        // the condition held at the last reading
	Since    float64     // s, from when on
	Risen    bool        // for the trigger "rising": it is true, and was told or is due
	Pending  bool        // for it: not told yet
	Told     bool        // for "change": a state was told
	Was      bool        // for it: which
	Notified bool        // there was a notification
	At       float64     // s, when
}

// Policies returns the states of all policies that have one, by key and id. The
// readings behind them were tested by the version that it returns, too.
func (s *Session) Policies() (all []Policy, version uint64) {
	s.begin()
	defer s.end()
	for e, st := range s.states { // sorted below
		if s.over(e) {
			continue
		}
		p := Policy{
			Key: e.key, ID: e.sub.Spec.ID, Holds: st.holds, Since: st.since, Risen: st.risen, Pending: st.pending,
			Told: st.told, Was: st.was, Notified: st.notified, At: st.at,
		}
		if st.dev != nil {
			p.Device = st.dev.Addr
		}
		all = append(all, p)
	}
	slices.SortFunc(all, func(a, b Policy) int { return cmp.Or(cmp.Compare(a.Key, b.Key), cmp.Compare(a.ID, b.ID)) })
	return all, s.snapshot.version
}

// SetPolicies puts states in the place of all that there are: a subscription without
// one has seen that its condition is false. It is for the goroutine that installs.
func (s *Session) SetPolicies(all []Policy) {
	s.begin()
	defer s.end()
	clear(s.states)
	for k := range s.watching {
		clear(s.watching[k])
		s.watching[k] = s.watching[k][:0]
	}
	for i := range all {
		p := &all[i]
		e := s.matcher.entry(p.Key, p.ID)
		if e == nil || s.over(e) {
			continue
		}
		st := &state{
			holds: p.Holds, since: p.Since, risen: p.Risen, pending: p.Pending, told: p.Told, was: p.Was,
			notified: p.Notified, at: p.At, dev: s.robot.Device(p.Device),
		}
		if st.dev == nil && st.leave(&e.sub.Spec) {
			continue // there is no reading of it to end the state with
		}
		s.states[e] = st
		if e.sub.stateful() && !st.settled(&e.sub.Spec) {
			s.watch(e, st)
		}
	}
}

// entry returns what is installed, or is to be, as a key's subscription.
func (m *Matcher) entry(k Key, id string) *entry {
	list := m.keys[k]
	at, found := slices.BinarySearchFunc(list, id, func(e *entry, id string) int { return cmp.Compare(e.sub.Spec.ID, id) })
	if !found {
		return nil
	}
	return list[at]
}

// Version is that by which the last reading was tested.
func (s *Session) Version() uint64 { return s.snapshot.version }

// Newest reports whether no later change has become visible.
func (c *Change) Newest() bool { return c.matcher.snapshot.Load() == c.snapshot }

// Version is that in which the change is visible.
func (c *Change) Version() uint64 { return c.snapshot.version }
