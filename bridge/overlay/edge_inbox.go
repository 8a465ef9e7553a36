package overlay

import (
	"slices"

	"callboard/subscribe/protocol"
)

// inbox is what an edge broker keeps of one key for its client: it delivers
// in sequence, once, and keeps what the client has not acknowledged.
type inbox struct {
	*sequence
	session *session
	resumed uint64 // what the client had processed when it said hello
	told    uint64 // the highest number that the client has been told of on this connection
	endTold bool   // that the sequence has ended it was told on this connection
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
	if in.far != nil {
		s.heardOf(in.key.Source, Epoch{}) // of no set yet
	}
}

// inboxOf returns the session's inbox of a source.
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
		b.network.dropRoute(in.key)
	}
	b.dropInbox(in)
}

// dropInbox does so and leaves the route.
func (b *edge) dropInbox(in *inbox) {
	s := in.session
	if at := slices.Index(s.inboxes, in); at >= 0 {
		s.inboxes = slices.Delete(s.inboxes, at, at+1)
		b.unuse(in.key.Source)
	}
	if s.local == in {
		s.local = nil
	}
	if in.own {
		b.source.unsubscribe(in.sequence)
		return
	}
	b.dropFar(in)
	in.buf.free()
}

// pump sends what waits, as far as the window goes.
func (b *edge) pump(in *inbox) {
	s, buf := in.session, &in.buf
	if s.conn == nil || !s.conn.ready {
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
		case !s.conn.rights.allow(it.reading.Robot) || !b.alive(in.sequence, buf.next):
			b.pass(in.sequence, buf.next)
			continue
		}
		if !b.mayGo(in, buf.next) {
			return
		}
		latest := b.onlyLatest(in.sequence, it)
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
	in.outside = max(in.outside, to)
}

// known is the highest number that this broker knows to have been given; for a
// key of its own, the highest that others can know of.
func (in *inbox) known() uint64 {
	if in.own {
		return in.outside
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
	buf, it := &in.buf, &in.buf.items[i]
	if buf.flight.count == 0 {
		return true
	}
	if buf.flight.count >= in.session.conn.window || buf.flight.bytes+it.size() > b.windowBytes {
		return false
	}
	return !b.onlyLatest(in.sequence, it) || !buf.outstanding(it.reading.device())
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

// follower returns the live inbox of a source broker, nil if there is none.
func (s *session) follower(source BrokerID) *inbox {
	for _, in := range s.inboxes {
		if in.key.Source == source && !in.ended {
			return in
		}
	}
	return nil
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
	b.retire(in.sequence, num)
	in.told = max(in.told, num)
	if in.far != nil {
		b.drain(in)
	}
}
