package gateway

import (
	"context"
	"log/slog"
	"math"
	"strconv"
	"sync"

	"callboard/bridge/attach"
	"callboard/player"
	"callboard/player/iface"
	"callboard/player/server"
	"callboard/subscribe/protocol"
)

// boardAddr is the device through which programs subscribe to conditions.
var boardAddr = player.Addr{Interf: player.InterfaceBlackboard}

const (
	boardGroup    = "callboard" // the group whose keys are conditions
	boardDriver   = "callboard"
	maxConditions = 256 // of one program
)

// Values of an entry that is text.
const (
	entryText       = 2
	entryTextString = 1
)

// board is blackboard:0 of a port, as Player programs know the interface: who
// subscribes to a key of the group callboard gets an UPDATE when the condition
// that the key is becomes true. It is a client of the broker, without id.
type board struct {
	broker attach.Broker
	robots []string // of the port; none: all
	log    *slog.Logger
	wake   chan struct{} // holds one: something is to be done

	mu      sync.Mutex
	jobs    []job
	numbers int
	asked   map[string]*watched // by id at the broker
	watched map[watchedBy]*watched
	acks    map[string]uint64 // by source: what programs have got, and the broker does not know yet
	lost    bool              // the broker has ended the connection
}

// watchedBy says who subscribes to which condition.
type watchedBy struct {
	client server.Client
	key    string
}

// watched is a condition that a program has subscribed to.
type watched struct {
	watchedBy
	id     string
	calls  []*server.Call // to be answered once the broker has taken it; nil: it has
	taken  bool
	latest *iface.BlackboardEntry // nil: it was not true yet
}

// job is what the board asks of the broker.
type job struct {
	subscribe   *watched
	unsubscribe string // an id
}

func newBoard(broker attach.Broker, robots []string, log *slog.Logger) *board {
	return &board{
		broker: broker, robots: robots, log: log, wake: make(chan struct{}, 1),
		asked: map[string]*watched{}, watched: map[watchedBy]*watched{}, acks: map[string]uint64{},
	}
}

// Devices lists the blackboard.
func (b *board) Devices() []server.DeviceInfo {
	return []server.DeviceInfo{{Interf: boardAddr.Interf, Index: boardAddr.Index, Driver: boardDriver}}
}

// Attach takes nothing: what there is to publish goes to single programs.
func (b *board) Attach(server.Publisher) {}

// Open and Close have nothing to do: Left says who goes.
func (b *board) Open(player.Addr) error { return nil }
func (b *board) Close(player.Addr)      {}

// Handles reports what is answered.
func (b *board) Handles(_ player.Addr, t player.Type, subtype uint8) bool {
	switch subtype {
	case iface.ReqBlackboardSubscribeToKey, iface.ReqBlackboardUnsubscribeFromKey, iface.ReqBlackboardGetEntry:
		return t == player.Request
	}
	return false
}

// Handle takes a request of a program.
func (b *board) Handle(c *server.Call) {
	entry, ok := c.Payload.(*iface.BlackboardEntry)
	if !ok || c.Header.Type != player.Request || iface.GoString(entry.Group) != boardGroup {
		c.Nack(nil)
		return
	}
	by := watchedBy{c.Client(), iface.GoString(entry.Key)}
	switch c.Header.Subtype {
	case iface.ReqBlackboardSubscribeToKey:
		b.subscribe(by, c)
	case iface.ReqBlackboardUnsubscribeFromKey:
		b.forget(by)
		c.Ack(nil)
	case iface.ReqBlackboardGetEntry:
		b.mu.Lock()
		w := b.watched[by]
		answer := &iface.BlackboardEntry{Key: iface.CString(""), Group: iface.CString("")} // as the real one's of a key that is not set
		if w != nil {
			answer = w.entry()
		}
		b.mu.Unlock()
		c.Ack(answer)
	default:
		c.Nack(nil)
	}
}

// entry is what a program is told of the condition: "" until it was true. mu is
// held.
func (w *watched) entry() *iface.BlackboardEntry {
	if w.latest != nil {
		return w.latest
	}
	return newEntry(w.key, "", 0)
}

func newEntry(key, text string, time float64) *iface.BlackboardEntry {
	e := &iface.BlackboardEntry{Key: iface.CString(key), Group: iface.CString(boardGroup), Type: entryText, Subtype: entryTextString, Data: append([]byte(text), 0)}
	if time > 0 && time < math.MaxUint32 {
		whole, rest := math.Modf(time)
		e.TimestampSec, e.TimestampUsec = uint32(whole), uint32(min(math.Round(rest*1e6), 999_999))
	}
	return e
}

// subscribe has the broker asked; the call is answered when it has taken the
// condition.
func (b *board) subscribe(by watchedBy, c *server.Call) {
	b.mu.Lock()
	defer b.mu.Unlock()
	w := b.watched[by]
	switch {
	case w != nil && w.taken:
		c.Ack(w.entry())
		return
	case w != nil:
		w.calls = append(w.calls, c)
		return
	case b.count(by.client) >= maxConditions:
		b.log.Warn("a Player program subscribes to too many conditions", slog.Int("limit", maxConditions))
		c.Nack(nil)
		return
	}
	b.numbers++
	w = &watched{watchedBy: by, id: "k" + strconv.Itoa(b.numbers), calls: []*server.Call{c}}
	b.watched[by], b.asked[w.id] = w, w
	b.do(job{subscribe: w})
}

// count is how many conditions a program has subscribed to. mu is held.
func (b *board) count(client server.Client) (n int) {
	for by := range b.watched {
		if by.client == client {
			n++
		}
	}
	return n
}

// do has the board's goroutine do a job. mu is held.
func (b *board) do(j job) {
	b.jobs = append(b.jobs, j)
	b.signal()
}

func (b *board) signal() {
	select {
	case b.wake <- struct{}{}:
	default:
	}
}

// Left forgets what a program has subscribed to that closes the device, or ends.
func (b *board) Left(_ player.Addr, client server.Client) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for by, w := range b.watched {
		if by.client == client {
			b.drop(w)
		}
	}
}

func (b *board) forget(by watchedBy) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if w := b.watched[by]; w != nil {
		b.drop(w)
	}
}

// drop ends a subscription. mu is held.
func (b *board) drop(w *watched) {
	delete(b.watched, w.watchedBy)
	delete(b.asked, w.id)
	for _, c := range w.calls {
		c.Nack(nil)
	}
	w.calls = nil
	b.do(job{unsubscribe: w.id})
}

// Run asks the broker for what programs want, until ctx ends: a goroutine of the
// board's own, since the broker may let its clients wait.
func (b *board) Run(ctx context.Context) error {
	var conn uint64
	defer func() {
		if conn != 0 {
			b.broker.Disconnect(conn, attach.Ending{Closed: true})
		}
	}()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-b.wake:
		}
		jobs, acks, lost := b.take()
		if lost {
			b.broker.Disconnect(conn, attach.Ending{Closed: true})
			conn = 0
		}
		for _, j := range jobs {
			if conn == 0 && j.subscribe != nil {
				conn = b.broker.Connect(outbox{b}, "gateway")
				if err := b.broker.Hello(ctx, conn, protocol.Hello{}, attach.Grant{Subscribe: true}); err != nil {
					return nil // the broker ends
				}
			}
			b.ask(ctx, conn, j)
		}
		for source, num := range acks {
			if conn != 0 {
				_ = b.broker.Ack(ctx, conn, protocol.Ack{Op: protocol.OpAck, Source: source, Num: num}) // if it cannot take it, the broker ends
			}
		}
	}
}

// take returns what is to be done. When the connection was lost all that programs
// want is asked for again.
func (b *board) take() (jobs []job, acks map[string]uint64, lost bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	jobs, acks, lost = b.jobs, b.acks, b.lost
	b.jobs, b.acks, b.lost = nil, map[string]uint64{}, false
	if lost {
		jobs, acks = nil, nil
		for _, w := range b.asked {
			jobs = append(jobs, job{subscribe: w})
		}
	}
	return jobs, acks, lost
}

// ask asks the broker for one thing.
func (b *board) ask(ctx context.Context, conn uint64, j job) {
	if j.unsubscribe != "" {
		if conn != 0 {
			_ = b.broker.Unsubscribe(ctx, conn, protocol.Unsubscribe{ID: j.unsubscribe}) // there may be none any more
		}
		return
	}
	w := j.subscribe
	err := b.broker.Subscribe(ctx, conn, protocol.Subscribe{Subscription: protocol.Subscription{
		ID: w.id, Condition: w.key, Robots: b.robots, Trigger: protocol.TriggerRising, Select: namedIn(w.key),
	}})
	if err != nil {
		b.refused(w.id, protocol.ProblemOf(err).Message)
	}
}

// refused answers a program whose condition is none.
func (b *board) refused(id, why string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	w := b.asked[id]
	if w == nil {
		return
	}
	b.log.Warn("the condition of a Player program is refused", slog.String("condition", w.key), slog.String("error", why))
	delete(b.watched, w.watchedBy)
	delete(b.asked, id)
	for _, c := range w.calls {
		c.Nack(nil)
	}
}
