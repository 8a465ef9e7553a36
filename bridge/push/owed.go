package push

import (
	"context"
	"slices"
	"strconv"
	"sync"
	"time"

	"callboard/subscribe/protocol"
)

const (
	// What was written to a client without an id is acknowledged after so many
	// notifications, so many bytes (both far below a window), or this long
	// after the first of them. Soon and not at once: all clients that get the
	// same are due at the same time, and should have read by then.
	ackCount = 64
	ackBytes = 256 << 10
	ackDelay = time.Second
	ackSoon  = 2 * time.Millisecond
)

// owed is what was written to a client without an id, and the broker has not
// been told yet that the client has it. For readings that only latest
// subscriptions name it is not enough to be written: a slow client would find
// them old in its socket's buffers. The client has those when it has answered a
// ping that was written behind them.
type owed struct {
	mu           sync.Mutex
	newest       []protocol.Ack // by source
	count, bytes int
	latest       bool        // a ping is to ask for some of it
	due          bool        // settle is called soon
	timer        *time.Timer // calls settle; nil until it is needed
	stopped      bool
	pings        uint64
	asked        string         // what the ping says whose answer is awaited; "": none is
	answered     []protocol.Ack // what the client has when it has answered
}

// take returns what is owed, which is no more then. mu is held.
func (o *owed) take() []protocol.Ack {
	all := o.newest
	o.newest, o.count, o.bytes, o.latest = nil, 0, 0, false
	return all
}

// stop lets nothing more be settled.
func (o *owed) stop() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.stopped = true
	if o.timer != nil {
		o.timer.Stop()
	}
}

// owe takes what was written, of which the broker is told.
func (s *session) owe(n *protocol.Notify) {
	o := &s.owed
	o.mu.Lock()
	defer o.mu.Unlock()
	o.count++
	o.bytes += len(n.Reading)
	o.latest = o.latest || n.Latest
	at := slices.IndexFunc(o.newest, func(a protocol.Ack) bool { return a.Source == n.Source })
	if at < 0 {
		at = len(o.newest)
		o.newest = append(o.newest, protocol.Ack{Op: protocol.OpAck, Source: n.Source})
	}
	o.newest[at].Num = n.Seq
	switch {
	case o.asked != "" || o.due: // an acknowledgement is of all before it
	case o.latest:
		s.settleSoon(0)
	case o.count >= ackCount || o.bytes >= ackBytes:
		s.settleSoon(ackSoon)
	case o.count == 1:
		s.settleIn(ackDelay)
	}
}

// settleSoon has settle called, whatever is owed meanwhile. owed.mu is held.
func (s *session) settleSoon(d time.Duration) {
	s.owed.due = true
	s.settleIn(d)
}

// settleIn has settle called. owed.mu is held.
func (s *session) settleIn(d time.Duration) {
	switch o := &s.owed; {
	case o.stopped:
	case o.timer == nil:
		o.timer = time.AfterFunc(d, s.settle)
	default:
		o.timer.Reset(d)
	}
}

// settle tells the broker that the client has what is owed, or asks the client
// by a ping whether it has.
func (s *session) settle() {
	o := &s.owed
	o.mu.Lock()
	o.due = false
	switch {
	case o.asked != "": // the answer settles it
		o.mu.Unlock()
	case o.latest:
		o.pings++
		o.asked, o.answered = strconv.FormatUint(o.pings, 10), o.take()
		asks := []byte(o.asked)
		o.mu.Unlock()
		s.outbox.ping(asks)
	default:
		all := o.take()
		o.mu.Unlock()
		s.acknowledge(s.server.sessionContext, all)
	}
}

// pinged takes the answer to a ping.
func (s *session) pinged(ctx context.Context, payload string) {
	o := &s.owed
	o.mu.Lock()
	if o.asked == "" || payload != o.asked {
		o.mu.Unlock()
		return
	}
	all := o.answered
	o.asked, o.answered = "", nil
	switch {
	case o.latest:
		s.settleSoon(0)
	case o.count > 0:
		s.settleIn(ackDelay)
	}
	o.mu.Unlock()
	s.acknowledge(ctx, all)
}

// acknowledge says for a client without an id what it has.
func (s *session) acknowledge(ctx context.Context, all []protocol.Ack) {
	for _, a := range all {
		// If the broker cannot take it, the connection or the broker ends.
		_ = s.server.config.Broker.Ack(ctx, s.conn, a)
	}
}
