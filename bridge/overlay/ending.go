package overlay

import "slices"

// isDead tells whether a tombstone of the key stands here (U3).
func (b *network) isDead(k Key) bool {
	_, dead := b.dead[k]
	return dead
}

// unsubscribeKey ends a key for good, whatever its epoch: U1, U2. The sender
// is a neighbour, or this broker for a client here.
func (b *network) unsubscribeKey(from BrokerID, k Key, path []BrokerID) {
	if b.isDead(k) {
		return
	}
	b.dead[k] = b.lease()
	r := b.routes[k]
	delete(b.routes, k)
	if r != nil && r.down != from && !b.local(r) { // U2: a roam is under way
		b.tell(r.down, &GoneMessage{Key: k})
	}
	b.edge.unsubscribed(k)
	if q := b.source.retained(k); q != nil {
		b.source.unsubscribe(q)
	}
	if r != nil && r.up != "" {
		path = r.rest
	} else if at := slices.Index(path, b.cfg.ID); at >= 0 {
		path = path[at:]
	} else {
		path = nil
	}
	if k.Source != b.cfg.ID && len(path) > 1 {
		b.tell(path[1], &UnsubscribeMessage{Key: k, Path: path[1:]})
	}
}

// unsubscribed ends a key that a neighbour has ended.
func (b *edge) unsubscribed(k Key) {
	if in := b.inboxOf(k); in != nil {
		b.dropKey(in)
	}
}

// onGone says that a key is over: the route goes, and it is passed on.
func (b *network) onGone(from BrokerID, m *GoneMessage) {
	r := b.routes[m.Key]
	if r == nil || r.up != from {
		return
	}
	delete(b.routes, m.Key)
	if m.Stamp == 0 {
		b.dead[m.Key] = b.lease()
	}
	b.sendDown(r, m)
}

// hearOf takes note that somebody knows of a number of a key. If that is above
// all that this source broker has told anyone, its store is older than what it
// has given: the key ends, since its numbers would name other readings. Whoever
// is on its route is told, but from, who is answered.
func (b *source) hearOf(from BrokerID, k Key, epoch Epoch, number uint64) (ended bool) {
	e := b.keys[k]
	if e == nil || e.ended || number <= e.outside {
		return false
	}
	b.stats.Behind++
	b.outlive(k)
	switch in := e.inbox; {
	case in == nil:
		if r := b.network.routeOf(k); r != nil && r.down != from {
			b.network.tell(r.down, &GoneMessage{Key: k, Stamp: b.stamp})
		}
		b.unsubscribe(e.sequence)
	case b.edge.hasMoved(in, epoch):
		b.edge.dropKey(in)
	default: // the client is here, and another edge has what was given before
		b.dropEarly(e)
		b.put(&Uninstall{Handle: e.handle})
		e.ended = true
		b.recordEntry(e)
		b.edge.endLocal(in)
	}
	return true
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

// hasEnded tells whether something is left here of a key that has ended.
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
