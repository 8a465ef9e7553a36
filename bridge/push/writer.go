package push

import (
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"callboard/subscribe/protocol"
)

const (
	flushAt   = 64 << 10  // bytes that are gathered for one write
	keepBelow = 256 << 10 // larger buffers are not kept
	keepItems = 64        // longer queues are not kept
	stallFrom = time.Second
)

// buffers are shared by all sessions: idle ones hold none.
type buffers struct{ pool sync.Pool }

// maxIdleWriters is how many goroutines wait for something to write. As many write as
// there are clients for whom something waits.
const maxIdleWriters = 128

// writers are the goroutines that write. One that has written a client's waits for
// the next one's: to begin anew costs more, for a goroutine and its stack.
type writers struct {
	next chan *session
	idle atomic.Int32
	end  <-chan struct{} // closed when none is to wait any more
}

// start has a goroutine write what a session's outbox holds.
func (w *writers) start(s *session) {
	select {
	case w.next <- s:
	default:
		go w.run(s)
	}
}

func (w *writers) run(s *session) {
	for {
		s.write()
		if w.idle.Add(1) > maxIdleWriters {
			w.idle.Add(-1)
			return
		}
		select {
		case s = <-w.next:
			w.idle.Add(-1)
		case <-w.end:
			return
		}
	}
}

// messages are the buffers that messages of clients are read into.
type messages struct{ pool sync.Pool }

func (m *messages) get() *[]byte {
	if b, ok := m.pool.Get().(*[]byte); ok {
		return b
	}
	b := make([]byte, 0, 512)
	return &b
}

func (m *messages) put(b *[]byte) {
	if cap(*b) <= flushAt {
		m.pool.Put(b)
	}
}

// queue is what waits in an outbox. Empty ones are shared by all.
type queue struct{ items []item }

var queues = sync.Pool{New: func() any { return new(queue) }}

// release shares a queue whose items have been written.
func (q *queue) release() {
	if q == nil || cap(q.items) > keepItems {
		return
	}
	clear(q.items)
	q.items = q.items[:0]
	queues.Put(q)
}

// scratch is what is to be written. It is the attach.Messages of who writes.
type scratch struct {
	frames  []byte
	payload []byte    // of the message that is to be compressed
	deflate *deflater // nil: messages go out as they are
	gather  bool      // the last message may be left in parts
	binary  bool      // the message that has begun is
	from    int       // where it begins in frames
	shared  []byte    // comes behind frames, and then
	tail    []byte
}

// begin makes it ready for what goes out on a connection.
func (s *scratch) begin(c *rawConn, d *deflater, gather bool) {
	s.frames, s.gather, s.deflate = s.frames[:0], gather, nil
	if c.deflate {
		s.deflate = d
	}
}

// Begin implements attach.Messages.
func (s *scratch) Begin(binary bool) []byte {
	s.join()
	s.binary, s.from = binary, len(s.frames)
	s.frames = beginFrame(s.frames)
	if s.deflate != nil {
		return s.payload[:0]
	}
	return s.frames
}

// op is the opcode of the message that has begun.
func (s *scratch) op() byte {
	if s.binary {
		return opBinary
	}
	return opText
}

// End implements attach.Messages.
func (s *scratch) End(payload []byte) {
	first := s.op()
	switch {
	case s.deflate == nil:
		s.frames = payload
	case len(payload) >= deflateLeast:
		first |= rsv1Bit
		s.payload, s.frames = payload, s.deflate.append(s.frames, payload)
	default:
		s.payload, s.frames = payload, append(s.frames, payload...)
	}
	s.frames = endFrame(s.frames, s.from, first)
}

// EndWith implements attach.Messages.
func (s *scratch) EndWith(payload, shared, tail []byte) {
	if !s.gather || s.deflate != nil {
		s.End(append(append(payload, shared...), tail...))
		return
	}
	s.frames = endFrameBefore(payload, s.from, s.op(), len(shared)+len(tail))
	s.shared, s.tail = shared, tail
}

// join puts a message that was left in parts together.
func (s *scratch) join() {
	if s.shared != nil {
		s.frames = append(append(s.frames, s.shared...), s.tail...)
		s.shared, s.tail = nil, nil
	}
}

// length is how many bytes are to be written.
func (s *scratch) length() int { return len(s.frames) + len(s.shared) + len(s.tail) }

func (b *buffers) get() *scratch {
	if s, ok := b.pool.Get().(*scratch); ok {
		return s
	}
	return &scratch{frames: make([]byte, 0, flushAt+flushAt/4)}
}

func (b *buffers) put(s *scratch) {
	if s.keep() {
		b.pool.Put(s)
	}
}

// keep reports whether it is small enough to be kept.
func (s *scratch) keep() bool {
	return cap(s.frames) <= keepBelow && cap(s.payload) <= keepBelow
}

// write writes what the outbox holds until nothing waits. It has the turn.
func (s *session) write() {
	for {
		b, ok := s.outbox.take()
		if !ok {
			return
		}
		err := s.writeBatch(b)
		b.queue.release()
		switch {
		case err != nil:
			s.broken(err)
		case b.end != nil:
			s.awaitClose()
		default:
			continue
		}
		s.outbox.stop()
		return
	}
}

// broken ends a session whose socket cannot be written to.
func (s *session) broken(err error) {
	reason := "lost"
	if errors.Is(err, errStalled) {
		reason = "stalled"
	}
	s.outbox.finish(ending{reason: reason})
	s.raw.Close()
	s.cancel()
}

// writeBatch writes a batch in as few system calls as its size allows.
func (s *session) writeBatch(b batch) error {
	buf := s.server.buffers.get()
	defer s.server.buffers.put(buf)
	buf.begin(s.raw, &s.server.deflater, false)
	buf.frames = append(buf.frames, b.rest...)
	from, items, m := 0, b.items(), s.server.metrics
	for i := range items {
		s.say(buf, &items[i])
		if len(buf.frames) >= flushAt {
			if err := s.flush(buf, items[from:i+1]); err != nil {
				return err
			}
			from = i + 1
		}
	}
	if b.heartbeat != nil {
		s.speaker.Send(buf, b.heartbeat)
		m.sent.Of(protocol.OpHeartbeat).Inc()
	}
	if b.pong != nil {
		buf.frames = appendControl(buf.frames, opPong, b.pong)
	}
	if b.ping != nil {
		buf.frames = appendControl(buf.frames, opPing, b.ping)
	}
	if b.end != nil && b.end.status != 0 {
		buf.frames = appendClose(buf.frames, b.end.status, b.end.text)
	}
	return s.flush(buf, items[from:])
}

// say has the client's dialect say something.
func (s *session) say(to *scratch, it *item) {
	if it.message != nil {
		s.speaker.Send(to, it.message)
	} else {
		s.speaker.Notify(to, &it.notify)
	}
}

// flush writes the frames, which hold these items, and accounts for them.
func (s *session) flush(buf *scratch, items []item) error {
	m, now := s.server.metrics, time.Now()
	if len(buf.frames) > 0 { // a dialect may have nothing to say of what it is told
		began := now
		err := s.raw.writeAll(buf.frames, s.server.config.StallTimeout)
		if now = time.Now(); now.Sub(began) > stallFrom {
			m.stalls.Inc()
		}
		if err != nil {
			return err
		}
	}
	m.sentBytes.Add(len(buf.frames))
	buf.frames = buf.frames[:0]
	notifications, replies := 0, 0
	for i := range items {
		it := &items[i]
		if it.message != nil {
			replies++
			m.told(it.message)
			continue
		}
		notifications++
		s.notified(it, now)
	}
	if notifications > 0 {
		m.notifications.Add(notifications)
	}
	s.outbox.wrote(replies)
	return nil
}

// notified accounts for a notification that was written.
func (s *session) notified(it *item, now time.Time) {
	if !it.decoded.IsZero() {
		s.server.metrics.delivery.Update(max(0, now.Sub(it.decoded).Seconds())) // the clock may have been set back
	}
	if s.anonymous.Load() {
		s.owe(&it.notify)
	}
}
