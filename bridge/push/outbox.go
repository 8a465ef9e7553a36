package push

import (
	"sync"
	"time"

	"callboard/bridge/attach"
	"callboard/subscribe/protocol"
)

// Limits of an outbox, in messages that are not notifications (the window
// bounds those).
const (
	roomyBelow = 256     // the client's next message is read when fewer wait
	maxReplies = 1 << 17 // more, and the connection is closed: nobody reads them
)

// item is what waits to be written: a notification, or another message.
type item struct {
	notify  protocol.Notify
	decoded time.Time
	message any // nil: the notification
}

// ending says how a connection is closed.
type ending struct {
	status int    // WebSocket close status; 0: no close frame
	text   string // for the client
	reason string // for the metrics
}

// outbox is the queue between the broker and a session's writer.
type outbox struct {
	session *session
	start   func()        // starts the writer, which has the turn then
	bursts  bool          // the burst may write; else only the writer does
	room    chan struct{} // fewer than roomyBelow replies wait
	done    chan struct{} // closed when nothing more is written

	mu        sync.Mutex
	queue     *queue // nil: it is empty
	replies   int    // waiting items that are not notifications
	heartbeat *protocol.Heartbeat
	term      uint64 // of a pair, that the client was told of
	pong      []byte // answers the newest ping; nil: none
	asks      []byte // in the next ping; nil: none is to go
	end       *ending
	over      bool   // nothing more is written
	writing   bool   // somebody has the turn: the writer, or the burst
	rest      []byte // of a frame that was written in part, before all that waits
}

// newOutbox makes an outbox of which nothing is written before begin.
func newOutbox(s *session) *outbox {
	return &outbox{
		session: s, start: func() { s.server.writers.start(s) }, bursts: s.raw.bursts(),
		room: make(chan struct{}, 1), done: make(chan struct{}), writing: true,
	}
}

// begin lets what waits be written, now that the session has its speaker.
func (o *outbox) begin() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.writing = false
	o.run()
}

// waits reports whether there is something to write. mu is held.
func (o *outbox) waits() bool {
	return o.queue != nil || o.heartbeat != nil || o.pong != nil || o.asks != nil || o.end != nil || len(o.rest) > 0
}

// run starts the writer if something waits and nobody has the turn. mu is held.
func (o *outbox) run() {
	if !o.over && !o.writing && o.waits() {
		o.writing = true
		o.start()
	}
}

// push puts an item behind those that wait. mu is held.
func (o *outbox) push(it item) {
	if o.queue == nil {
		o.queue = queues.Get().(*queue)
	}
	o.queue.items = append(o.queue.items, it)
}

// signal puts a token into a channel of one place.
func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// Notify implements attach.Outbox.
func (o *outbox) Notify(n protocol.Notify, decoded time.Time) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.end == nil && !o.over {
		o.push(item{notify: n, decoded: decoded})
		o.run()
	}
}

// NotifySoon implements attach.Outbox.
func (o *outbox) NotifySoon(n protocol.Notify, decoded time.Time) {
	o.session.server.burst.add(o, item{notify: n, decoded: decoded})
}

// Flush implements attach.Outbox.
func (o *outbox) Flush() { o.session.server.burst.flush() }

// reserve keeps the connection for the burst, if it may write and nothing is to
// be written before. Until release nobody else writes.
func (o *outbox) reserve() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.bursts || o.end != nil || o.over || o.writing || o.queue != nil || len(o.rest) > 0 {
		return false
	}
	o.writing = true
	return true
}

// release goes on after the burst, which has written an item but for the rest of
// its frame, or not begun it. That, and what came meanwhile, is the writer's.
func (o *outbox) release(it *item, whole bool, rest []byte) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.writing = false
	if whole {
		o.push(item{})
		items := o.queue.items
		copy(items[1:], items)
		items[0] = *it
	}
	o.rest = append(o.rest[:0], rest...)
	o.run()
}

// Send implements attach.Outbox.
func (o *outbox) Send(m any) {
	o.mu.Lock()
	flooded := false
	switch m := m.(type) {
	case *protocol.Heartbeat:
		if m.Term != o.term { // the first of a term comes before what follows
			if o.term = m.Term; o.end == nil && !o.over {
				o.push(item{message: m})
				o.replies++
			}
			break
		}
		o.heartbeat = m
	default:
		if o.end == nil && !o.over && operation(m) != "" {
			o.push(item{message: m})
			o.replies++
			flooded = o.replies > maxReplies
		}
	}
	o.run()
	o.mu.Unlock()
	if flooded {
		o.Close(protocol.Overloaded, "the client does not read what it is sent")
	}
}

// operation returns a message's operation, "" if it is no message.
func operation(m any) string {
	if said, ok := m.(attach.Said); ok {
		return said.Op()
	}
	return protocol.Operation(m)
}

// Close implements attach.Outbox.
func (o *outbox) Close(code protocol.Code, reason string) {
	why := string(code)
	if code == "" {
		why = "broker"
	}
	o.finish(ending{status: closeStatus(code), text: reason, reason: why})
}

// finish ends the connection; the first ending counts. What waits is written
// before, for closeTimeout at most.
func (o *outbox) finish(e ending) {
	o.mu.Lock()
	if o.end == nil {
		o.end = &e
		o.session.raw.closeBy(time.Now().Add(closeTimeout))
	}
	o.run()
	o.mu.Unlock()
	signal(o.room)
}

// ponged keeps the payload of the newest ping, which alone needs an answer.
func (o *outbox) ponged(payload string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.pong = append([]byte{}, payload...)
	o.run()
}

// ping has a ping go out that asks something of the client, or nothing. One that
// waits already asks for both. It reports false if nothing more is written.
func (o *outbox) ping(asks []byte) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.asks == nil || asks != nil {
		o.asks = append([]byte{}, asks...)
	}
	o.run()
	return !o.over
}

// batch is what the writer takes at once.
type batch struct {
	rest      []byte // comes first
	queue     *queue // nil: no items
	heartbeat *protocol.Heartbeat
	pong      []byte
	ping      []byte
	end       *ending
}

// items are the notifications and other messages, in order.
func (b *batch) items() []item {
	if b.queue == nil {
		return nil
	}
	return b.queue.items
}

// take empties the outbox for the writer, which has the turn. With ok false
// nothing waits, and the turn is given back.
func (o *outbox) take() (b batch, ok bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.waits() {
		o.writing = false
		return batch{}, false
	}
	b = batch{rest: o.rest, queue: o.queue, heartbeat: o.heartbeat, pong: o.pong, ping: o.asks, end: o.end}
	o.queue, o.heartbeat, o.pong, o.asks, o.rest = nil, nil, nil, nil, nil
	return b, true
}

// wrote says that so many replies have been written.
func (o *outbox) wrote(replies int) {
	if replies == 0 {
		return
	}
	o.mu.Lock()
	o.replies -= replies
	roomy := o.replies < roomyBelow
	o.mu.Unlock()
	if roomy {
		signal(o.room)
	}
}

// stop drops what waits and all that comes. The writer has the turn, and keeps it.
func (o *outbox) stop() {
	o.mu.Lock()
	o.over, o.queue = true, nil
	o.mu.Unlock()
	close(o.done)
	signal(o.room)
}

// roomy reports whether the client's next message may be read.
func (o *outbox) roomy() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.replies < roomyBelow || o.over || o.end != nil
}

// ended returns how the connection ends, nil while it goes on.
func (o *outbox) ended() *ending {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.end
}

// closeStatus returns the WebSocket close status for a code: 1000 for "", 1001
// (going away) for unavailable, 1013 (try again later) for overloaded, 1008
// (policy) for bad_message and what else a client did wrong, 4401, 4403 and
// 4409 for unauthorized, forbidden and conflict.
func closeStatus(code protocol.Code) int {
	switch code {
	case "":
		return 1000
	case protocol.Unavailable:
		return 1001
	case protocol.Overloaded:
		return 1013
	case protocol.Unauthorized:
		return 4401
	case protocol.Forbidden:
		return 4403
	case protocol.Conflict:
		return 4409
	}
	return 1008
}
