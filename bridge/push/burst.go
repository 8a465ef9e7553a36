package push

import (
	"errors"
	"time"

	"callboard/subscribe/protocol"
)

// burstMost is how many notifications are written together.
const burstMost = 16

// Burst gathers the notifications of one step for connections for which
// nothing waits, and writes them in the caller's goroutine, with one system
// call where there is one: to wake a goroutine for each subscriber costs more
// than the write, and a client that wakes at the first frame then holds up the
// others less. Its zero value is ready. It is for one goroutine at a time.
type Burst struct {
	slots *[burstMost]slot // made when first needed
	batch *batchWriter     // with them
	used  int
}

// slot is one notification that waits for Flush.
type slot struct {
	session *session
	item    item
	buf     scratch // its frame, or what comes of that before
	reading []byte  // which is shared, and not copied for each; nil: all is in buf
	fd      uintptr
	n       int  // bytes that the kernel took; unknown
	held    bool // fd is held: it is not closed meanwhile
	hold    func(fd uintptr)
}

// unknown is how much of a frame is written when the kernel does not tell.
const unknown = -1

var errUnknown = errors.New("push: the kernel does not tell what it has written")

// add takes a notification whose outbox is kept for it until Flush.
func (b *Burst) add(s *session, it item) {
	if b.slots == nil {
		b.slots, b.batch = &[burstMost]slot{}, new(batchWriter)
		for i := range b.slots {
			slot := &b.slots[i]
			slot.hold = func(fd uintptr) { // made once: it allocates
				slot.fd, slot.held = fd, true
				b.holdFrom(i + 1)
			}
		}
	}
	slot := &b.slots[b.used]
	slot.session, slot.item = s, it
	slot.buf.frames = slot.buf.frames[:0]
	if s.cbor || it.notify.Reading == nil {
		s.appendItem(&slot.buf, &it)
	} else {
		slot.reading = protocol.Plain(it.notify.Reading)
		slot.buf.frames = appendHead(slot.buf.frames, it.notify, len(slot.reading))
	}
	b.used++
}

// behind is what comes behind the reading of a notification.
var behind = []byte("}")

// appendHead appends the frame of a notification up to its reading of so many
// bytes, which comes last.
func appendHead(dst []byte, n protocol.Notify, reading int) []byte {
	from := len(dst)
	n.Reading = nil
	dst = protocol.AppendNotify(beginFrame(dst), &n)
	dst = append(dst[:len(dst)-len(behind)], `,"reading":`...)
	return endFrameBefore(dst, from, opText, reading+len(behind))
}

// length gives the bytes of a slot's frame.
func (s *slot) length() int {
	if s.reading == nil {
		return len(s.buf.frames)
	}
	return len(s.buf.frames) + len(s.reading) + len(behind)
}

// whole puts a slot's frame together.
func (s *slot) whole() []byte {
	if s.reading != nil {
		s.buf.frames = append(append(s.buf.frames, s.reading...), behind...)
		s.reading = nil
	}
	return s.buf.frames
}

// Flush writes what was gathered as far as the sockets take it without
// waiting. The rest is left to the connections' own writers.
func (b *Burst) Flush() {
	if b.used == 0 {
		return
	}
	b.holdFrom(0)
	now := time.Now()
	for i := range b.used {
		slot := &b.slots[i]
		slot.session.burstWritten(slot, now)
		slot.session, slot.item, slot.reading = nil, item{}, nil
		if !slot.buf.keep() {
			slot.buf = scratch{}
		}
	}
	b.used = 0
}

// holdFrom holds the sockets from i on, one within the other, and then writes
// to all.
func (b *Burst) holdFrom(i int) {
	for ; i < b.used; i++ {
		slot := &b.slots[i]
		slot.n, slot.held = 0, false
		// Control and not Write: nobody else writes meanwhile (the outbox sees
		// to that), and what waits for the socket is left alone. What is wrong
		// with a connection the next ordinary write tells.
		_ = slot.session.socket.Control(slot.hold)
		if slot.held {
			return // the others were held within
		}
	}
	b.batch.write(b.slots[:b.used])
}

// Close gives back what the system lent. Flush may follow.
func (b *Burst) Close() {
	if b.batch != nil {
		b.batch.close()
	}
}

// burstWritten goes on with a connection after a burst.
func (s *session) burstWritten(slot *slot, now time.Time) {
	if slot.n == unknown { // to write on would tear a frame
		s.broken(errUnknown)
	}
	var rest []byte
	if n := slot.n; n > 0 && n < slot.length() {
		rest = slot.whole()[n:]
	}
	s.outbox.release(&slot.item, slot.n == 0, rest)
	if slot.n <= 0 {
		return
	}
	s.raw.written.Add(int64(slot.n))
	s.notified(&slot.item, now)
	s.server.metrics.sentBytes.Add(slot.n)
	s.server.metrics.notifications.Inc()
}

// NotifyWith implements Outbox.
func (o *outbox) NotifyWith(b *Burst, n protocol.Notify, decoded time.Time) {
	if b.used == burstMost {
		b.Flush()
	}
	if !o.reserve() {
		o.Notify(n, decoded)
		return
	}
	b.add(o.burst, item{notify: n, decoded: decoded})
}
