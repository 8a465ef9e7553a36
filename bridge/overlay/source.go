package overlay

import (
	"cmp"
	"slices"
)

// source is the broker as the one that reads robots: the local registry of
// subscriptions, with the numbers that it has given and what it retains.
type source struct {
	*step
	edge     sourceToEdge
	network  sourceToNetwork
	registry sourceToRegistry

	stamp   Stamp
	entries map[Handle]*entry // the local registry
	keys    map[Key]*entry    // the same, by key
	homes   map[Key]*entry    // the newest of each session, by its key without stamp

	robots   robots
	claimed  map[string]Instant // since when this broker reads robots, over its restarts; negative: until when it did
	began    Instant            // this life
	refusals uint64             // version of the registry's word on this broker's robots
	hasten   bool               // the registry is to be told at the end of this step
	hastenAt Instant            // or of one after this, if robots are many

	own      roster  // of this broker's robots
	ownWhole uint64  // versions before it are not told as differences
	news     bool    // those who watch this broker's robots are to be told at the end of this step
	newsAt   Instant // or of one after this, if robots are many
	watchers map[BrokerID]*watcher

	goOn    []string           // robots that are up from the beginning, in the place of another side's
	foreign map[BrokerID]Stamp // neighbours whose edges may know of numbers that another broker of this id gave: of keys with an older stamp
}

// linkForeign has the keys of this source broker end as edges behind a neighbour ask
// for them.
func (b *source) linkForeign(neighbour BrokerID) {
	b.newStamp()
	b.foreign[neighbour] = b.stamp
}

// hearOf takes note that somebody knows of a number of a key. If that is above
// all that this source broker has told anyone, its store is older than what it
// has given, or another broker of this id has given it: the key ends, since its
// numbers would name other readings. So it does if that cannot be known. Whoever
// is on its route is told, but from, who is answered.
func (b *source) hearOf(from BrokerID, k Key, epoch Epoch, number uint64) (ended bool) {
	e := b.keys[k]
	if e == nil || e.ended || number <= e.outside && k.Stamp >= b.foreign[from] {
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

// awayEntries returns the keys of the local registry whose edge is elsewhere, in order.
func (b *source) awayEntries() []*entry {
	var away []*entry
	for _, e := range b.entries {
		if e.inbox == nil {
			away = append(away, e)
		}
	}
	slices.SortFunc(away, func(e, f *entry) int { return cmp.Compare(e.handle, f.handle) })
	return away
}

// forgetKeys forgets the keys of other edges that nobody refreshed (L5), and what has
// waited too long for others.
func (b *source) forgetKeys() {
	before := b.now - Instant(b.cfg.Inbox.Keep)
	forgot := false
	for _, e := range b.awayEntries() {
		if e.seen < before { // L5
			b.network.dropRoute(e.key)
			b.unsubscribe(e.sequence)
			b.stats.ForgottenKeys++
			forgot = true
			continue
		}
		b.expire(e.sequence, before)
	}
	if forgot {
		b.newStamp()
	}
}

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

// home returns its sequence, and the epoch of its set.
func (b *source) home(k Key) (*sequence, Epoch) {
	if e := b.live(k); e != nil {
		return e.sequence, e.epoch
	}
	return nil, Epoch{}
}

// revision returns that of a key's set, as it was installed last.
func (b *source) revision(q *sequence) uint64 { return b.entries[q.handle].set }

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

// takeHome gives a key to a session here, whose set is the key's from now on.
func (b *source) takeHome(q *sequence, in *inbox, members *set, anonymous bool) {
	e := b.entries[q.handle]
	b.freeSet(e.members)
	e.members, e.seen = members, b.now
	b.lend(e, in, anonymous)
	e.buf.unsend()
}

// retain keeps a key whose edge is elsewhere from now on, with its set.
func (b *source) retain(q *sequence) {
	e := b.entries[q.handle]
	e.inbox, e.anonymous = nil, false
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
	for _, sub := range put {
		sub.heard = epoch
	}
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
func (b *source) subscribe(in *inbox, key Key, epoch Epoch, members *set, anonymous bool, tell []*sub) {
	e := b.newEntry(key, members, epoch)
	b.lend(e, in, anonymous)
	b.recordEntry(e)
	for _, sub := range members.subs { // each by itself: order decides nothing
		sub.heard = epoch
	}
	b.install(e, true, nil, members.sorted(), tell)
}

// lend has an inbox here send from what an entry retains.
func (b *source) lend(e *entry, in *inbox, anonymous bool) {
	in.sequence = e.sequence
	e.inbox, e.anonymous = in, anonymous
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
