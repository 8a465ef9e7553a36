package push

import (
	"context"
	"errors"
	"sync"
	"time"

	"callboard/subscribe/protocol"
)

const (
	flushAt   = 64 << 10  // bytes that are gathered for one write
	keepBelow = 256 << 10 // larger buffers are not kept
	keepItems = 64        // longer queues are not kept
	stallFrom = time.Second
)

// buffers are shared by all writers: idle sessions hold none.
type buffers struct{ pool sync.Pool }

// scratch is what a writer needs while it writes.
type scratch struct{ frames, payload, text []byte }

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

// keep tells whether it is small enough to be kept.
func (s *scratch) keep() bool {
	return cap(s.frames) <= keepBelow && cap(s.payload) <= keepBelow && cap(s.text) <= keepBelow
}

// write writes what the outbox holds until the connection ends.
func (s *session) write(ctx context.Context) {
	defer s.outbox.stop()
	tick := time.NewTicker(s.server.config.PingInterval)
	defer tick.Stop()
	defer s.ackDue.Stop()
	var spare []item
	var ping []byte // to be sent; nil: none
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.ackDue.C:
			ask := s.settle(ctx)
			if ask == nil {
				continue
			}
			ping = ask
		case <-s.outbox.wake:
		case <-tick.C:
			if ping == nil {
				ping = []byte{}
			}
		}
		b, ok := s.outbox.take(spare)
		if !ok {
			continue
		}
		err := s.writeBatch(ctx, b, ping)
		if err != nil {
			s.broken(err)
			return
		}
		s.outbox.written()
		ping = nil
		if b.end != nil {
			s.awaitClose()
			return
		}
		spare = reuse(b.items)
	}
}

// reuse forgets what a queue refers to.
func reuse(items []item) []item {
	if cap(items) > keepItems {
		return nil
	}
	clear(items)
	return items
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
func (s *session) writeBatch(ctx context.Context, b batch, ping []byte) error {
	buf := s.server.buffers.get()
	defer s.server.buffers.put(buf)
	buf.frames = append(buf.frames[:0], b.rest...)
	from, m := 0, s.server.metrics
	for i := range b.items {
		s.appendItem(buf, &b.items[i])
		if len(buf.frames) >= flushAt {
			if err := s.flush(ctx, buf, b.items[from:i+1]); err != nil {
				return err
			}
			from = i + 1
		}
	}
	if b.heartbeat != nil {
		s.appendItem(buf, &item{message: b.heartbeat})
		m.sent.Of(protocol.OpHeartbeat).Inc()
	}
	if b.pong != nil {
		buf.frames = appendControl(buf.frames, opPong, b.pong)
	}
	if ping != nil {
		buf.frames = appendControl(buf.frames, opPing, ping)
	}
	if b.end != nil && b.end.status != 0 {
		buf.frames = appendClose(buf.frames, b.end.status, b.end.text)
	}
	return s.flush(ctx, buf, b.items[from:])
}

// appendItem appends one message as a frame.
func (s *session) appendItem(buf *scratch, it *item) {
	from := len(buf.frames)
	buf.frames = beginFrame(buf.frames)
	first := byte(opText)
	switch {
	case s.cbor:
		first = opBinary
		buf.text = appendItemExact(buf.text[:0], it)
		if s.raw.deflate {
			buf.payload = appendCBOR(buf.payload[:0], buf.text)
		} else {
			buf.frames = appendCBOR(buf.frames, buf.text)
		}
	case s.raw.deflate:
		buf.payload = appendItemJSON(buf.payload[:0], it)
	default:
		buf.frames = appendItemJSON(buf.frames, it)
	}
	if s.raw.deflate {
		if len(buf.payload) >= deflateLeast {
			first |= rsv1Bit
			buf.frames = s.server.deflater.append(buf.frames, buf.payload)
		} else {
			buf.frames = append(buf.frames, buf.payload...)
		}
	}
	buf.frames = endFrame(buf.frames, from, first)
}

func appendItemJSON(dst []byte, it *item) []byte {
	if it.message == nil {
		return protocol.AppendNotify(dst, &it.notify)
	}
	from := len(dst)
	dst = appendMessage(dst, it.message)
	return append(dst[:from], protocol.Plain(dst[from:])...)
}

// appendItemExact appends what CBOR is made of.
func appendItemExact(dst []byte, it *item) []byte {
	if it.message == nil {
		return protocol.AppendNotifyExact(dst, &it.notify)
	}
	return appendMessage(dst, it.message)
}

// flush writes the frames, which hold these items, and accounts for them.
func (s *session) flush(ctx context.Context, buf *scratch, items []item) error {
	if len(buf.frames) == 0 {
		return nil
	}
	m, began := s.server.metrics, time.Now()
	err := s.raw.writeAll(buf.frames, s.server.config.StallTimeout)
	now := time.Now()
	if now.Sub(began) > stallFrom {
		m.stalls.Inc()
	}
	if err != nil {
		return err
	}
	m.sentBytes.Add(len(buf.frames))
	buf.frames = buf.frames[:0]
	notifications, replies := 0, 0
	for i := range items {
		it := &items[i]
		if it.message != nil {
			replies++
			m.sent.Of(op(it.message)).Inc()
			if e, ok := it.message.(*protocol.Error); ok {
				m.problem(e.Code)
			}
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
