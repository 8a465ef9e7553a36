package overlay

import "slices"

// A key whose source is here, too, has one sequence, which the source lends to the
// session's inbox, and one set, which is the session's. What an edge says to its
// source is what it would tell another: subscribe (enter, adopt), refresh,
// unsubscribe, and what a fetch hands over (release).

// enter subscribes a session at the source here (S7), with the whole set; the
// matcher is asked how many robots match those of tell.
func (b *edge) enter(s *session, tell []*sub) {
	key := Key{Client: s.client, Session: s.birth, Source: b.cfg.ID, Stamp: b.source.present()}
	if b.network.isDead(key) { // its session ended, and is said again
		key.Stamp = b.source.outlive(key)
	}
	if q, epoch := b.source.home(key); q != nil {
		switch {
		case q.inbox != nil:
		case epoch.Compare(s.epoch) < 0:
			b.adopt(q, s, 0, tell)
		default: // S1
			b.attachedElsewhere(s, epoch)
		}
		return
	}
	in := &inbox{session: s}
	b.source.subscribe(in, key, s.epoch, s.set, s.anonymous, tell)
	s.local = in
	b.addInbox(s, in)
	b.network.begin(key, s.epoch, 0, s.hash)
}

// change brings a change of the set to the source here.
func (b *edge) change(s *session, drop []string, put, tell []*sub) {
	b.network.begin(s.local.key, s.epoch, s.local.buf.num, s.hash)
	b.source.update(s.local.sequence, s.epoch, drop, put, tell)
}

// beginAgain has a subscription begin anew of which the source here has learned that
// it has ended and begun again where the client was before.
func (b *edge) beginAgain(in *inbox, old *sub) {
	s := in.session
	b.rebirth(s, old, b.nextRevision(s)) // which is stored with it
	s.ends++
	b.change(s, []string{old.ID}, []*sub{old}, nil)
}

// adopt takes a key home whose client has attached here (S5, or S4 after a crash):
// what the source retains becomes its inbox.
func (b *edge) adopt(q *sequence, s *session, num uint64, tell []*sub) {
	drop, put := b.takeBirths(s, q.members, b.source.revision(q))
	in := &inbox{session: s}
	b.source.takeHome(q, in, s.set, s.anonymous)
	s.local = in
	b.addInbox(s, in)
	b.acknowledge(in, num)
	in.told, in.resumed = q.buf.num, q.buf.num
	b.change(s, drop, put, tell)
}

// takeBirths takes from the set by which the source has tested last when the
// subscriptions of a session began. It returns what has changed in it since.
func (b *edge) takeBirths(s *session, old *set, revision uint64) (drop []string, put []*sub) {
	for _, now := range s.sorted() {
		before := old.subs[now.ID]
		if before != nil {
			b.rebirth(s, now, before.born)
			now.heard = before.heard
			now.failed = now.failed || before.failed && before.hash == now.hash
		}
		if before == nil || before.hash != now.hash {
			put = append(put, now)
		}
	}
	for _, before := range old.sorted() {
		if s.subs[before.ID] == nil {
			drop = append(drop, before.ID)
		}
	}
	s.ends = max(s.ends, old.ends) + 1
	s.epoch.Revision = max(s.epoch.Revision, revision+1)
	for _, now := range put {
		if old.subs[now.ID] == nil {
			b.rebirth(s, now, s.epoch.Revision)
		}
	}
	return drop, put
}

// rebirth corrects when a subscription began, as the source broker here counts.
func (b *edge) rebirth(s *session, sub *sub, born uint64) {
	if sub.born == born {
		return
	}
	sub.born = born
	if !s.anonymous {
		b.record(&SubscriptionRecord{Client: s.client, Born: born, Subscription: sub.Subscription})
	}
}

// release leaves a key to the source here: the client's edge is elsewhere from now
// on. The set stays with the key, and the session gets a copy.
func (b *edge) release(in *inbox) {
	s := in.session
	copied := newSet()
	for _, old := range s.sorted() {
		put := b.putSub(copied, old.Subscription, old.hash, old.born)
		put.begun, put.since, put.heard = old.begun, old.since, old.heard
	}
	for _, other := range s.inboxes {
		if other != in {
			other.members = copied
		}
	}
	copied.ends = s.ends + 1
	if at := slices.Index(s.inboxes, in); at >= 0 {
		s.inboxes = slices.Delete(s.inboxes, at, at+1)
	}
	s.set, s.local = copied, nil
	b.source.retain(in.sequence)
}

// endLocal ends a key whose source here has forgotten it: what is left of it is
// delivered, and another follows.
func (b *edge) endLocal(in *inbox) {
	s := in.session
	b.network.dropRoute(in.key)
	s.local = nil
	b.enter(s, nil)
	if s.local != nil {
		for i := range s.pending { // what they wait for is in what the new key is installed with
			s.pending[i].ask = s.local.asked
		}
	}
	b.pump(in)
}

// appeared enters those clients here into the local registry that a robot of this
// broker can match, and that have no key there yet.
func (b *edge) appeared(r *robot) {
	for _, s := range b.order {
		if s.local == nil && s.elsewhere == 0 && s.selects(&b.selectors, r.name) && s.anySub(r.canMatch) {
			b.enter(s, nil)
		}
	}
}
