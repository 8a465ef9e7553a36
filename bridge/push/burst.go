package push

import (
	"errors"
	"sync"
	"time"
)

// maxBurst is how many notifications are written together.
const maxBurst = 16

// burst gathers notifications for connections for which nothing waits, and writes
// them in the caller's goroutine, with one system call where there is one: to
// wake a goroutine for each subscriber costs more than the write, and a client
// that wakes at the first frame then holds up the others less.
type burst struct {
	mu    sync.Mutex
	slots *[maxBurst]slot // made when first needed
	batch *batchWriter    // with them
	used  int
}

// slot is one notification that waits for flush.
type slot struct {
	session *session
	item    item
	buf     scratch // its messages
	fd      uintptr
	n       int  // bytes that the kernel took; unknown
	held    bool // fd is held: it is not closed meanwhile
	hold    func(fd uintptr)
}

// unknown is how much of a frame is written when the kernel does not tell.
const unknown = -1

var errUnknown = errors.New("push: the kernel does not tell what it has written")

// add takes a notification: if the connection is free for it, until flush, else
// its writer has it.
func (b *burst) add(o *outbox, it item) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.used == maxBurst {
		b.write()
	}
	if !o.reserve() {
		o.Notify(it.notify, it.decoded)
		return
	}
	if b.slots == nil {
		b.slots, b.batch = &[maxBurst]slot{}, new(batchWriter)
		for i := range b.slots {
			slot := &b.slots[i]
			slot.hold = func(fd uintptr) { // made once: it allocates
				slot.fd, slot.held = fd, true
				b.holdFrom(i + 1)
			}
		}
	}
	slot := &b.slots[b.used]
	b.used++
	slot.session, slot.item = o.session, it
	slot.buf.begin(o.session.raw, nil, true)
	o.session.say(&slot.buf, &slot.item)
}

// whole puts what a slot has to write together.
func (s *slot) whole() []byte {
	s.buf.join()
	return s.buf.frames
}

// flush writes what was gathered as far as the sockets take it without
// waiting. The rest is left to the connections' own writers.
func (b *burst) flush() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.write()
}

// write is flush. b.mu is held.
func (b *burst) write() {
	if b.used == 0 {
		return
	}
	b.holdFrom(0)
	now := time.Now()
	for i := range b.used {
		slot := &b.slots[i]
		slot.session.burstWritten(slot, now)
		slot.session, slot.item, slot.buf.shared, slot.buf.tail = nil, item{}, nil, nil
		if !slot.buf.keep() {
			slot.buf = scratch{}
		}
	}
	b.used = 0
}

// holdFrom holds the sockets from i on, one within the other, and then writes
// to all.
func (b *burst) holdFrom(i int) {
	for ; i < b.used; i++ {
		slot := &b.slots[i]
		slot.n, slot.held = 0, false
		// Control and not Write: nobody else writes meanwhile (the outbox sees
		// to that), and what waits for the socket is left alone. What is wrong
		// with a connection the next ordinary write tells.
		_ = slot.session.raw.socket.Control(slot.hold)
		if slot.held {
			return // the others were held within
		}
	}
	b.batch.write(b.slots[:b.used])
}

// close returns what the system lent. flush may follow.
func (b *burst) close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.batch != nil {
		b.batch.close()
	}
}

// burstWritten goes on with a connection after a burst.
func (s *session) burstWritten(slot *slot, now time.Time) {
	if slot.n == unknown { // to write on would tear a frame
		s.broken(errUnknown)
	}
	length := slot.buf.length()
	var rest []byte
	if n := slot.n; n > 0 && n < length {
		rest = slot.whole()[n:]
	}
	s.outbox.release(&slot.item, slot.n == 0 && length > 0, rest)
	if slot.n < 0 || slot.n == 0 && length > 0 {
		return
	}
	s.raw.written.Add(int64(slot.n))
	s.notified(&slot.item, now)
	s.server.metrics.sentBytes.Add(slot.n)
	s.server.metrics.notifications.Inc()
}
