package overlay

import (
	"slices"

	"callboard/subscribe/protocol"
)

// inbox is what an edge broker keeps of one key for its client: it delivers
// in sequence, once, and keeps what the client has not acknowledged.
type inbox struct {
	key     Key
	word    string   // the key's source, to the client
	session *session // nil: the edge is elsewhere, and this is what the source broker retains
	members *set     // the session's, or the entry's
	handle  Handle   // in records; 0: not stored
	entry   *entry   // the key in the local registry; nil when its source is elsewhere, or it has been forgotten there
	buf     *buffer
	resumed uint64 // what the client had processed when it said hello
	told    uint64 // the highest number that the client has been told of on this connection
	ended   bool   // no more comes: after what is here the client is told that the sequence has ended
	endTold bool   // on this connection
	next    Stamp  // of the key that follows one that has ended; 0: not known
	far     *far   // of a key whose source is elsewhere
}

func (b *edge) addInbox(s *session, in *inbox) {
	b.use(in.key.Source)
	if _, awaited := s.awaits[in.key.Source]; s.roamed && !awaited && !s.follows(b, in.key.Source) {
		b.await(s, in.key.Source)
	}
	at, _ := slices.BinarySearchFunc(s.inboxes, in.key, func(in *inbox, k Key) int { return in.key.Compare(k) })
	s.inboxes = slices.Insert(s.inboxes, at, in)
}

// inboxOf gives the session's inbox of a source.
func (s *session) inboxOf(word string) *inbox {
	for _, in := range s.inboxes {
		if in.word == word {
			return in
		}
	}
	return nil
}

// leave ends a key here (U1 at the edge): its inbox goes, its entry in the
// local registry, and by unsubscribe what there is of it at others.
func (b *edge) leave(in *inbox) {
	if in.ended || !b.networked {
		b.dropKey(in)
		return
	}
	b.network.unsubscribeKey(b.cfg.ID, in.key, b.network.path(in.key.Source))
}

// dropKey takes an inbox away, and its key if it is in the local registry.
func (b *edge) dropKey(in *inbox) {
	if !in.ended {
		delete(b.network.routes, in.key)
	}
	b.dropInbox(in)
}

// dropInbox does so and leaves the route.
func (b *edge) dropInbox(in *inbox) {
	if s := in.session; s != nil {
		if at := slices.Index(s.inboxes, in); at >= 0 {
			s.inboxes = slices.Delete(s.inboxes, at, at+1)
			b.unuse(in.key.Source)
		}
	}
	if in.entry != nil {
		b.source.dropEarly(in.entry)
		b.source.remove(in.entry)
	}
	b.dropFar(in)
	in.buf.free()
}

// pump sends what waits, as far as the window goes.
func (b *edge) pump(in *inbox) {
	s, buf := in.session, in.buf
	if s == nil || s.conn == nil || !s.conn.ready {
		return
	}
	if in.told < buf.num && buf.num > 0 { // acknowledged once, and now asked for again
		b.tellGap(in, buf.num, whyAcknowledged)
	}
	for ; buf.next < len(buf.items); buf.next++ {
		it := &buf.items[buf.next]
		switch {
		case it.dead():
			continue
		case it.gap():
			if !b.mayTell(in) {
				return
			}
			b.tellGap(in, it.to(), it.why)
			buf.mergeSent()
			continue
		case !s.conn.rights.allow(it.reading.Robot) || !b.alive(in, buf.next):
			b.pass(in, buf.next)
			continue
		}
		if !b.mayGo(in, buf.next) {
			return
		}
		latest := b.onlyLatest(in, it)
		buf.send(latest)
		b.stats.Notified++
		b.put(&Notify{Conn: s.conn.id, Source: in.word, Seq: it.from, Skipped: it.from - in.told - 1, Reading: it.reading, Latest: latest, Subscriptions: it.names})
		in.tell(it.from)
	}
	if len(buf.newest) > 0 {
		clear(buf.newest) // nothing waits
	}
	if buf.dead > 0 {
		buf.trim()
	}
	if in.ended {
		b.tellEnd(in)
	}
}

// tell takes note that the client knows of all up to a number.
func (in *inbox) tell(to uint64) {
	in.told = to
	if in.entry != nil {
		in.entry.known = max(in.entry.known, to)
	}
}

// known is the highest number that this broker knows to have been given; for a
// key of its own, the highest that others can know of.
func (in *inbox) known() uint64 {
	if in.entry != nil {
		return in.entry.known
	}
	known := in.buf.last
	if f := in.far; f != nil {
		known = max(known, f.head)
		if n := len(f.held); n > 0 {
			known = max(known, f.held[n-1].To)
		}
	}
	return known
}

// knownOf is the highest number of a key that an edge here knows of; 0 without.
func (b *edge) knownOf(k Key) uint64 {
	if in := b.inboxOf(k); in != nil {
		return in.known()
	}
	return 0
}

// mayGo reports whether the notification at index i may go out: the window has
// room, and if only latest names it none of its device is out. What waits for
// that is conflated, so that the next one that goes is the newest.
func (b *edge) mayGo(in *inbox, i int) bool {
	buf, it := in.buf, &in.buf.items[i]
	if buf.flight.count == 0 {
		return true
	}
	if buf.flight.count >= in.session.conn.window || buf.flight.bytes+it.size() > b.windowBytes {
		return false
	}
	return !b.onlyLatest(in, it) || !buf.outstanding(it.reading.device())
}

// onlyLatest reports whether all subscriptions that the notification names keep
// the latest only.
func (b *step) onlyLatest(in *inbox, it *item) bool {
	if in.members.latest == 0 {
		return false
	}
	for n := range it.names {
		if sub := in.live(it.names[n].ID, it.revision); sub == nil || !sub.latest() {
			return false
		}
	}
	return true
}

// mayTell reports whether the gap that is next may go: only with what comes
// after it, since it may grow until then.
func (b *edge) mayTell(in *inbox) bool {
	i, ok := in.buf.waits(in.buf.next + 1)
	return !ok || in.buf.items[i].gap() || b.mayGo(in, i)
}

func (b *edge) tellGap(in *inbox, to uint64, why Why) {
	from := in.told + 1
	in.tell(to)
	b.stats.Gaps++
	b.send(in.session.conn.id, &protocol.Gap{Op: protocol.OpGap, Source: in.word, From: from, To: &to, Why: why.String()})
}

// tellEnd says that the sequence has ended and which follows it. Nothing more
// is kept of it but what the client has not acknowledged.
func (b *edge) tellEnd(in *inbox) {
	if !in.endTold {
		in.endTold = true
		b.stats.Gaps++
		gap := &protocol.Gap{Op: protocol.OpGap, Source: in.word, From: in.told + 1, Why: WhyLost.String()}
		if next := in.session.follower(in.key.Source); next != nil {
			gap.Next = next.word
		}
		b.send(in.session.conn.id, gap)
	}
	if in.buf.empty() {
		b.leave(in)
	}
}

// follower gives the live inbox of a source broker, nil if there is none.
func (s *session) follower(source BrokerID) *inbox {
	for _, in := range s.inboxes {
		if in.key.Source == source && !in.ended {
			return in
		}
	}
	return nil
}

// alive takes the names of subscriptions that have ended out of the item at
// index i and tells whether there are others.
func (b *step) alive(in *inbox, i int) bool {
	it := &in.buf.items[i]
	c := it.content
	if c.ends == in.members.ends {
		return len(c.names) > 0
	}
	if c.left == nil || c.left.ends != in.members.ends {
		names := in.liveNames(c.names, c.revision)
		if len(names) == len(c.names) {
			c.ends = in.members.ends
			return true
		}
		c.left = c.with(names, in.members.ends)
	}
	it.content = c.left
	return len(it.names) > 0
}

// pass passes the item at index i over: its numbers will be counted in skipped.
func (b *step) pass(in *inbox, i int) {
	it := in.buf.items[i]
	in.buf.kill(i)
	b.stats.Passed++
	if in.stored() && in.entry != nil {
		b.record(&PassedRecord{Handle: in.handle, From: it.from, To: it.to()})
	}
}

// stored tells whether the key outlives a crash: a client without id that is
// attached here does not.
func (in *inbox) stored() bool {
	return in.handle != 0 && (in.session == nil || !in.session.anonymous)
}

// bound lets the newest item conflate what waits before it, and gives up the
// oldest that wait as far as the limits ask for it.
func (b *step) bound(in *inbox) {
	buf := in.buf
	if in.members.latest > 0 {
		b.conflate(in, len(buf.items)-1)
		buf.trim()
	}
	b.note(in)
	for buf.count > b.cfg.Inbox.Count || buf.bytes > b.cfg.Inbox.Bytes {
		if !b.giveUp(in, WhyOverflow) {
			return
		}
	}
}

// giveUp makes the oldest notification that waits part of a gap, or passes it
// over if nobody wants it any more. It gives false if there is none.
func (b *step) giveUp(in *inbox, why Why) bool {
	i, ok := in.buf.oldestVictim()
	if !ok {
		return false
	}
	if !in.buf.items[i].gap() && !b.alive(in, i) {
		b.pass(in, i)
		in.buf.trim()
		return true
	}
	before := in.buf.count
	g, fresh, ok := in.buf.gapOldest(why)
	if ok {
		b.stats.Lost[why] += uint64(before - in.buf.count)
		b.recordGap(in, g, fresh)
	}
	return ok
}

func (b *step) recordGap(in *inbox, g item, fresh uint64) {
	if in.stored() && in.entry != nil {
		b.record(&GapRecord{Handle: in.handle, From: g.from, To: g.to(), New: fresh, Why: g.why})
	}
}

// expire gives up what has waited since before the given time.
func (b *step) expire(in *inbox, before Instant) {
	for {
		i, ok := in.buf.oldestVictim()
		if !ok || in.buf.items[i].at() >= before || !b.giveUp(in, WhyExpired) {
			return
		}
	}
}

// conflate takes the names of latest subscriptions in the item at index i out
// of the older item of the same device that waits.
func (b *step) conflate(in *inbox, i int) {
	buf := in.buf
	it := &buf.items[i]
	if it.dead() || it.gap() {
		return
	}
	for n := range it.names {
		sub := in.live(it.names[n].ID, it.revision)
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
			b.takeName(in, j, sub.ID)
		}
	}
}

// takeName takes a name out of the item at index i, which is shared with what
// has been sent: the others are copied.
func (b *step) takeName(in *inbox, i int, id string) {
	it := &in.buf.items[i]
	var kept []protocol.Matched
	for n := range it.names {
		if it.names[n].ID != id && in.live(it.names[n].ID, it.revision) != nil {
			kept = append(kept, it.names[n])
		}
	}
	b.stats.Conflated++
	if len(kept) == 0 {
		b.pass(in, i)
		return
	}
	if it.own == 0 {
		it.content = in.buf.share(kept, it.revision, it.ends, it.bytes)
	} else {
		it.content = it.content.with(kept, it.ends)
	}
}

// conflateAll conflates all that waits, and bounds it: the client has gone.
func (b *step) conflateAll(in *inbox) {
	buf := in.buf
	buf.newest = nil
	if in.members.latest > 0 {
		for i := buf.next; i < len(buf.items); i++ {
			b.conflate(in, i)
		}
	}
	buf.trim()
	for buf.count > b.cfg.Inbox.Count || buf.bytes > b.cfg.Inbox.Bytes {
		if !b.giveUp(in, WhyOverflow) {
			return
		}
	}
}

// ack takes the client's acknowledgement of all up to a number.
func (b *edge) ack(a *Ack) {
	s := b.attached(a.Conn, "")
	if s == nil {
		return
	}
	in := s.inboxOf(a.Source)
	if in == nil {
		if _, _, err := ParseSourceWord(a.Source); err != nil {
			b.fail(a.Conn, "", protocol.BadMessage, "ack: %v", err)
		}
		return // of a sequence that has ended
	}
	if a.Num > in.buf.last {
		b.fail(a.Conn, "", protocol.BadMessage, "ack: num is %d, but the last of source %s is %d", a.Num, in.word, in.buf.last)
		return
	}
	b.acknowledge(in, a.Num)
	b.pump(in)
}

// acknowledge drops all up to num: A1.
func (b *edge) acknowledge(in *inbox, num uint64) {
	if num <= in.buf.num {
		return
	}
	in.buf.drop(num)
	in.tell(max(in.told, num))
	if in.stored() {
		b.record(&AckedRecord{Handle: in.handle, Num: num})
	}
	if in.far != nil {
		b.drain(in)
	}
}
