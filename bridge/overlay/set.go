package overlay

import (
	"cmp"
	"maps"
	"slices"

	"callboard/bridge/few"
	"callboard/subscribe/protocol"
)

// set is all subscriptions of a client: of its session at the edge, and of its
// key at a source broker. Where both are here they share one.
type set struct {
	subs      map[string]*sub
	hash      Hash // of the set
	bytes     int  // of its texts
	selectors few.Map[*selector, int]
	latest    int    // subscriptions that keep the latest only
	ends      uint64 // how many subscriptions have ended: names in items are looked through again
}

// whole returns a set as a message carries it.
func (s *set) whole() *SetChange {
	c := &SetChange{Whole: true}
	for _, sub := range s.sorted() {
		c.Put = append(c.Put, sub.member())
	}
	return c
}

// member returns what a message says of a subscription.
func (s *sub) member() Member { return Member{s.Subscription, s.began()} }

// began returns since when the client of a subscription that is told at first what
// holds is to be told it; zero if no other one may have had its id, and of others.
func (s *sub) began() Epoch {
	if s.Trigger != protocol.TriggerChange && s.Trigger != protocol.TriggerRising {
		return Epoch{}
	}
	return s.since
}

// robots returns how many match, as far as they have been counted.
func (s *sub) robots() (n int) {
	for _, c := range s.counted {
		n += c.robots
	}
	return n
}

func (s *sub) count(source BrokerID, robots int) {
	for i := range s.counted {
		if s.counted[i].source == source {
			s.counted[i].robots = robots
			return
		}
	}
	s.counted = append(s.counted, sourceCount{source, robots})
}

// selects reports whether a subscription of the set selects the robot of the
// present event.
func (s *set) selects(r *selectors, robot string) bool {
	for sel := range s.selectors.Keys() { // one is enough, whichever
		if r.ask(sel, robot) {
			return true
		}
	}
	return false
}

// diff returns what a message changes in a set. What is alike and has begun after this
// source broker has heard of it is another one.
func (s *set) diff(c *SetChange) (drop []string, put []Member) {
	if c == nil {
		return nil, nil
	}
	stays := make(map[string]bool, len(c.Put))
	for _, m := range c.Put {
		id := m.Subscription.ID
		stays[id] = true
		old := s.subs[id]
		switch {
		case old == nil || old.hash != m.Subscription.Hash():
			put = append(put, m)
		case m.Since.Compare(old.heard) > 0:
			drop, put = append(drop, id), append(put, m)
		}
	}
	if c.Whole {
		for _, old := range s.sorted() {
			if !stays[old.ID] {
				drop = append(drop, old.ID)
			}
		}
		return drop, put
	}
	for _, id := range c.Drop {
		if s.subs[id] != nil {
			drop = append(drop, id)
		}
	}
	return drop, put
}

func newSet() *set { return &set{subs: map[string]*sub{}} }

// sub is a subscription F in a session's set.
type sub struct {
	*Subscription
	born     uint64 // revision of its subscribe, as the source broker here counts: the same id may have named another one before
	begun    uint64 // the same as this edge counts: towards what has come of other brokers
	since    Epoch  // the same towards readings of other brokers: older sets may have had another of its id
	heard    Epoch  // at a source broker: of the set with which it came
	hash     Hash
	selector *selector
	counted  []sourceCount   // robots that matched when they were last counted
	lookedUp bool            // the directory of robots here was searched for it
	failed   bool            // its condition failed while it ran
	untold   *protocol.Error // and the client was away
}

// sourceCount is how many robots of a source broker match.
type sourceCount struct {
	source BrokerID
	robots int
}

// liveThere leaves out of what another broker names what has ended since, or
// was not in the set by which it was tested.
func (s *set) liveThere(names []protocol.Matched, at Epoch) []protocol.Matched {
	live := func(id string) bool {
		sub := s.subs[id]
		return sub != nil && (at == Epoch{} || sub.since.Compare(at) <= 0)
	}
	for i := range names {
		if live(names[i].ID) {
			continue
		}
		var kept []protocol.Matched
		for j := range names {
			if live(names[j].ID) {
				kept = append(kept, names[j])
			}
		}
		return kept
	}
	return names
}

func (s *set) anySub(f func(*sub) bool) bool {
	for _, sub := range s.subs { // one is enough, whichever
		if f(sub) {
			return true
		}
	}
	return false
}

// sorted returns the set by id.
func (s *set) sorted() []*sub {
	return slices.SortedFunc(maps.Values(s.subs), func(a, b *sub) int { return cmp.Compare(a.ID, b.ID) })
}

// wants reports whether a subscription selects the robot.
func (s *set) wants(name string) bool {
	for sel := range s.selectors.Keys() { // one is enough, whichever
		if sel.matches(name) {
			return true
		}
	}
	return false
}

func (b *step) putSub(s *set, subscription *Subscription, hash Hash, revision uint64) *sub {
	added := &sub{Subscription: subscription, born: revision, begun: revision, hash: hash, selector: b.selectors.acquire(subscription)}
	if old := s.subs[added.ID]; old != nil {
		added.born, added.begun, added.since = old.born, old.begun, old.since
		b.takeSub(s, old)
	}
	s.subs[added.ID] = added
	s.hash = s.hash.add(hash)
	s.bytes += subscription.size()
	b.usage.count(subscription, 1)
	s.selectors.Put(added.selector, s.selectors.Get(added.selector)+1)
	if added.latest() {
		s.latest++
	}
	return added
}

// freeSet lets go of a set.
func (b *step) freeSet(s *set) {
	for _, sub := range s.subs { // order decides nothing: they are counted only
		b.selectors.giveBack(sub.selector)
		b.usage.count(sub.Subscription, -1)
	}
}

// change returns how a set differs from the one that a hash names; nil if it
// does not.
func change(from Hash, drop []string, put []*sub) *SetChange {
	if len(drop)+len(put) == 0 {
		return nil
	}
	c := &SetChange{From: from, Drop: drop}
	for _, sub := range put {
		c.Put = append(c.Put, sub.member())
	}
	return c
}

func (b *step) takeSub(s *set, old *sub) {
	delete(s.subs, old.ID)
	s.hash = s.hash.sub(old.hash)
	s.bytes -= old.size()
	b.usage.count(old.Subscription, -1)
	if n := s.selectors.Get(old.selector); n > 1 {
		s.selectors.Put(old.selector, n-1)
	} else {
		s.selectors.Delete(old.selector)
	}
	b.selectors.giveBack(old.selector)
	if old.latest() {
		s.latest--
	}
}
