package overlay

import (
	"slices"

	"callboard/subscribe/protocol"
)

// nextRevision counts the session's revisions: higher than the last, and than
// any that a lost store may have known.
func (b *Broker) nextRevision(s *session) uint64 {
	s.epoch.Revision = max(s.epoch.Revision+1, uint64(max(b.now, 0)))
	return s.epoch.Revision
}

// addSub puts a subscription into the set, in the place of one of the same id
// that it updates.
func (b *Broker) addSub(s *session, subscription *Subscription, hash Hash, revision uint64) *sub {
	added := &sub{Subscription: subscription, born: revision, hash: hash, selector: b.registry.acquire(subscription)}
	if old := s.subs[added.ID]; old != nil {
		added.born = old.born
		b.takeSub(s, old)
	}
	s.subs[added.ID] = added
	s.hash = s.hash.add(hash)
	s.selectors[added.selector]++
	if added.latest() {
		s.latest++
	}
	if !s.anonymous {
		b.record(&SubscriptionRecord{Client: s.client, Born: added.born, Subscription: subscription})
	}
	return added
}

func (b *Broker) takeSub(s *session, old *sub) {
	delete(s.subs, old.ID)
	s.hash = s.hash.sub(old.hash)
	if s.selectors[old.selector]--; s.selectors[old.selector] == 0 {
		delete(s.selectors, old.selector)
	}
	b.registry.giveBack(old.selector)
	if old.latest() {
		s.latest--
	}
}

// endSub takes a subscription out of the set for good.
func (b *Broker) endSub(s *session, old *sub) {
	b.takeSub(s, old)
	s.ends++
	s.pending = slices.DeleteFunc(s.pending, func(p pending) bool { return p.id == old.ID })
	if !s.anonymous {
		b.record(&SubscriptionEnded{Client: s.client, ID: old.ID})
	}
}

func (b *Broker) subscribe(in *Subscribe) {
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
	added := b.addSub(s, in.Subscription, in.Subscription.Hash(), b.nextRevision(s))
	b.changeSet(s, nil, []*sub{added}, []*sub{added}, false)
}

// busy refuses a change while more than a set's worth of them waits for the matcher.
func (b *Broker) busy(s *session, c Conn, id string) bool {
	if len(s.pending) < b.cfg.Subscriptions+1000 {
		return false
	}
	b.fail(c, id, protocol.Overloaded, "%d changes of the client's subscriptions wait to be answered, which is the limit", len(s.pending))
	return true
}

func (b *Broker) update(in *Update) {
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
		b.changeSet(s, nil, nil, []*sub{old}, false)
		return
	}
	added := b.addSub(s, in.Subscription, hash, b.nextRevision(s))
	b.changeSet(s, nil, []*sub{added}, []*sub{added}, false)
}

func (b *Broker) unsubscribe(in *Unsubscribe) {
	s := b.attached(in.Conn, in.ID)
	if s == nil {
		return
	}
	reply := &protocol.Reply{Op: protocol.OpReply, ID: in.ID, OK: true}
	if old := s.subs[in.ID]; old == nil {
		reply.OK, reply.Error = false, &protocol.ErrorInfo{Code: protocol.NotFound, Message: "there is no subscription \"" + clip(in.ID) + "\""}
	} else {
		b.nextRevision(s)
		b.endSub(s, old)
		b.changeSet(s, []string{in.ID}, nil, nil, false)
	}
	b.send(in.Conn, reply)
}

// changeSet brings a change of a session's set to the source brokers (S3, S7)
// and sees that subscribed follows for those to be told.
func (b *Broker) changeSet(s *session, drop []string, put, tell []*sub, hello bool) {
	for _, sub := range tell {
		p := pending{id: sub.ID, born: sub.born, hello: hello, fresh: !hello && s.selectors[sub.selector] == 1}
		s.pending = append(s.pending, p)
	}
	if s.local == nil && slices.ContainsFunc(put, b.registry.anyCanMatch) { // of the others it is known that none can
		b.enter(s, tell)
	} else if s.local != nil {
		b.takeIn(s.local, drop, put, tell)
	}
	if s.local == nil {
		b.subscribedNow(s)
		return
	}
	for i := range s.pending[len(s.pending)-len(tell):] {
		s.pending[len(s.pending)-len(tell)+i].ask = s.local.asked
	}
}

// subscribedNow answers what waits for no matcher.
func (b *Broker) subscribedNow(s *session) {
	for _, p := range s.pending {
		b.tellSubscribed(s, p)
	}
	s.pending = nil
}

// tellSubscribed says that a subscription is in force.
func (b *Broker) tellSubscribed(s *session, p pending) {
	sub := s.subs[p.id]
	if sub == nil || sub.born != p.born || s.conn == nil {
		return
	}
	message := &protocol.Subscribed{Op: protocol.OpSubscribed, ID: sub.ID, Sources: []string{}, Robots: sub.robots}
	for _, in := range s.inboxes {
		if !in.ended {
			message.Sources = append(message.Sources, in.word)
		}
	}
	if !b.registry.anyCanMatch(sub) {
		message.Warning = "nobody has registered a robot that this can match"
	}
	b.send(s.conn.id, message)
	if p.fresh {
		b.tellRobots(s, sub.selector.matches, never)
	}
}

// installed says that the matcher tests by a set: this is the point in the
// sequence where it takes over. Its subscribed goes out before the first
// notification that it matched.
func (b *Broker) installed(in *Installed) {
	e := b.entries[in.Handle]
	if e == nil || in.Set > e.set {
		return
	}
	e.installed = max(e.installed, in.Set)
	e.answered++
	s := e.session
	rest := s.pending[:0]
	waits := false
	for _, p := range s.pending {
		if p.ask > e.answered {
			rest = append(rest, p)
			waits = waits || p.hello
			continue
		}
		if sub := s.subs[p.id]; sub != nil {
			sub.robots = in.Robots[p.id]
		}
		b.tellSubscribed(s, p)
	}
	s.pending = rest
	if s.conn != nil && !s.conn.ready && !waits {
		b.becomeReady(s)
	}
	b.giveEarly(e)
}

// becomeReady lets notifications go: all that hello listed has had its subscribed.
func (b *Broker) becomeReady(s *session) {
	s.conn.ready = true
	b.tellRobots(s, s.wants, s.conn.since)
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

// runFailed tells a subscription's owner once that it failed while it ran.
func (b *Broker) runFailed(in *RunFailed) {
	b.stats.RunFailures++
	e := b.entries[in.Handle]
	if e == nil {
		return
	}
	sub := e.session.subs[in.ID]
	if sub == nil || sub.failed {
		return
	}
	sub.failed = true
	code := in.Code
	if code == "" {
		code = protocol.BadCondition
	}
	message := &protocol.Error{Op: protocol.OpError, ID: in.ID, Code: code, Message: in.Message, Position: in.Position}
	if c := e.session.conn; c != nil && c.ready {
		b.send(c.id, message)
	} else {
		sub.untold = message
	}
}
