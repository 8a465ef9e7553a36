package server

import (
	"errors"
	"io"
	"log/slog"
	"sync"
	"time"

	"callboard/player"
	"callboard/player/iface"
	"callboard/player/listener"
)

// Bounds of what one client may have outstanding before no more is read from
// it. Stock clients have one request outstanding.
const (
	maxPending    = 64      // requests at drivers
	maxReplies    = 1024    // replies not yet written
	maxReplyBytes = 4 << 20 // the same in bytes
)

// conn is one client: a goroutine that reads its messages and one that writes
// what is due from its queue.
type conn struct {
	server  *Server
	nc      *listener.Conn
	log     *slog.Logger
	subs    map[uint32]*subscription // of the reading goroutine
	body    []byte                   // of the reading goroutine, used again
	busy    bool                     // of the reading goroutine: it has a device open, and does not give way
	command Call                     // of the reading goroutine: the one that a Relay is handed, used again
	checked map[*iface.Message]any   // of the reading goroutine: where bodies for a Relay are decoded to be checked

	mu       sync.Mutex
	wake     sync.Cond // the writer waits for something due
	capacity sync.Cond // the reader waits for fewer outstanding requests
	q        queue
	pending  map[*Call]struct{} // at drivers
	opening  *subscription      // being opened: its readings are held back until the ACK
	held     []*message
	crowded  bool       // see WaitRoom
	draining bool       // nothing more is read; replies are still written
	direct   *direct    // nil: only the writing goroutine writes
	writing  bool       // the writing goroutine is at it
	rest     []byte     // is to be written before anything else
	batch    []*message // of flush, used again
	flushed  time.Time  // when flush wrote readings
	pacing   bool       // the pacer will call signal
	over     bool       // nothing more is written
}

func newConn(s *Server, nc *listener.Conn) *conn {
	c := &conn{
		server: s, nc: nc,
		log:     s.log.With(slog.String("client", nc.RemoteAddr().String()), slog.Uint64("port", uint64(s.port))),
		subs:    map[uint32]*subscription{},
		pending: map[*Call]struct{}{},
		direct:  newDirect(nc.Conn),
		writing: true, // the banner
	}
	c.q = queue{limit: s.cfg.QueueLength, maxBytes: s.cfg.QueueBytes}
	c.wake.L = &c.mu
	c.capacity.L = &c.mu
	return c
}

// serve runs the connection to its end. A client that half-closes still gets
// the replies to all that it sent.
func (c *conn) serve() {
	c.log.Debug("Player client connected")
	written := make(chan struct{})
	go func() {
		defer close(written)
		c.write()
	}()
	err := c.read()
	c.leave()
	c.mu.Lock()
	c.draining = true
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, errBadSize):
	default:
		c.over = true
	}
	c.measure()
	c.wake.Broadcast()
	c.mu.Unlock()
	<-written
	c.nc.Close()
	c.finish()
	c.log.Debug("Player client gone", slog.Any("cause", err))
}

// abort ends the connection from another goroutine.
func (c *conn) abort() {
	c.mu.Lock()
	c.over = true
	c.measure()
	c.wake.Broadcast()
	c.capacity.Broadcast()
	c.mu.Unlock()
	c.nc.Close()
}

// finish lets go of everything once both goroutines have ended.
func (c *conn) finish() {
	c.mu.Lock()
	pending := c.pending
	c.pending = nil
	c.over = true
	c.measure()
	c.q.clear()
	c.mu.Unlock()
	for call := range pending {
		call.settle()
	}
}

// deliver queues a reading of sub's device, as often as the client has opened
// it.
func (c *conn) deliver(sub *subscription, m *message) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case sub.opens == 0 || c.over:
		c.server.counters.closed.Add(1)
	case c.opening != sub:
		c.push(m, sub.opens)
		c.signal()
	case len(c.held) < c.q.limit:
		c.held = append(c.held, m.hold())
	default:
		c.q.drops(1)
		c.server.counters.queueFull.Add(1)
	}
	c.measure()
}

// push queues copies of m by the rules and counts what became of them. c.mu is
// held.
func (c *conn) push(m *message, copies int) {
	out, counters := c.q.push(m, copies), &c.server.counters
	counters.queueFull.Add(uint64(out.full))
	counters.replaced.Add(uint64(out.replaced))
	counters.ignored.Add(uint64(out.ignored))
}

// signal sees to it that what is due is written, and that a writer that has
// nothing more to do ends. c.mu is held.
func (c *conn) signal() {
	mayEnd := c.server.batches.Load() == 0 // one look: a batch may begin any time
	due := c.due(mayEnd)
	if due && c.direct != nil && !c.writing && len(c.rest) == 0 && !c.over {
		if c.paced() {
			return
		}
		c.flush(mayEnd)
		due = c.due(mayEnd)
	}
	if due || c.draining {
		c.wake.Signal()
	}
}

// due reports whether the writer has something to write. While a batch is
// published rounds may not end; then only replies do not wait, nor a queue that
// is half full. c.mu is held.
func (c *conn) due(mayEnd bool) bool {
	return c.q.due() && (mayEnd || c.q.waitingReplies() > 0 || c.q.live > c.q.limit/2)
}

// reply queues a reply of the server itself.
func (c *conn) reply(h player.Header, t player.Type, payload any) {
	m := c.encodeReply(h, t, payload)
	c.mu.Lock()
	if !c.over {
		c.push(m, 1)
		c.signal()
	}
	c.mu.Unlock()
	m.release()
}

// replyFirst queues a reply before everything else and begins a PULL round.
func (c *conn) replyFirst(h player.Header) {
	m := c.encodeReply(h, player.Ack, nil)
	c.mu.Lock()
	if !c.q.pushFront(m) {
		c.server.counters.ignored.Add(1)
	}
	c.q.request()
	c.signal()
	c.mu.Unlock()
	m.release()
}

// replyCall queues a driver's answer and releases it.
func (c *conn) replyCall(call *Call, m *message) {
	c.mu.Lock()
	delete(c.pending, call)
	if !c.over {
		c.push(m, 1)
		c.signal()
	}
	c.capacity.Signal()
	c.mu.Unlock()
	m.release()
}

// encodeReply makes the reply to h. A payload that is none for it makes the
// reply a refusal.
func (c *conn) encodeReply(h player.Header, t player.Type, payload any) *message {
	h.Type = t
	h.Timestamp = c.server.cfg.Clock()
	m, err := c.server.encode(h, payload)
	if err == nil {
		return m
	}
	c.server.badPayload(h, err)
	h.Type = player.Nack
	m = newMessage(h)
	m.seal()
	return m
}

// waitRoom waits while too much is outstanding. It reports false if the
// connection has ended.
func (c *conn) waitRoom() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for !c.over && (len(c.pending) >= maxPending || c.q.waitingReplies() >= maxReplies || c.q.replyBytes >= maxReplyBytes) {
		c.capacity.Wait()
	}
	return !c.over
}
