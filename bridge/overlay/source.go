package overlay

import (
	"slices"

	"callboard/subscribe/protocol"
)

// entry is a key in the local registry of this source broker: a set that
// readings are tested against, and the sequence of what matched.
type entry struct {
	handle    Handle
	key       Key
	session   *session // its client's, if the edge is here
	members   *set     // the session's if the edge is here, else its own
	inbox     *inbox
	buf       *buffer // what is retained. If the edge is here it is the inbox's too
	epoch     Epoch
	set       uint64 // the newest Install.Set: the revision of the set
	installed uint64 // readings tested by sets up to this one may be numbered
	asked     uint64 // Installs given out
	answered  uint64 // of them
	next      uint64 // the seq to give next
	seen      Instant
	sets      setPoints // by Install.Set, those that numbers are still given by
	points    setPoints // by number
	trues     trueStates
	quiet     bool   // nothing was sent since the last refresh (A2)
	sent      uint64 // the highest number that has gone to another broker
	known     uint64 // the highest number that anyone beside this broker can know of: a higher one is of what its store has lost

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

// outlive sees that keys made from now on are others than one that has ended.
func (b *source) outlive(k Key) {
	if k.Stamp >= b.stamp {
		b.stamp = k.Stamp
		b.newStamp()
	}
}

// enter makes a key for the session at this source broker (S7) with the whole
// set; the matcher is asked how many robots match those of tell.
func (b *source) enter(s *session, tell []*sub) {
	key := Key{Client: s.client, Session: s.birth, Source: b.cfg.ID, Stamp: b.stamp}
	if b.network.isDead(key) { // its session ended, and is said again
		b.outlive(key)
		key.Stamp = b.stamp
	}
	if e := b.home(key); e != nil {
		if e.session == nil && e.epoch.Compare(s.epoch) < 0 {
			b.adopt(e, s, 0, tell)
		} else if e.session == nil { // S1
			b.edge.attachedElsewhere(s, e.epoch)
		}
		return
	}
	e := b.newEntry(key, s.set, s.epoch)
	e.session, e.inbox.session, s.local = s, s, e
	b.edge.addInbox(s, e.inbox)
	b.network.routes[key] = &route{key: key, epoch: s.epoch, down: b.cfg.ID, hash: s.hash}
	b.recordEntry(e)
	b.install(e, true, nil, s.sorted(), tell)
}

// home gives the live key here of a key's session, whatever its stamp; nil if
// there is none.
func (b *source) home(k Key) *entry {
	k.Stamp = 0
	if e := b.homes[k]; e != nil && !e.inbox.ended {
		return e
	}
	return nil
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
	e := &entry{handle: b.lastHandle, key: key, members: members, epoch: epoch, set: epoch.Revision, next: 1, seen: b.now}
	e.buf = &buffer{usage: &b.usage}
	e.inbox = &inbox{key: key, word: SourceWord(key.Source, key.Stamp), members: members, handle: e.handle, entry: e, buf: e.buf}
	e.sets.add(e.set, epoch)
	b.index(e)
	return e
}

// newSetOf counts a change of the set.
func (b *source) newSetOf(e *entry) {
	e.set = max(e.set+1, e.epoch.Revision)
	e.sets.add(e.set, e.epoch)
}

// takeIn takes a change of the set (S7). The change is a point in the
// sequence: see installed.
func (b *source) takeIn(e *entry, drop []string, put, tell []*sub) {
	e.epoch = e.session.epoch
	if r := b.network.routes[e.key]; r != nil {
		r.epoch, r.hash = e.epoch, e.members.hash
	}
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
	if e.inbox.stored() {
		b.record(&EntryRecord{
			Handle: e.handle, Key: e.key, Epoch: e.epoch, Set: e.set, Next: e.next, Num: e.buf.num, Ended: e.inbox.ended, Own: e.session == nil,
		})
	}
}

// remove takes a key out of the local registry, with all it retained.
func (b *source) remove(e *entry) {
	delete(b.entries, e.handle)
	b.usage.keys--
	if b.keys[e.key] == e {
		delete(b.keys, e.key)
	}
	k := e.key
	if k.Stamp = 0; b.homes[k] == e {
		delete(b.homes, k)
	}
	if s := e.session; s == nil {
		b.freeSet(e.members)
	} else if s.local == e {
		s.local = nil
	}
	if !e.inbox.ended {
		b.put(&Uninstall{Handle: e.handle})
	}
	if e.inbox.stored() {
		b.record(&EntryEnded{Handle: e.handle})
	}
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
		if e == nil || e.inbox.ended {
			b.stats.Stray++ // the key has ended while the reading was tested
			continue
		}
		names := e.inbox.liveNames(hit.Names, hit.Set)
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
		b.lose(e.inbox, seq, seq)
		return given
	}
	if e.inbox.stored() {
		if given == nil {
			given = b.newGiven(r)
		}
		given.Hits = append(given.Hits, GivenHit{Handle: e.handle, Seq: seq, Revision: revision, Names: names})
	}
	e.buf.push(seq, r, e.buf.share(names, revision, e.members.ends, namesSize(names)), b.now)
	b.sendDown(e, r, newHit(e.key, seq, e.points.at(seq), names))
	b.edge.pump(e.inbox)
	if e.buf.next < len(e.buf.items) {
		b.bound(e.inbox)
	}
	return given
}

// lose declares numbers that were given but cannot be held.
func (b *source) lose(in *inbox, from, to uint64) {
	b.stats.Lost[WhyOverflow] += to - from + 1
	g := in.buf.pushGap(from, to, WhyOverflow, b.now)
	b.recordGap(in, g, from)
	if in.session == nil && in.entry != nil {
		in.entry.quiet, in.entry.known = false, to
		b.network.towards(in.key, []Item{{Kind: ItemGap, From: from, To: to, Why: WhyOverflow}}, "")
	}
	b.edge.pump(in)
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
		b.lose(e.inbox, from, e.next-1)
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
		if names := e.inbox.liveNames(w.names, w.set); len(names) > 0 {
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

// adopt brings a key home whose client has attached here (S5, or S4 after a
// crash): what the source retains becomes its inbox.
func (b *source) adopt(e *entry, s *session, num uint64, tell []*sub) {
	drop, put := b.moveHere(e, s)
	e.buf.unsend()
	b.edge.acknowledge(e.inbox, num)
	e.inbox.told, e.inbox.resumed = e.buf.num, e.buf.num
	r := b.network.routes[e.key]
	if r == nil {
		r = &route{key: e.key}
		b.network.routes[e.key] = r
	}
	old := r.down
	r.down, r.up, r.rest = b.cfg.ID, "", nil
	b.takeIn(e, drop, put, tell)
	if old != "" && old != b.cfg.ID {
		b.network.fetch(old, e.key, r.epoch, e.buf.num, FetchID{}, "")
	}
}
