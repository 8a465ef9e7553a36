package push

import (
	"errors"
	"net"
	"syscall"
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
	used  int
	batch batchWriter
}

// slot is one notification that waits for Flush.
type slot struct {
	session *session
	item    item
	buf     *scratch // its frame
	fd      uintptr
	n       int  // bytes that the kernel took; unknown
	held    bool // fd is held: it is not closed meanwhile
	hold    func(fd uintptr)
}

// unknown is how much of a frame is written when the kernel does not tell.
const unknown = -1

var errUnknown = errors.New("push: the kernel does not tell what it has written")

// socketOf gives a connection's socket, nil if it is not one of its own.
func socketOf(conn net.Conn) syscall.RawConn {
	if l, ok := conn.(*limitedConn); ok {
		conn = l.Conn
	}
	tcp, ok := conn.(*net.TCPConn)
	if !ok {
		return nil
	}
	raw, err := tcp.SyscallConn()
	if err != nil {
		return nil
	}
	return raw
}

// add takes a notification whose outbox is kept for it until Flush.
func (b *Burst) add(s *session, it item) {
	if b.slots == nil {
		b.slots = &[burstMost]slot{}
		for i := range b.slots {
			slot := &b.slots[i]
			slot.hold = func(fd uintptr) { // made once: it allocates
				slot.fd, slot.held = fd, true
				b.holdFrom(i + 1)
			}
		}
	}
	buf := s.server.buffers.get()
	buf.frames = buf.frames[:0]
	s.appendItem(buf, &it)
	slot := &b.slots[b.used]
	slot.session, slot.item, slot.buf = s, it, buf
	b.used++
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
		slot.session.server.buffers.put(slot.buf)
		slot.session, slot.item, slot.buf = nil, item{}, nil
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
func (b *Burst) Close() { b.batch.close() }

// burstWritten goes on with a connection after a burst.
func (s *session) burstWritten(slot *slot, now time.Time) {
	if slot.n == unknown { // to write on would tear a frame
		s.broken(errUnknown)
	}
	s.outbox.release(&slot.item, slot.buf.frames, slot.n)
	if slot.n <= 0 {
		return
	}
	s.notified(&slot.item, now)
	s.server.metrics.sentBytes.Add(float64(slot.n))
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
