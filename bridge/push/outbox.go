package push

import (
	"slices"
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
	wake    chan struct{} // something is there for the writer
	bursts  bool          // the burst may write; else only the writer does
	room    chan struct{} // fewer than roomyBelow replies wait

	mu        sync.Mutex
	items     []item
	replies   int // waiting items that are not notifications
	heartbeat *protocol.Heartbeat
	pong      []byte // answers the newest ping; nil: none
	end       *ending
	over      bool   // the writer has gone
	writing   bool   // the writer, or the burst, has taken something and not yet written it
	rest      []byte // of a frame that was written in part, before all that waits
}

func newOutbox(s *session) *outbox {
	return &outbox{session: s, bursts: s.raw.bursts(), wake: make(chan struct{}, 1), room: make(chan struct{}, 1)}
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
	if o.end == nil && !o.over {
		o.items = append(o.items, item{notify: n, decoded: decoded})
	}
	o.mu.Unlock()
	signal(o.wake)
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
	if !o.bursts || o.end != nil || o.over || o.writing || len(o.items) > 0 || len(o.rest) > 0 {
		return false
	}
	o.writing = true
	return true
}

// release goes on after the burst, which has written an item but for the rest of
// its frame, or not begun it. That, and what came meanwhile, is the writer's.
func (o *outbox) release(it *item, whole bool, rest []byte) {
	o.mu.Lock()
	o.writing = false
	if whole {
		o.items = slices.Insert(o.items, 0, *it)
	}
	o.rest = append(o.rest[:0], rest...)
	waits := len(o.rest) > 0 || len(o.items) > 0 || o.heartbeat != nil || o.pong != nil || o.end != nil
	o.mu.Unlock()
	if waits {
		signal(o.wake)
	}
}

// Send implements attach.Outbox.
func (o *outbox) Send(m any) {
	o.mu.Lock()
	flooded := false
	switch m := m.(type) {
	case *protocol.Heartbeat:
		o.heartbeat = m
	default:
		if o.end == nil && !o.over && operation(m) != "" {
			o.items = append(o.items, item{message: m})
			o.replies++
			flooded = o.replies > maxReplies
		}
	}
	o.mu.Unlock()
	signal(o.wake)
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
	o.mu.Unlock()
	signal(o.wake)
	signal(o.room)
}

// ponged keeps the payload of the newest ping, which alone needs an answer.
func (o *outbox) ponged(payload string) {
	o.mu.Lock()
	o.pong = append([]byte{}, payload...)
	o.mu.Unlock()
	signal(o.wake)
}

// batch is what the writer takes at once.
type batch struct {
	rest      []byte // comes first
	items     []item
	heartbeat *protocol.Heartbeat
	pong      []byte
	end       *ending
}

// take empties the outbox; spare becomes its next queue. Until written is
// called nobody else writes. With ok false the burst writes, which wakes the
// writer when it has.
func (o *outbox) take(spare []item) (b batch, ok bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.writing {
		return batch{}, false
	}
	b = batch{rest: o.rest, items: o.items, heartbeat: o.heartbeat, pong: o.pong, end: o.end}
	o.items, o.heartbeat, o.pong, o.rest = spare[:0], nil, nil, nil
	o.writing = true
	return b, true
}

// written says that the writer has written what it took.
func (o *outbox) written() {
	o.mu.Lock()
	o.writing = false
	o.mu.Unlock()
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

// stop drops what waits and all that comes.
func (o *outbox) stop() {
	o.mu.Lock()
	o.over, o.items = true, nil
	o.mu.Unlock()
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
