package overlaytest

import (
	"slices"
	"strings"

	"callboard/bridge/overlay"
	"callboard/subscribe/protocol"
)

// test tests a reading by a subscription: one to changes is told its state at
// first and when it changes.
func (s *testedSet) test(sub *overlay.Subscription, reading int) (named protocol.Matched, matches bool) {
	holds := reading%len(sub.Condition) == 0
	if sub.Trigger != protocol.TriggerChange {
		return protocol.Matched{ID: sub.ID}, holds
	}
	if was, told := s.states[sub.ID]; told && was == holds {
		return named, false
	}
	s.states[sub.ID] = holds
	state := holds
	return protocol.Matched{ID: sub.ID, State: &state}, true
}

// ends reports whether a subscription was told last that it is true: that ends
// with the robot's session.
func (s *testedSet) ends(sub *overlay.Subscription, _ int) (named protocol.Matched, was bool) {
	if !s.states[sub.ID] {
		return named, false
	}
	s.states[sub.ID] = false
	return protocol.Matched{ID: sub.ID, State: new(bool)}, true
}

// leave is what a robot's session tells as it ends: states that were true are
// false. If its broker stands still, that comes with what waits.
func (c *cluster) leave(i int) {
	if c.appeared[i] {
		c.reading++
		c.match(i, (*testedSet).ends)
	}
}

// changes are the states that a client's subscriptions to changes were told, by
// subscription and robot.
type changes struct {
	states map[[2]string]bool
	from   map[[2]string]string // source words
	begun  map[string]int       // how often each has begun: what is under way may be of the one before
	anew   map[string]bool      // those that began by a subscribe: they are to be told their state
	at     map[string][]int     // the edges that have not confirmed so yet: should one crash, they need not be told
	lost   bool                 // something was given up: what was told is not known
}

// begin forgets the states of a subscription that ends or begins anew.
func (s *changes) begin(id string) {
	if s.begun == nil {
		s.begun, s.anew, s.at = map[string]int{}, map[string]bool{}, map[string][]int{}
	}
	s.begun[id]++
	s.anew[id] = false
	delete(s.at, id)
	for k := range s.states { // each by itself: order decides nothing
		if k[0] == id {
			delete(s.states, k)
		}
	}
}

// confirmed takes a subscribed, which says so: all source brokers have heard of it. If
// one has not, or there is no answer, its beginning may be lost with the edge.
func (s *changes) confirmed(m *protocol.Subscribed) {
	if m.Warning == "" || strings.HasPrefix(m.Warning, "nobody") {
		delete(s.at, m.ID)
	}
}

// edgeCrashed takes note that an edge has ended with what it had not handed over.
func (p *client) edgeCrashed(x int) {
	for id, at := range p.changes.at { // each by itself: order decides nothing
		if slices.Contains(at, x) {
			p.changes.anew[id] = false
			p.c.marks["begun in vain"]++
		}
	}
}

// toldChange takes what a client is told of changes: true and false take turns.
func (p *client) toldChange(m *overlay.Notify) {
	for _, n := range m.Subscriptions {
		if n.State == nil || p.changes.lost || !p.c.changesHold {
			continue
		}
		if p.changes.states == nil {
			p.changes.states, p.changes.from = map[[2]string]bool{}, map[[2]string]string{}
		}
		k := [2]string{n.ID, m.Reading.Robot}
		// False may come twice of a robot whose broker was out of reach: of the edge in
		// its place, and of the broker. True may, if the edge that told has died.
		twice := *n.State || p.changes.from[k] == m.Source
		if was, told := p.changes.states[k]; told && was == *n.State && twice && p.changes.begun[n.ID] == 1 && (!was || p.c.stats().Doubted == 0) {
			failf("%s is told twice that %s of %s is %v, now as %s #%d", p.name, n.ID, m.Reading.Robot, was, m.Source, m.Seq)
		}
		p.changes.states[k], p.changes.from[k] = *n.State, m.Source
		p.c.marks["changes"]++
	}
}

// changed returns what is wrong with the states that a client was told last; "" if
// nothing. In the end all robots are up and have given readings.
func (p *client) changed() string {
	if p.changes.lost || !p.c.changesHold {
		return ""
	}
	for i, reading := range p.c.last {
		for _, id := range sortedKeys(p.subs) {
			state, told := p.changes.states[[2]string{id, robotName(i)}]
			if p.subs[id].sub.Trigger != protocol.TriggerChange { // what was told is of one before with this id
				continue
			}
			if !told && p.changes.anew[id] {
				return id + " of " + robotName(i) + " was told no state since it began"
			}
			if told && state != (reading%len(p.subs[id].sub.Condition) == 0) {
				return id + " of " + robotName(i) + " was told otherwise last"
			}
		}
	}
	return ""
}
