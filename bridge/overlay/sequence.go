package overlay

import "callboard/subscribe/protocol"

// sequence is what a broker keeps of a key: the notifications that its client has
// not acknowledged, and the set that names in them are of. A source retains it,
// an edge sends from it. Where both are one broker it is one: what waits for a
// client is kept, bounded, conflated and stored once.
type sequence struct {
	key       Key
	word      string // the key's source, to the client
	handle    Handle // in records; 0: not stored
	own       bool   // it is numbered here
	anonymous bool   // its client has no id and is attached here: it is not stored
	ended     bool   // no more comes: after what is here the client is told that the sequence has ended
	members   *set   // the session's if the edge is here, else the entry's
	buf       buffer
	points    setPoints // by which sets items were tested
	outside   uint64    // of an own one: the highest number that anyone beside this broker can know of
	inbox     *inbox    // that sends from it; nil: the edge is elsewhere

	asked    uint64 // changes of an own one's set that the matcher was told
	answered uint64 // of them
}

// newSequence returns one of which all up to num is acknowledged.
func (b *step) newSequence(k Key, members *set, num uint64) *sequence {
	return &sequence{key: k, word: SourceWord(k.Source, k.Stamp), members: members, buf: buffer{usage: &b.usage, num: num, last: num}}
}

// onlyLatest reports whether all subscriptions that the notification names keep
// the latest only.
func (b *step) onlyLatest(q *sequence, it *item) bool {
	if q.members.latest == 0 {
		return false
	}
	for n := range it.names {
		if sub := q.live(it.names[n].ID, it.revision); sub == nil || !sub.latest() {
			return false
		}
	}
	return true
}

// alive takes the names of subscriptions that have ended out of the item at
// index i and reports whether there are others.
func (b *step) alive(q *sequence, i int) bool {
	it := &q.buf.items[i]
	c := it.content
	if c.ends == q.members.ends {
		return len(c.names) > 0
	}
	if c.left == nil || c.left.ends != q.members.ends {
		names := q.liveNames(c.names, c.revision)
		if len(names) == len(c.names) {
			c.ends = q.members.ends
			return true
		}
		c.left = c.with(names, q.members.ends)
	}
	it.content = c.left
	return len(it.names) > 0
}

// pass passes the item at index i over: its numbers will be counted in skipped.
func (b *step) pass(q *sequence, i int) {
	it := q.buf.items[i]
	q.buf.kill(i)
	b.stats.Passed++
	if q.stored() && q.own {
		b.record(&PassedRecord{Handle: q.handle, From: it.from, To: it.to()})
	}
}

// stored reports whether the key outlives a crash: a client without id that is
// attached here does not.
func (q *sequence) stored() bool {
	return q.handle != 0 && !q.anonymous
}

// bound lets the newest item conflate what waits before it, and gives up the
// oldest that wait as far as the limits ask for it.
func (b *step) bound(q *sequence) {
	buf := &q.buf
	if q.members.latest > 0 {
		b.conflate(q, len(buf.items)-1)
		buf.trim()
	}
	b.note(q)
	for buf.count > b.cfg.Inbox.Count || buf.bytes > b.cfg.Inbox.Bytes {
		if !b.giveUp(q, WhyOverflow) {
			return
		}
	}
}

// giveUp makes the oldest notification that waits part of a gap, or passes it
// over if nobody wants it any more. It returns false if there is none.
func (b *step) giveUp(q *sequence, why Why) bool {
	i, ok := q.buf.oldestVictim()
	if !ok {
		return false
	}
	if !q.buf.items[i].gap() && !b.alive(q, i) {
		b.pass(q, i)
		q.buf.trim()
		return true
	}
	before := q.buf.count
	g, fresh, ok := q.buf.gapOldest(why)
	if ok {
		b.stats.Lost[why] += uint64(before - q.buf.count)
		b.recordGap(q, g, fresh)
	}
	return ok
}

func (b *step) recordGap(q *sequence, g item, fresh uint64) {
	if q.stored() && q.own {
		b.record(&GapRecord{Handle: q.handle, From: g.from, To: g.to(), New: fresh, Why: g.why})
	}
}

// expire gives up what has waited since before the given time.
func (b *step) expire(q *sequence, before Instant) {
	for {
		i, ok := q.buf.oldestVictim()
		if !ok || q.buf.items[i].at() >= before || !b.giveUp(q, WhyExpired) {
			return
		}
	}
}

// conflate takes the names of latest subscriptions in the item at index i out
// of the older item of the same device that waits.
func (b *step) conflate(q *sequence, i int) {
	buf := &q.buf
	it := &buf.items[i]
	if it.dead() || it.gap() {
		return
	}
	for n := range it.names {
		sub := q.live(it.names[n].ID, it.revision)
		if sub == nil || !sub.latest() {
			continue
		}
		d := kept{sub.ID, it.reading.device()}
		old, known := buf.newest[d]
		if buf.newest == nil {
			buf.newest = map[kept]uint64{}
		}
		buf.newest[d] = it.from
		if !known || old == it.from {
			continue
		}
		if j, found := buf.find(old); found && j >= buf.next && !buf.items[j].gap() {
			b.takeName(q, j, sub.ID)
		}
	}
}

// takeName takes a name out of the item at index i, which is shared with what
// has been sent: the others are copied.
func (b *step) takeName(q *sequence, i int, id string) {
	it := &q.buf.items[i]
	var kept []protocol.Matched
	for n := range it.names {
		if it.names[n].ID != id && q.live(it.names[n].ID, it.revision) != nil {
			kept = append(kept, it.names[n])
		}
	}
	b.stats.Conflated++
	if len(kept) == 0 {
		b.pass(q, i)
		return
	}
	if it.own == 0 {
		it.content = q.buf.share(kept, it.revision, it.ends, it.bytes)
	} else {
		it.content = it.content.with(kept, it.ends)
	}
}

// conflateAll conflates all that waits, and bounds it: the client has gone.
func (b *step) conflateAll(q *sequence) {
	buf := &q.buf
	buf.newest = nil
	if q.members.latest > 0 {
		for i := buf.next; i < len(buf.items); i++ {
			b.conflate(q, i)
		}
	}
	buf.trim()
	for buf.count > b.cfg.Inbox.Count || buf.bytes > b.cfg.Inbox.Bytes {
		if !b.giveUp(q, WhyOverflow) {
			return
		}
	}
}

// retire drops all up to num: A1.
func (b *step) retire(q *sequence, num uint64) {
	if num <= q.buf.num {
		return
	}
	q.buf.drop(num)
	q.outside = max(q.outside, num)
	if q.stored() {
		b.record(&AckedRecord{Handle: q.handle, Num: num})
	}
}

// live reports whether a name in an item of the given revision still is a
// subscription of the client: that of the set that it was tested by, if the
// source is here, and that at which it came, if it is elsewhere.
func (q *sequence) live(id string, revision uint64) *sub {
	sub := q.members.subs[id]
	if sub == nil || q.own && sub.born > revision || !q.own && sub.begun > revision {
		return nil
	}
	return sub
}

// liveNames leaves out the names that have ended. It returns the same slice if
// there are none, and nil if there are no others.
func (q *sequence) liveNames(names []protocol.Matched, revision uint64) []protocol.Matched {
	for i := range names {
		if q.live(names[i].ID, revision) != nil {
			continue
		}
		var kept []protocol.Matched
		for j := range names {
			if q.live(names[j].ID, revision) != nil {
				kept = append(kept, names[j])
			}
		}
		return kept
	}
	return names
}

// itemsOf returns what a buffer has of the numbers from…to, in order: items,
// gaps, and what was passed over between them.
func (b *step) itemsOf(q *sequence, from, to uint64) []Item {
	var items []Item
	passed := func(upTo uint64) {
		if from > upTo {
			return
		}
		if n := len(items); n > 0 && items[n-1].Kind == ItemPassed {
			items[n-1].To = upTo
		} else {
			items = append(items, Item{Kind: ItemPassed, From: from, To: upTo})
		}
		from = upTo + 1
	}
	buf := &q.buf
	if from <= min(buf.num, to) { // A1: not retained any more
		items = append(items, Item{Kind: ItemGap, From: from, To: min(buf.num, to), Why: whyAcknowledged})
		from = min(buf.num, to) + 1
	}
	at, _ := buf.find(from)
	for i := at; i < len(buf.items) && buf.items[i].from <= to; i++ {
		it := &buf.items[i]
		switch {
		case it.dead():
		case it.gap():
			passed(it.from - 1)
			items = append(items, Item{Kind: ItemGap, From: max(it.from, from), To: min(it.to(), to), Why: it.why})
			from = min(it.to(), to) + 1
		case q.liveNames(it.names, it.revision) == nil:
			passed(it.from)
		default:
			passed(it.from - 1)
			items = append(items, Item{
				Kind: ItemNotification, From: it.from, To: it.from, Reading: it.reading, Names: q.liveNames(it.names, it.revision), Set: q.points.at(it.from),
			})
			from = it.from + 1
		}
	}
	passed(to)
	return items
}
