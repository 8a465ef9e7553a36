package overlay

import "slices"

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
		case *ClaimRecord:
			b.source.restoreClaim(r)
		case *SessionRecord:
			s := b.edge.sessions[r.Client]
			if s == nil {
				s = b.edge.newSession(r.Client, r.Session, r.Epoch)
				s.blind = true // what was told in the place of source brokers is not stored
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
				added.born, added.begun, added.since = r.Born, r.Born, Epoch{}
				s.epoch.Revision = max(s.epoch.Revision, r.Born)
			}
		case *SubscriptionEnded:
			if s := b.edge.sessions[r.Client]; s != nil && s.subs[r.ID] != nil {
				b.edge.endSub(s, s.subs[r.ID])
			}
		case *EntryRecord:
			b.restoreEntry(r)
		case *EntryEnded:
			if q := b.stored(r.Handle); q != nil {
				b.drop(q)
			}
		case *EntrySubscription:
			if e := b.source.entries[r.Handle]; e != nil && e.inbox == nil && r.Subscription != nil {
				b.putSub(e.members, r.Subscription, r.Subscription.Hash(), r.Born).born = r.Born
			}
		case *EntrySubscriptionEnded:
			if e := b.source.entries[r.Handle]; e != nil && e.inbox == nil && e.members.subs[r.ID] != nil {
				b.takeSub(e.members, e.members.subs[r.ID])
				e.members.ends++
			}
		case *GivenRecord:
			b.source.restoreGiven(r)
		case *AckedRecord:
			if q := b.stored(r.Handle); q != nil {
				q.buf.drop(r.Num)
			}
			if e := b.source.entries[r.Handle]; e != nil {
				e.next = max(e.next, r.Num+1)
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
		case *TaskRecord, *TaskHeldRecord, *TaskAnsweredRecord, *TaskEndedRecord:
			b.tasks.home.restore(r)
		}
	}
	clear(b.out)
	clear(b.records)
	b.out, b.records = b.out[:0], b.records[:0]
}

// stored returns what a handle in records names.
func (b *Broker) stored(h Handle) *sequence {
	if e := b.source.entries[h]; e != nil {
		return e.sequence
	}
	if in := b.edge.far[h]; in != nil {
		return in.sequence
	}
	return nil
}

// drop ends a key whose edge or source is here.
func (b *Broker) drop(q *sequence) {
	if q.inbox != nil {
		b.edge.dropKey(q.inbox)
	} else {
		b.source.unsubscribe(q)
	}
}

func (b *Broker) restoreEntry(r *EntryRecord) {
	b.lastHandle = max(b.lastHandle, r.Handle)
	if r.Key.Source != b.cfg.ID {
		b.edge.restoreFar(r)
		return
	}
	s := b.edge.sessionOf(r.Key)
	e := b.source.entries[r.Handle]
	if e == nil {
		if s == nil && !r.Own || b.source.keys[r.Key] != nil {
			return
		}
		e = &entry{sequence: b.newSequence(r.Key, newSet(), 0), next: 1}
		e.handle, e.own = r.Handle, true
		b.source.index(e)
		e.epoch, e.set = r.Epoch, r.Set
	}
	switch {
	case r.Own && e.inbox != nil:
		b.edge.release(e.inbox)
	case !r.Own && e.inbox == nil && s != nil && s.local == nil:
		in := &inbox{session: s}
		b.source.takeHome(e.sequence, in, s.set, false)
		b.edge.addInbox(s, in)
	}
	if e.set != r.Set || len(e.sets) == 0 {
		e.sets.add(r.Set, r.Epoch)
	} else {
		e.sets.touch(r.Epoch)
	}
	e.epoch, e.set, e.ended = r.Epoch, r.Set, r.Ended
	if e.inbox != nil {
		own := e.inbox.session
		own.epoch.Revision = max(own.epoch.Revision, r.Set)
	}
	e.next = max(e.next, r.Next)
	e.buf.drop(r.Num)
	e.buf.last = max(e.buf.last, e.next-1)
}

// settle makes of what was restored the same, whether it came record by record
// over days (a standby), at once, or from a store that has condensed it.
func (b *Broker) settle() {
	for _, s := range b.edge.sessions { // each by itself: order decides nothing
		s.seen, s.began = b.now, b.now
		s.endedAt = s.epoch // what ended before is not known
		s.ends++            // names in items may have ended: they are looked through
	}
	for _, e := range b.source.entries { // likewise
		if e.inbox == nil {
			e.members.ends++
		}
		e.sets = setPoints{{e.set, e.epoch}}
		for _, sub := range e.members.subs { // likewise
			sub.heard = e.epoch
		}
		for i := range e.buf.items {
			switch it := &e.buf.items[i]; {
			case it.dead():
			case it.gap():
				it.since = b.now
			default:
				it.reading.held = b.waitedSince(it.reading.held)
			}
		}
	}
}

// waitedSince is when something began to wait that was restored, by the clock of
// this life. That of the earlier one may have been set otherwise: the time is not
// in the future, and half of what an inbox keeps things is left.
func (b *step) waitedSince(at Instant) Instant {
	return min(b.now, max(at, b.now-Instant(b.cfg.Inbox.Keep)/2))
}

// start begins the broker's life: all clients are absent, and the sets that
// are left go into the matcher.
func (b *Broker) start(in *Start) {
	lost := in.StoreLost
	b.started = true
	b.settle()
	b.source.goOn = in.Robots
	b.source.ownWhole = b.source.ownVersion()
	b.source.startClaims()
	b.period = b.now + Instant(b.cfg.Heartbeat)
	known := b.source.stamp
	if known == 0 || lost {
		b.source.newStamp()
	} else {
		b.record(&StampRecord{Stamp: b.source.stamp})
	}
	for _, h := range sortedKeys(b.source.entries) {
		e := b.source.entries[h]
		e.seen, e.outside = b.now, e.next-1
		if e.inbox == nil && lost {
			b.source.unsubscribe(e.sequence) // it ends by gone
			continue
		}
		if e.inbox == nil {
			b.source.restart(e.sequence)
		}
		if lost && !e.ended {
			e.ended = true
			b.source.recordEntry(e)
		}
		b.conflateAll(e.sequence)
	}
	for _, s := range slices.Clone(b.edge.order) {
		s.blind = true
		if !lost || b.edge.doubt(s) {
			b.edge.startSession(s)
		}
	}
	for _, h := range sortedKeys(b.source.entries) { // all other robots are away now
		if e := b.source.entries[h]; !e.ended {
			for _, robot := range e.trues.robots() {
				if !slices.Contains(in.Robots, robot) {
					b.source.endStatesOf(e, robot)
				}
			}
		}
	}
	b.tasks.home.start()
}
