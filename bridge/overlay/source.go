package overlay

import (
	"slices"

	"callboard/subscribe/protocol"
)

// entry is a key in the local registry of this source broker: a set that
// readings are tested against, and the sequence of what matched.
type entry struct {
	*sequence
	epoch     Epoch
	set       uint64 // the newest Install.Set: the revision of the set
	installed uint64 // readings tested by sets up to this one may be numbered
	next      uint64 // the seq to give next
	seen      Instant
	sets      setPoints // by Install.Set, those that numbers are still given by
	trues     trueStates
	quiet     bool   // nothing was sent since the last refresh (A2)
	sent      uint64 // the highest number that has gone to another broker

	// What was tested by a set before the matcher had it everywhere: it comes
	// after all that was tested by the set before.
	early      []early
	earlyBytes int
	earlyLost  uint64 // the oldest of them, which there was no room for
}

type early struct {
	reading *Reading
	names   []protocol.Matched
	set     uint64
	size    int
}

// newStamp begins another life of the local registry: keys that are made from
// now on are others than those that have been forgotten.
func (b *source) newStamp() {
	b.stamp = max(Stamp(b.now), b.stamp+1)
	b.record(&StampRecord{Stamp: b.stamp})
}

// outlive sees that keys made from now on are others than one that has ended. It
// returns their stamp.
func (b *source) outlive(k Key) Stamp {
	if k.Stamp >= b.stamp {
		b.stamp = k.Stamp
		b.newStamp()
	}
	return b.stamp
}

// live returns the key here of a key's session, whatever its stamp, that has not
// ended; nil if there is none.
func (b *source) live(k Key) *entry {
	k.Stamp = 0
	if e := b.homes[k]; e != nil && !e.ended {
		return e
	}
	return nil
}

// home returns its sequence, and the epoch and the revision of its set.
func (b *source) home(k Key) (q *sequence, epoch Epoch, revision uint64) {
	if e := b.live(k); e != nil {
		return e.sequence, e.epoch, e.set
	}
	return nil, Epoch{}, 0
}

// retained returns the sequence of a key here whose edge is elsewhere; nil if there is
// none.
func (b *source) retained(k Key) *sequence {
	if e := b.keys[k]; e != nil && e.inbox == nil {
		return e.sequence
	}
	return nil
}

// epochOf returns the epoch of a key's set, and what its client has acknowledged.
func (b *source) epochOf(k Key) (epoch Epoch, num uint64, known bool) {
	if e := b.keys[k]; e != nil {
		return e.epoch, e.buf.num, true
	}
	return Epoch{}, 0, false
}

// present returns the stamp that new keys get.
func (b *source) present() Stamp { return b.stamp }

// canMatch reports whether a robot that this broker reads can match a subscription.
func (b *source) canMatch(sub *sub) bool { return b.robots.anyCanMatch(sub) }

// roster returns the roster of the robots that this broker reads.
func (b *source) roster() *roster { return &b.own }

// takeHome gives a key to a session here, whose set is the key's from now on.
func (b *source) takeHome(q *sequence, in *inbox, members *set, passing bool) {
	e := b.entries[q.handle]
	b.freeSet(e.members)
	e.members, e.seen = members, b.now
	b.lend(e, in, passing)
	e.buf.unsend()
}

// retain keeps a key whose edge is elsewhere from now on, with its set.
func (b *source) retain(q *sequence) {
	e := b.entries[q.handle]
	e.inbox, e.passing = nil, false
	b.recordEntry(e)
	for _, old := range e.members.sorted() {
		b.record(&EntrySubscription{Handle: e.handle, Born: old.born, Subscription: old.Subscription})
	}
	e.buf.unsend()
	b.conflateAll(q)
}

// refresh says that the edge, which is here, still has the key (L1).
func (b *source) refresh(q *sequence) { b.entries[q.handle].seen = b.now }

// unsubscribe ends a key (U1).
func (b *source) unsubscribe(q *sequence) {
	if !q.ended {
		b.network.dropRoute(q.key)
	}
	b.drop(b.entries[q.handle])
}

// index makes an entry be found by its key.
func (b *source) index(e *entry) {
	b.entries[e.handle], b.keys[e.key] = e, e
	b.usage.keys++
	k := e.key
	k.Stamp = 0
	b.homes[k] = e
}

// newEntry puts a key into the local registry.
func (b *source) newEntry(key Key, members *set, epoch Epoch) *entry {
	b.lastHandle++
	e := &entry{sequence: b.newSequence(key, members, 0), epoch: epoch, set: epoch.Revision, next: 1, seen: b.now}
	e.handle, e.own = b.lastHandle, true
	e.sets.add(e.set, epoch)
	b.index(e)
	return e
}

// newSetOf counts a change of the set.
func (b *source) newSetOf(e *entry) {
	e.set = max(e.set+1, e.epoch.Revision)
	e.sets.add(e.set, e.epoch)
}

// update takes a change of a set whose edge is here (S7). The change is a point in
// the sequence: see installed.
func (b *source) update(q *sequence, epoch Epoch, drop []string, put, tell []*sub) {
	e := b.entries[q.handle]
	e.epoch = epoch
	if len(drop)+len(put) > 0 {
		b.newSetOf(e)
	} else {
		e.sets.touch(e.epoch)
	}
	b.recordEntry(e)
	if len(drop)+len(put)+len(tell) > 0 {
		b.forgetStates(e, drop, put)
		b.install(e, false, drop, put, tell)
	}
}

func (b *source) install(e *entry, whole bool, drop []string, put, tell []*sub) {
	e.asked++
	out := &Install{Handle: e.handle, Set: e.set, Whole: whole, Drop: drop}
	for _, sub := range put {
		out.Put = append(out.Put, sub.Subscription)
	}
	for _, sub := range tell {
		out.Count = append(out.Count, sub.ID)
	}
	b.put(out)
}

func (b *source) recordEntry(e *entry) {
	if e.stored() {
		b.record(&EntryRecord{
			Handle: e.handle, Key: e.key, Epoch: e.epoch, Set: e.set, Next: e.next, Num: e.buf.num, Ended: e.ended, Own: e.inbox == nil,
		})
	}
}

// subscribe makes a key for a session here (S7), with its whole set; the matcher is
// asked how many robots match those of tell.
func (b *source) subscribe(in *inbox, key Key, epoch Epoch, members *set, passing bool, tell []*sub) {
	e := b.newEntry(key, members, epoch)
	b.lend(e, in, passing)
	b.recordEntry(e)
	b.install(e, true, nil, members.sorted(), tell)
}

// lend has an inbox here send from what an entry retains.
func (b *source) lend(e *entry, in *inbox, passing bool) {
	in.sequence = e.sequence
	e.inbox, e.passing = in, passing
}

// drop takes a key out of the local registry, with all it retained.
func (b *source) drop(e *entry) {
	b.dropEarly(e)
	delete(b.entries, e.handle)
	b.usage.keys--
	if b.keys[e.key] == e {
		delete(b.keys, e.key)
	}
	k := e.key
	if k.Stamp = 0; b.homes[k] == e {
		delete(b.homes, k)
	}
	if e.inbox == nil {
		b.freeSet(e.members)
	}
	if !e.ended {
		b.put(&Uninstall{Handle: e.handle})
	}
	if e.stored() {
		b.record(&EntryEnded{Handle: e.handle})
	}
	e.buf.free()
}

// matched gives each key that a reading matched its next number.
func (b *source) matched(m *Matched) {
	b.stats.Readings++
	if b.isRefused(m.Reading.Robot) {
		b.stats.Stray++
		return
	}
	var given *GivenRecord
	for i := range m.Hits {
		hit := &m.Hits[i]
		e := b.entries[hit.Handle]
		if e == nil || e.ended {
			b.stats.Stray++ // the key has ended while the reading was tested
			continue
		}
		names := e.liveNames(hit.Names, hit.Set)
		switch {
		case len(names) == 0:
			b.stats.Stray++
		case hit.Set > e.installed:
			b.holdEarly(e, m.Reading, names, hit.Set)
		default:
			given = b.give(e, m.Reading, names, hit.Set, given)
		}
	}
}

// give numbers a notification, retains it and delivers it if it may go.
func (b *source) give(e *entry, r *Reading, names []protocol.Matched, revision uint64, given *GivenRecord) *GivenRecord {
	seq := e.next
	e.next++
	b.stats.Given++
	e.trues.note(r, names, seq)
	e.sets.prune(revision)
	e.points.add(seq, e.sets.at(revision))
	size := itemSize(r, names)
	if size > b.cfg.Inbox.Bytes {
		b.lose(e, seq, seq)
		return given
	}
	if e.stored() {
		if given == nil {
			given = b.newGiven(r)
		}
		given.Hits = append(given.Hits, GivenHit{Handle: e.handle, Seq: seq, Revision: revision, Names: names})
	}
	e.buf.push(seq, r, e.buf.share(names, revision, e.members.ends, namesSize(names)), b.now)
	if in := e.inbox; in != nil {
		b.edge.pump(in)
	} else {
		b.sendDown(e, r, newHit(e.key, seq, e.points.at(seq), names))
	}
	if e.buf.next < len(e.buf.items) {
		b.bound(e.sequence)
	}
	return given
}

// lose declares numbers that were given but cannot be held.
func (b *source) lose(e *entry, from, to uint64) {
	b.stats.Lost[WhyOverflow] += to - from + 1
	g := e.buf.pushGap(from, to, WhyOverflow, b.now)
	b.recordGap(e.sequence, g, from)
	if e.inbox != nil {
		b.edge.pump(e.inbox)
		return
	}
	e.quiet, e.outside = false, to
	b.network.towards(e.key, []Item{{Kind: ItemGap, From: from, To: to, Why: WhyOverflow}}, "")
}

// holdEarly keeps what was tested by a set that is not in force yet. When
// there is no room the oldest go: their numbers become a gap.
func (b *source) holdEarly(e *entry, r *Reading, names []protocol.Matched, set uint64) {
	held := early{reading: r, names: names, set: set, size: itemSize(r, names)}
	e.early = append(e.early, held)
	e.earlyBytes += held.size
	b.usage.early += int64(held.size)
	lost := 0
	for len(e.early)-lost > b.cfg.Inbox.Count || e.earlyBytes > b.cfg.Inbox.Bytes {
		e.earlyBytes -= e.early[lost].size
		b.usage.early -= int64(e.early[lost].size)
		lost++
	}
	e.early = slices.Delete(e.early, 0, lost)
	e.earlyLost += uint64(lost)
}

// giveEarly numbers what has waited for the sets that are in force now.
func (b *source) giveEarly(e *entry) {
	if e.earlyLost > 0 {
		from := e.next
		e.next += e.earlyLost
		b.stats.Given += e.earlyLost
		e.earlyLost = 0
		b.lose(e, from, e.next-1)
	}
	if len(e.early) == 0 {
		return
	}
	waiting := e.early
	e.early = nil
	for _, w := range waiting {
		if w.set > e.installed {
			e.early = append(e.early, w)
			continue
		}
		e.earlyBytes -= w.size
		b.usage.early -= int64(w.size)
		if names := e.liveNames(w.names, w.set); len(names) > 0 {
			b.give(e, w.reading, names, w.set, nil)
		}
	}
}

func (b *source) dropEarly(e *entry) {
	for _, w := range e.early {
		b.usage.early -= int64(w.size)
	}
	e.early, e.earlyBytes, e.earlyLost = nil, 0, 0
}
