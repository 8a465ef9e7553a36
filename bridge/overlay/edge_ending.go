package overlay

import "slices"

// unsubscribed ends a key that a neighbour has ended.
func (b *edge) unsubscribed(k Key) {
	if in := b.inboxOf(k); in != nil {
		b.dropKey(in)
	}
}

// endFar ends the sequence of a key whose source has forgotten it: the client
// gets what is left of it, is told that it has ended, and another begins, the
// same at all edges since its stamp comes from the source. Stamp 0: the client
// has ended it itself.
func (b *edge) endFar(in *inbox, stamp Stamp) {
	s := in.session
	if stamp == 0 || s.elsewhere != 0 {
		b.dropKey(in)
		return
	}
	b.endHere(in)
	in.next = stamp
	b.nextRevision(s)
	b.recordSession(s)
	b.follow(in)
	b.pump(in)
}

// follow begins the key that follows one that has ended, unless there is one, or
// that has ended too.
func (b *edge) follow(in *inbox) {
	next := in.key
	next.Stamp = in.next
	if in.next == 0 || in.session.follower(next.Source) != nil || in.session.hasEnded(next) || b.network.isDead(next) {
		return
	}
	b.beginFar(in.session, next)
}

// hasEnded reports whether something is left here of a key that has ended.
func (s *session) hasEnded(k Key) bool {
	return slices.ContainsFunc(s.inboxes, func(in *inbox) bool { return in.ended && in.key == k })
}

// endHere makes an inbox one that nothing comes to any more.
func (b *edge) endHere(in *inbox) {
	b.dropFar(in)
	b.network.dropRoute(in.key)
	in.ended, in.far, in.handle = true, nil, 0
}

// attachedElsewhere is L4: the client's connection here is closed, and its
// other keys have one lease to be fetched.
func (b *edge) attachedElsewhere(s *session, epoch Epoch) {
	if s.elsewhere == 0 {
		s.elsewhere = max(b.now, 1)
	}
	if s.conn != nil {
		b.conflict(s, epoch.Attachment)
	}
	if epoch.Attachment > s.newest {
		s.newest, s.newestEdge = epoch.Attachment, epoch.Edge
		b.handTold(s)
	}
}

// hasMoved reports whether a key's client has attached elsewhere since, which is L4.
func (b *edge) hasMoved(in *inbox, epoch Epoch) bool {
	if in.session.epoch.Compare(epoch) >= 0 {
		return false
	}
	b.attachedElsewhere(in.session, epoch)
	return true
}

// forgetElsewhere forgets a client that is attached elsewhere: what the source
// broker here retains for it stays.
func (b *edge) forgetElsewhere(s *session) {
	for _, in := range slices.Clone(s.inboxes) {
		if in.own && !in.ended {
			if r := b.network.routeOf(in.key); r != nil && b.local(r) {
				b.network.dropRoute(in.key)
			}
			b.release(in)
			continue
		}
		b.dropKey(in)
	}
	b.dropSession(s)
}

// setOf returns the set of a key's session here, and the highest number that is known;
// nil without one.
func (b *edge) setOf(k Key) (*SetChange, uint64) {
	if in := b.inboxOf(k); in != nil {
		return in.members.whole(), in.known()
	}
	return nil, 0
}

// handOver takes the inbox of a key away, whose client has attached elsewhere,
// and returns what comes after num. What the source broker retains it keeps.
func (b *edge) handOver(k Key, epoch Epoch, num uint64) []Item {
	if s := b.sessionOf(k); s != nil && s.epoch.Compare(epoch) < 0 {
		b.attachedElsewhere(s, epoch)
	}
	in := b.inboxOf(k)
	if in != nil && in.own {
		b.release(in)
	}
	if q := b.source.retained(k); q != nil {
		return b.source.handOver(q, num)
	}
	if in == nil {
		return nil
	}
	items := b.itemsOf(in.sequence, num+1, in.buf.last)
	for _, h := range in.far.held {
		if h.Kind == ItemNotification {
			if h.Names = in.members.liveThere(h.Names, h.Set); len(h.Names) == 0 {
				h.Kind, h.Reading = ItemPassed, nil
			}
		}
		if h.To > num {
			items = append(items, h)
		}
	}
	b.dropInbox(in)
	return items
}
