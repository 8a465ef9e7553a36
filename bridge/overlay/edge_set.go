package overlay

import (
	"fmt"
	"slices"

	"callboard/subscribe/protocol"
)

// nextRevision counts the session's revisions: higher than the last, and than
// any that a lost store may have known.
func (b *edge) nextRevision(s *session) uint64 {
	s.epoch.Revision = max(s.epoch.Revision+1, uint64(max(b.now, 0)))
	return s.epoch.Revision
}

// addSub puts a subscription into the set, in the place of one of the same id
// that it updates.
func (b *edge) addSub(s *session, subscription *Subscription, hash Hash, revision uint64) *sub {
	known := s.subs[subscription.ID] != nil
	added := b.putSub(s.set, subscription, hash, revision)
	if !known {
		added.since = s.endedAt
	}
	delete(s.states, subscription.ID)
	if !s.anonymous {
		b.record(&SubscriptionRecord{Client: s.client, Born: added.born, Subscription: subscription})
	}
	return added
}

// endSub takes a subscription out of the set for good.
func (b *edge) endSub(s *session, old *sub) {
	b.takeSub(s.set, old)
	delete(s.states, old.ID)
	s.endedAt = s.epoch
	s.ends++
	s.pending = slices.DeleteFunc(s.pending, func(p pending) bool { return p.id == old.ID })
	if !s.anonymous {
		b.record(&SubscriptionEnded{Client: s.client, ID: old.ID})
	}
}

func (b *edge) subscribe(in *Subscribe) {
	id := in.Subscription.ID
	s := b.attached(in.Conn, id)
	if s == nil {
		return
	}
	if wrong := checkID("id", id); wrong != "" {
		b.fail(in.Conn, id, protocol.BadMessage, "%s", wrong)
		return
	}
	if s.subs[id] != nil {
		b.fail(in.Conn, id, protocol.Conflict, "the id %q is in use; unsubscribe it first, or update it", clip(id))
		return
	}
	if len(s.subs) >= b.cfg.Subscriptions {
		b.fail(in.Conn, id, protocol.Overloaded, "the client has %d subscriptions, which is the limit", len(s.subs))
		return
	}
	if b.busy(s, in.Conn, id) {
		return
	}
	if b.refused(s, in.Conn, in.Subscription, nil) {
		return
	}
	before := s.hash
	added := b.addSub(s, in.Subscription, in.Subscription.Hash(), b.nextRevision(s))
	b.changeSet(s, before, nil, []*sub{added}, []*sub{added}, false)
}

// refused refuses a subscription for which the limits leave no room. It comes
// in place of an old one, if that is not nil.
func (b *edge) refused(s *session, c Conn, sub *Subscription, old *sub) bool {
	var more usage
	more.count(sub, 1)
	if old != nil {
		more.count(old.Subscription, -1)
	}
	refusal := b.setFits(s.bytes + int(more.texts))
	if refusal == nil {
		refusal = b.hasRoomFor(more)
	}
	if refusal == nil {
		return false
	}
	b.fail(c, sub.ID, refusal.Code, "%s", refusal.Message)
	return true
}

// busy refuses a change while more than a set's worth of them waits for the matcher.
func (b *edge) busy(s *session, c Conn, id string) bool {
	if len(s.pending) < b.cfg.Subscriptions+1000 {
		return false
	}
	b.fail(c, id, protocol.Overloaded, "%d changes of the client's subscriptions wait to be answered, which is the limit", len(s.pending))
	return true
}

func (b *edge) update(in *Update) {
	id := in.Subscription.ID
	s := b.attached(in.Conn, id)
	if s == nil {
		return
	}
	old := s.subs[id]
	if old == nil {
		b.fail(in.Conn, id, protocol.NotFound, "there is no subscription %q to update", clip(id))
		return
	}
	if b.busy(s, in.Conn, id) {
		return
	}
	hash := in.Subscription.Hash()
	if hash == old.hash {
		b.changeSet(s, s.hash, nil, nil, []*sub{old}, false)
		return
	}
	if b.refused(s, in.Conn, in.Subscription, old) {
		return
	}
	before := s.hash
	added := b.addSub(s, in.Subscription, hash, b.nextRevision(s))
	b.changeSet(s, before, nil, []*sub{added}, []*sub{added}, false)
}

func (b *edge) unsubscribe(in *Unsubscribe) {
	s := b.attached(in.Conn, in.ID)
	if s == nil {
		return
	}
	reply := &protocol.Reply{Op: protocol.OpReply, ID: in.ID, OK: true}
	if old := s.subs[in.ID]; old == nil {
		reply.OK, reply.Error = false, &protocol.ErrorInfo{Code: protocol.NotFound, Message: "there is no subscription \"" + clip(in.ID) + "\""}
	} else {
		b.settleEnding(s, in.ID)
		before := s.hash
		b.nextRevision(s)
		b.recordSession(s)
		b.endSub(s, old)
		b.unfollow(s)
		b.changeSet(s, before, []string{in.ID}, nil, nil, false)
	}
	b.send(in.Conn, reply)
}

// changeSet brings a change of a session's set to the source brokers (S3, S7)
// and sees that subscribed follows for those to be told. What hello changes
// has gone to those elsewhere.
func (b *edge) changeSet(s *session, before Hash, drop []string, put, tell []*sub, hello bool) {
	away := b.networked && b.registry.away()
	for _, sub := range tell {
		p := pending{id: sub.ID, hello: hello, fresh: !hello && s.selectors.Get(sub.selector) == 1, since: b.now}
		p.away, p.lookup, p.counts = away, b.networked && !away && !hello && s.hash != before, !hello
		s.pending = append(s.pending, p)
	}
	if s.local == nil && slices.ContainsFunc(put, b.source.canMatch) { // of the others it is known that none can
		b.enter(s, tell)
	} else if s.local != nil {
		b.change(s, drop, put, tell)
	}
	if s.local != nil {
		for i := range s.pending[len(s.pending)-len(tell):] {
			s.pending[len(s.pending)-len(tell)+i].ask = s.local.asked
		}
	}
	if !hello && s.hash != before {
		b.changeElsewhere(s, before, drop, put)
	}
	if s.local == nil || b.networked {
		b.settlePending(s)
	}
}

// changeElsewhere brings a change of the set to the other source brokers that
// the session has keys to, and asks the registry for more.
func (b *edge) changeElsewhere(s *session, before Hash, drop []string, put []*sub) {
	var c *SetChange
	var missing *Missing
	if slices.ContainsFunc(put, func(sub *sub) bool { return sub.since != Epoch{} }) {
		missing = &Missing{} // as in beginFar: an older edge may have brought an equal set
	}
	for _, in := range slices.Clone(s.inboxes) {
		if in.far != nil && !in.ended {
			if c == nil {
				c = change(before, drop, put)
			}
			b.subscribeFar(s, in.key, in.buf.num, before, c, missing)
		}
	}
	b.lookUp(s)
}

// settlePending tells of the subscriptions that are in force now. The client
// is ready for notifications when all that its hello listed are.
func (b *edge) settlePending(s *session) {
	rest := s.pending[:0]
	waits := false
	for _, p := range s.pending {
		if s.local != nil && p.ask > s.local.answered || p.lookup || p.counts && s.uncounted(p.id) {
			rest = append(rest, p)
			waits = waits || p.hello
			continue
		}
		b.tellSubscribed(s, p)
	}
	clear(s.pending[len(rest):])
	s.pending = rest
	if s.conn != nil && !s.conn.ready && s.conn.welcomed && !waits {
		b.becomeReady(s)
	}
}

// settleEnding answers those who wait for a subscription that ends now: each
// subscribe and update has its subscribed, before the reply to what ends it.
func (b *edge) settleEnding(s *session, id string) {
	for _, p := range s.pending {
		if p.id == id {
			p.fresh = false // what its robots do is not wanted any more
			b.tellSubscribed(s, p)
		}
	}
}

// uncounted reports whether another source broker has yet to tell how many of
// its robots match.
func (s *session) uncounted(id string) bool {
	sub := s.subs[id]
	return sub != nil && slices.ContainsFunc(s.inboxes, func(in *inbox) bool {
		return in.far != nil && !slices.ContainsFunc(sub.counted, func(c sourceCount) bool { return c.source == in.key.Source })
	})
}

// settleLate tells of those that have waited for others for a period.
func (b *edge) settleLate(s *session) {
	late := false
	for i := range s.pending {
		p := &s.pending[i]
		if (p.lookup || p.counts) && p.since+Instant(b.cfg.Heartbeat) <= b.now {
			p.away = p.away || p.lookup
			p.lookup, p.counts = false, false
			late = true
		}
	}
	if late {
		b.settlePending(s)
	}
}

// tellSubscribed says that a subscription is in force.
func (b *edge) tellSubscribed(s *session, p pending) {
	sub := s.subs[p.id]
	if sub == nil || s.conn == nil {
		return
	}
	message := &protocol.Subscribed{Op: protocol.OpSubscribed, ID: sub.ID, Sources: []string{}, Robots: sub.robots()}
	for _, in := range s.inboxes {
		if !in.ended {
			message.Sources = append(message.Sources, in.word)
		}
	}
	if p.away && !p.hello { // G3
		message.Sources = []string{}
		message.Warning = "the registry is out of reach: robots of other brokers are found when it is back"
	} else if source := s.unaware(sub); source != "" && !p.hello {
		message.Warning = fmt.Sprintf("%s has not heard of it yet: if this broker ends before it has, its state there is told only when it changes", source)
	} else if (p.missing || !b.networked) && !b.source.canMatch(sub) {
		message.Warning = "nobody has registered a robot that this can match"
	}
	b.send(s.conn.id, message)
	if p.fresh {
		b.tellRosters(s, func(BrokerID) uint64 { return 0 })
	}
}

// inForce says that the set of a key here is what readings are tested by.
func (b *edge) inForce(in *inbox) { b.settleStates(in.session) }

// becomeReady lets notifications go: all that hello listed has had its subscribed.
func (b *edge) becomeReady(s *session) {
	s.conn.ready = true
	b.tellRosters(s, func(id BrokerID) uint64 { return s.upTo.Get(id) })
	if s.anySub(func(sub *sub) bool { return sub.untold != nil }) {
		for _, sub := range s.sorted() {
			if sub.untold != nil {
				b.send(s.conn.id, sub.untold)
				sub.untold = nil
			}
		}
	}
	for _, in := range slices.Clone(s.inboxes) { // one that has ended may go
		b.pump(in)
	}
}

// tellFailed tells a subscription's owner that it failed, once.
func (b *edge) tellFailed(s *session, sub *sub, message *protocol.Error) {
	if sub.failed {
		return
	}
	sub.failed = true
	if s.conn != nil && s.conn.ready {
		b.send(s.conn.id, message)
	} else {
		sub.untold = message
	}
}
