package overlay

import (
	"slices"

	"callboard/subscribe/protocol"
)

// takeInFrom takes the set of a key whose edge is elsewhere into the local
// registry (S7). It reports whether the key goes on.
func (b *source) takeInFrom(from BrokerID, m *SubscribeMessage) bool {
	e := b.keys[m.Key]
	ended := e != nil && e.ended // its store was lost: it gives no more numbers
	home := b.live(m.Key)        // an edge that does not know the session's key here asks for another
	forgotten := ended || e == nil && (m.Key.Stamp != b.stamp || m.Known > 0 || home != nil)
	full := e == nil && len(b.entries) >= 2*b.cfg.Clients
	unclear := !forgotten && (full || !b.brings(e, m))
	if forgotten || unclear {
		if r := b.network.routeOf(m.Key); r != nil && r.down == from {
			b.network.dropRoute(m.Key)
		}
	}
	switch {
	case forgotten:
		b.outlive(m.Key)
		if ended {
			b.giveRest(from, e, m)
		}
		next := b.stamp
		if home != nil {
			next = home.key.Stamp
		}
		b.network.tell(from, &GoneMessage{Key: m.Key, Stamp: next})
		return false
	case unclear:
		b.stats.Unclear++
		b.network.tell(from, &BrokenMessage{Key: m.Key})
		return false
	}
	if e == nil {
		e = b.newEntry(m.Key, newSet(), m.Epoch)
		e.quiet = true
		b.recordEntry(e)
		b.changeMembers(e, nil, m.Set.Put, true)
		return true
	}
	if e.inbox != nil { // the edge was here: turn hands the inbox over
		b.edge.release(e.inbox)
	}
	drop, put := e.members.diff(m.Set)
	e.epoch, e.seen = m.Epoch, b.now
	if len(drop)+len(put) > 0 {
		b.changeMembers(e, drop, put, false)
	} else { // the same as before, and all that the client has asked for up to now
		e.sets.touch(e.epoch)
		b.recordEntry(e)
	}
	return true
}

// brings reports whether the message lets the source have the set that it names.
func (b *source) brings(e *entry, m *SubscribeMessage) bool {
	switch {
	case m.Set == nil:
		return e != nil && e.members.hash == m.Hash
	case slices.ContainsFunc(m.Set.Put, func(m Member) bool { return m.Subscription == nil }):
		return false
	case m.Set.Whole:
		return len(m.Set.Put) <= b.cfg.Subscriptions
	}
	return e != nil && (e.members.hash == m.Set.From || e.members.hash == m.Hash) && len(e.members.subs)+len(m.Set.Put) <= 2*b.cfg.Subscriptions
}

// changeMembers changes the set of an entry whose edge is elsewhere.
func (b *source) changeMembers(e *entry, drop []string, put []Member, whole bool) {
	if whole {
		e.sets = nil
	}
	for _, m := range put {
		e.epoch = later(e.epoch, m.Since) // one that an edge before tells of may be newer than what has been heard
	}
	b.newSetOf(e)
	for _, id := range drop {
		if old := e.members.subs[id]; old != nil {
			b.takeSub(e.members, old)
			e.members.ends++
			b.record(&EntrySubscriptionEnded{Handle: e.handle, ID: id})
		}
	}
	var added []*sub
	for _, m := range put {
		s := b.putSub(e.members, m.Subscription, m.Subscription.Hash(), e.set)
		s.heard = e.epoch
		b.record(&EntrySubscription{Handle: e.handle, Born: s.born, Subscription: m.Subscription})
		added = append(added, s)
	}
	b.recordEntry(e)
	b.forgetStates(e, drop, added)
	b.install(e, whole, drop, added, added)
}

// installed says that the matcher tests by a set: this is the point in the
// sequence where it takes over. Its subscribed goes out before the first
// notification that it matched.
func (b *source) installed(in *Installed) {
	e := b.entries[in.Handle]
	if e == nil || in.Set > e.set {
		return
	}
	e.installed = max(e.installed, in.Set)
	e.answered++
	m := &EventMessage{Key: e.key, Set: e.epoch}
	for _, id := range sortedKeys(in.Robots) {
		if e.members.subs[id] != nil {
			m.Counts = append(m.Counts, RobotCount{ID: id, Robots: in.Robots[id]})
		}
	}
	if e.inbox != nil || len(m.Counts) > 0 {
		b.network.down(e.key, m)
	}
	b.giveEarly(e)
	if e.inbox != nil {
		b.edge.inForce(e.inbox)
	}
}

// runFailed informs a subscription's owner once that it failed while it ran.
func (b *source) runFailed(in *RunFailed) {
	b.stats.RunFailures++
	e := b.entries[in.Handle]
	if e == nil {
		return
	}
	sub := e.members.subs[in.ID]
	if sub == nil || sub.failed {
		return
	}
	code := in.Code
	if code == "" {
		code = protocol.BadCondition
	}
	message := &protocol.Error{Op: protocol.OpError, ID: in.ID, Code: code, Message: in.Message, Position: in.Position}
	b.network.down(e.key, &EventMessage{Key: e.key, Error: message})
	sub.failed = true
}
