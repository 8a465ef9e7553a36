package overlay

import (
	"maps"
	"slices"
)

// restore replays records. What does not fit together is left out: a store
// that lost its end may lack anything.
func (b *Broker) restore(records []Record) {
	for _, r := range records {
		if !b.countedRecord(r) {
			b.stats.Uncounted++
			continue
		}
		switch r := r.(type) {
		case *StampRecord:
			b.source.stamp = max(b.source.stamp, r.Stamp)
		case *SessionRecord:
			s := b.edge.sessions[r.Client]
			if s == nil {
				s = b.edge.newSession(r.Client, r.Session, r.Epoch)
			}
			s.birth, s.epoch, s.unsure = r.Session, r.Epoch, r.Unsure
		case *SessionEnded:
			if s := b.edge.sessions[r.Client]; s != nil {
				for _, in := range slices.Clone(s.inboxes) {
					b.edge.leave(in)
				}
				b.edge.endSession(s)
			}
		case *SubscriptionRecord:
			if s := b.edge.sessions[r.Client]; s != nil && r.Subscription != nil {
				added := b.edge.addSub(s, r.Subscription, r.Subscription.Hash(), r.Born)
				added.born, added.since = r.Born, Epoch{}
				s.epoch.Revision = max(s.epoch.Revision, r.Born)
			}
		case *SubscriptionEnded:
			if s := b.edge.sessions[r.Client]; s != nil && s.subs[r.ID] != nil {
				b.edge.endSub(s, s.subs[r.ID])
			}
		case *EntryRecord:
			b.source.restoreEntry(r)
		case *EntryEnded:
			if in := b.stored(r.Handle); in != nil {
				b.edge.dropKey(in)
			}
		case *EntrySubscription:
			if e := b.source.entries[r.Handle]; e != nil && e.session == nil && r.Subscription != nil {
				b.putSub(e.members, r.Subscription, r.Subscription.Hash(), r.Born).born = r.Born
			}
		case *EntrySubscriptionEnded:
			if e := b.source.entries[r.Handle]; e != nil && e.session == nil && e.members.subs[r.ID] != nil {
				b.takeSub(e.members, e.members.subs[r.ID])
				e.members.ends++
			}
		case *GivenRecord:
			b.source.restoreGiven(r)
		case *AckedRecord:
			if in := b.stored(r.Handle); in != nil {
				in.buf.drop(r.Num)
				if in.entry != nil {
					in.entry.next = max(in.entry.next, r.Num+1)
				}
			}
		case *GapRecord:
			b.source.restoreGap(r)
		case *PassedRecord:
			b.source.restorePassed(r)
		case *StateRecord:
			if e := b.source.entries[r.Handle]; e != nil && r.Reading != nil {
				e.trues.put(r.ID, r.Reading, r.Values, r.Seq)
			}
		case *StatesEnded:
			switch e := b.source.entries[r.Handle]; {
			case e == nil:
			case r.ID == "":
				clear(e.trues)
			default:
				delete(e.trues, r.ID)
			}
		case *ToldRecord:
			if s := b.edge.sessions[r.Client]; s != nil {
				s.restoreTold(r)
			}
		}
	}
	clear(b.out)
	clear(b.records)
	b.out, b.records = b.out[:0], b.records[:0]
}

// stored gives what a handle in records names.
func (b *Broker) stored(h Handle) *inbox {
	if e := b.source.entries[h]; e != nil {
		return e.inbox
	}
	return b.edge.far[h]
}

func (b *source) restoreEntry(r *EntryRecord) {
	b.lastHandle = max(b.lastHandle, r.Handle)
	if r.Key.Source != b.cfg.ID {
		b.edge.restoreFar(r)
		return
	}
	s := b.edge.sessionOf(r.Key)
	e := b.entries[r.Handle]
	if e == nil {
		if s == nil && !r.Own || b.keys[r.Key] != nil {
			return
		}
		e = &entry{handle: r.Handle, key: r.Key, members: newSet(), buf: &buffer{usage: &b.usage}, next: 1}
		e.inbox = &inbox{key: r.Key, word: SourceWord(r.Key.Source, r.Key.Stamp), members: e.members, handle: r.Handle, entry: e, buf: e.buf}
		b.index(e)
		e.epoch, e.set = r.Epoch, r.Set
	}
	switch {
	case r.Own && e.session != nil:
		b.moveAway(e)
	case !r.Own && e.session == nil && s != nil && s.local == nil:
		b.freeSet(e.members)
		e.members, e.inbox.members, e.session, e.inbox.session = s.set, s.set, s, s
		b.edge.addInbox(s, e.inbox)
	}
	if e.set != r.Set || len(e.sets) == 0 {
		e.sets.add(r.Set, r.Epoch)
	} else {
		e.sets.touch(r.Epoch)
	}
	e.epoch, e.set, e.inbox.ended = r.Epoch, r.Set, r.Ended
	if e.session != nil {
		e.session.epoch.Revision = max(e.session.epoch.Revision, r.Set)
	}
	e.next = max(e.next, r.Next)
	e.buf.drop(r.Num)
	e.buf.last = max(e.buf.last, e.next-1)
}

// restoreFar brings back the inbox of a key whose source is elsewhere, without
// what it held: the source sends that again.
func (b *edge) restoreFar(r *EntryRecord) {
	s := b.sessionOf(r.Key)
	if s == nil || b.far[r.Handle] != nil || b.inboxOf(r.Key) != nil {
		return
	}
	in := b.emptyInbox(s, r.Key, r.Num)
	in.handle, in.far = r.Handle, &far{}
	b.far[r.Handle] = in
	b.usage.keys++
	b.addInbox(s, in)
}

func (b *source) restoreGiven(r *GivenRecord) {
	for _, hit := range r.Hits {
		e := b.entries[hit.Handle]
		if e == nil || r.Reading == nil {
			continue
		}
		e.trues.note(r.Reading, hit.Names, hit.Seq)
		if hit.Seq <= e.buf.num {
			continue
		}
		if at := len(e.buf.items); at > e.buf.head && e.buf.items[at-1].to() >= hit.Seq {
			continue // known, or part of a gap
		}
		last := e.buf.last
		e.buf.push(hit.Seq, r.Reading, e.buf.share(hit.Names, hit.Revision, 0, namesSize(hit.Names)), b.waitedSince(r.At))
		e.buf.last = max(last, hit.Seq)
		e.next = max(e.next, hit.Seq+1)
	}
}

// waitedSince is when something began to wait that the store has, by the clock of
// this life. That of the earlier one may have been set otherwise: the time is not
// in the future, and half of what an inbox keeps things is left.
func (b *step) waitedSince(at Instant) Instant {
	return min(b.now, max(at, b.now-Instant(b.cfg.Inbox.Keep)/2))
}

// restoreGap puts a gap in the place of what is there of it.
func (b *source) restoreGap(r *GapRecord) {
	e := b.entries[r.Handle]
	if e == nil || r.To < r.From || r.To <= e.buf.num {
		return
	}
	buf := e.buf
	gap := gapItem(max(r.From, buf.num+1), r.To, r.Why, b.now)
	at, _ := buf.find(gap.from)
	last := -1
	for i := at; i < len(buf.items) && buf.items[i].from <= r.To; i++ {
		if !buf.items[i].dead() {
			buf.kill(i)
		}
		last = i
	}
	if last < 0 {
		buf.items = slices.Insert(buf.items, at, gap)
	} else {
		buf.items[last] = gap
		buf.dead--
	}
	buf.next = buf.head
	buf.trim()
	buf.last = max(buf.last, r.To)
	e.next = max(e.next, r.To+1)
}

func (b *source) restorePassed(r *PassedRecord) {
	e := b.entries[r.Handle]
	if e == nil {
		return
	}
	if i, found := e.buf.find(r.From); found && e.buf.items[i].to() <= r.To {
		e.buf.kill(i)
		e.buf.trim()
	}
	e.buf.last = max(e.buf.last, r.To)
	e.next = max(e.next, r.To+1)
}

// start begins the broker's life: all clients are absent, and the sets that
// are left go into the matcher.
func (b *Broker) start(lost bool) {
	b.started = true
	b.source.ownWhole = b.source.ownVersion()
	b.period = b.now + Instant(b.cfg.Heartbeat)
	known := b.source.stamp
	if known == 0 || lost {
		b.source.newStamp()
	} else {
		b.record(&StampRecord{Stamp: b.source.stamp})
	}
	for _, h := range slices.Sorted(maps.Keys(b.source.entries)) {
		e := b.source.entries[h]
		e.seen, e.known = b.now, e.next-1
		if e.session == nil && lost {
			b.edge.dropKey(e.inbox) // it ends by gone
			continue
		}
		b.source.restart(e)
		if lost && !e.inbox.ended {
			e.inbox.ended = true
			b.source.recordEntry(e)
		}
		b.conflateAll(e.inbox)
	}
	for _, s := range slices.Clone(b.edge.order) {
		s.seen, s.blind = b.now, true
		if !lost || b.edge.doubt(s) {
			b.edge.startSession(s)
		}
	}
	for _, h := range slices.Sorted(maps.Keys(b.source.entries)) { // all robots are away now
		if e := b.source.entries[h]; !e.inbox.ended {
			for _, robot := range e.trues.robots() {
				b.source.endStatesOf(e, robot)
			}
		}
	}
}

// doubt is what becomes of a session whose store has lost its end: what set the
// client has now is not known. Keys to other source brokers, which know it, are
// left to them until the client's hello: a renewal would bring an old set back.
// Without others nothing is left of it, and it is forgotten.
func (b *edge) doubt(s *session) (stays bool) {
	for _, in := range slices.Clone(s.inboxes) {
		if in.far != nil {
			b.dropKey(in)
		}
	}
	if len(s.inboxes) == 0 {
		b.dropSession(s)
		return false
	}
	s.unsure = true
	b.record(&SessionRecord{Client: s.client, Session: s.birth, Epoch: s.epoch, Unsure: true})
	return true
}

// restart begins an entry's life whose edge is elsewhere: it has no route until
// the edge renews (S6). One whose store was lost ends by gone.
func (b *source) restart(e *entry) {
	if e.session == nil {
		e.installed = e.set
		b.install(e, true, nil, e.members.sorted(), nil)
	}
}

// startSession finds the session's live key, or makes the one that follows
// the keys that the store lost.
func (b *edge) startSession(s *session) {
	for _, in := range slices.Clone(s.inboxes) {
		switch {
		case in.ended && in.buf.empty():
			b.leave(in)
		case in.far != nil: // B1: it has no way up
			b.network.routes[in.key] = &route{key: in.key, epoch: s.epoch, down: b.cfg.ID, num: in.buf.num, hash: s.hash}
		case !in.ended && s.local == nil:
			s.local = in.entry
			b.network.routes[in.key] = &route{key: in.key, epoch: s.epoch, down: b.cfg.ID, hash: s.hash}
			in.entry.installed = in.entry.set
			b.source.install(in.entry, true, nil, s.sorted(), nil)
		case !in.ended:
			b.leave(in) // no store of ours has two
		}
	}
	if s.local == nil && slices.ContainsFunc(s.inboxes, func(in *inbox) bool { return in.key.Source == b.cfg.ID }) {
		b.source.enter(s, nil)
	}
}
