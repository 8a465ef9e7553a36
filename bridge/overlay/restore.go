package overlay

import (
	"maps"
	"slices"
)

// restore replays records. What does not fit together is left out: a store
// that lost its end may lack anything.
func (b *Broker) restore(records []Record) {
	for _, r := range records {
		switch r := r.(type) {
		case *StampRecord:
			b.stamp = max(b.stamp, r.Stamp)
		case *SessionRecord:
			s := b.sessions[r.Client]
			if s == nil {
				s = b.newSession(r.Client, r.Session, r.Epoch)
			}
			s.birth, s.epoch = r.Session, r.Epoch
		case *SessionEnded:
			if s := b.sessions[r.Client]; s != nil {
				for _, in := range slices.Clone(s.inboxes) {
					b.leave(in)
				}
				b.endSession(s)
			}
		case *SubscriptionRecord:
			if s := b.sessions[r.Client]; s != nil && r.Subscription != nil {
				b.addSub(s, r.Subscription, r.Subscription.Hash(), r.Born)
				s.epoch.Revision = max(s.epoch.Revision, r.Born)
			}
		case *SubscriptionEnded:
			if s := b.sessions[r.Client]; s != nil && s.subs[r.ID] != nil {
				b.endSub(s, s.subs[r.ID])
			}
		case *EntryRecord:
			b.restoreEntry(r)
		case *EntryEnded:
			if e := b.entries[r.Handle]; e != nil {
				b.leave(e.inbox)
			}
		case *GivenRecord:
			b.restoreGiven(r)
		case *AckedRecord:
			if e := b.entries[r.Handle]; e != nil {
				e.buf.drop(r.Num)
				e.next = max(e.next, r.Num+1)
			}
		case *GapRecord:
			b.restoreGap(r)
		case *PassedRecord:
			b.restorePassed(r)
		}
	}
	clear(b.out)
	clear(b.records)
	b.out, b.records = b.out[:0], b.records[:0]
}

func (b *Broker) restoreEntry(r *EntryRecord) {
	b.lastHandle = max(b.lastHandle, r.Handle)
	s := b.sessions[r.Key.Client]
	e := b.entries[r.Handle]
	if e == nil {
		if s == nil || s.birth != r.Key.Session || r.Key.Source != b.cfg.ID {
			return
		}
		in := b.emptyInbox(s, r.Key, 0)
		e = &entry{handle: r.Handle, key: r.Key, session: s, inbox: in, buf: in.buf, next: 1}
		in.entry = e
		b.entries[r.Handle] = e
		s.addInbox(in)
	}
	e.epoch, e.set, e.inbox.ended = r.Epoch, r.Set, r.Ended
	e.session.epoch.Revision = max(e.session.epoch.Revision, r.Set)
	e.next = max(e.next, r.Next)
	e.buf.drop(r.Num)
	e.buf.last = max(e.buf.last, e.next-1)
}

func (b *Broker) restoreGiven(r *GivenRecord) {
	for _, hit := range r.Hits {
		e := b.entries[hit.Handle]
		if e == nil || hit.Seq <= e.buf.num || r.Reading == nil {
			continue
		}
		if at := len(e.buf.items); at > e.buf.head && e.buf.items[at-1].to >= hit.Seq {
			continue // known, or part of a gap
		}
		last := e.buf.last
		e.buf.push(item{from: hit.Seq, to: hit.Seq, reading: r.Reading, names: hit.Names, revision: hit.Revision, at: r.At, size: itemSize(r.Reading, hit.Names)})
		e.buf.last = max(last, hit.Seq)
		e.next = max(e.next, hit.Seq+1)
	}
}

// restoreGap puts a gap in the place of what is there of it.
func (b *Broker) restoreGap(r *GapRecord) {
	e := b.entries[r.Handle]
	if e == nil || r.To < r.From || r.To <= e.buf.num {
		return
	}
	buf := e.buf
	gap := item{from: max(r.From, buf.num+1), to: r.To, why: r.Why, at: b.now}
	at, _ := buf.find(gap.from)
	last := -1
	for i := at; i < len(buf.items) && buf.items[i].from <= gap.to; i++ {
		if !buf.items[i].dead {
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

func (b *Broker) restorePassed(r *PassedRecord) {
	e := b.entries[r.Handle]
	if e == nil {
		return
	}
	if i, found := e.buf.find(r.From); found && e.buf.items[i].to <= r.To {
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
	b.period = b.now + Instant(b.cfg.Heartbeat)
	known := b.stamp
	if known == 0 || lost {
		b.newStamp()
	} else {
		b.record(&StampRecord{Stamp: b.stamp})
	}
	for _, h := range slices.Sorted(maps.Keys(b.entries)) {
		e := b.entries[h]
		e.seen = b.now
		if lost && !e.inbox.ended {
			e.inbox.ended = true
			b.recordEntry(e)
		}
		b.conflateAll(e.inbox)
	}
	for _, s := range b.order {
		s.seen = b.now
		b.startSession(s)
	}
}

// startSession finds the session's live key, or makes the one that follows
// the keys that the store lost.
func (b *Broker) startSession(s *session) {
	for _, in := range slices.Clone(s.inboxes) {
		switch {
		case in.ended && in.buf.empty():
			b.leave(in)
		case !in.ended && s.local == nil:
			s.local = in.entry
			in.entry.installed = in.entry.set
			b.install(in.entry, true, nil, s.sorted(), nil)
		case !in.ended:
			b.leave(in) // no store of ours has two
		}
	}
	if s.local == nil && len(s.inboxes) > 0 {
		b.enter(s, nil)
	}
}
