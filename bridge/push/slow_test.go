package push

import (
	"fmt"
	"maps"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"callboard/subscribe/protocol"
)

// neverReads dials and says hello, and then reads nothing.
func (s *started) neverReads(t testing.TB) *client {
	t.Helper()
	dialer := &websocket.Dialer{NetDial: func(network, addr string) (net.Conn, error) {
		conn, err := net.Dial(network, addr)
		if err == nil {
			err = conn.(*net.TCPConn).SetReadBuffer(8 << 10)
		}
		return conn, err
	}}
	c := s.dial(t, dialer, nil)
	c.send(`{"op":"hello","client":"slow"}`)
	c.next()
	return c
}

var bigReading = []byte(`{"ranges":"` + strings.Repeat("9", 20_000) + `"}`)

// A client that never reads is closed once a write has made no progress for
// the stall timeout; the others notice nothing.
func TestClientThatNeverReads(t *testing.T) {
	s := start(t, Config{StallTimeout: 300 * time.Millisecond})
	s.neverReads(t)
	other := s.dial(t, nil, nil)
	other.send(`{"op":"hello"}`)
	other.next()
	slow := s.broker.out(1)
	for i := range 1024 { // a window full
		slow.Notify(protocol.Notify{Source: "b1", Seq: uint64(i + 1), Reading: bigReading}, time.Now())
		s.broker.out(2).Notify(protocol.Notify{Source: "b1", Seq: uint64(i + 1), Reading: []byte(`{}`)}, time.Now())
	}
	for i := range 1024 {
		if got := other.next(); !strings.Contains(got, fmt.Sprintf(`"seq":%d,`, i+1)) {
			t.Fatalf("the other client got %s", got)
		}
	}
	s.broker.expect(t, "disconnect 1")
	if n := s.metrics.closed.Of("stalled").Get(); n != 1 {
		t.Errorf("%v connections were closed as stalled", n)
	}
	if sent := s.metrics.notifications.Get(); sent >= 2048 {
		t.Errorf("%v notifications were written: the kernel took everything, and nothing was tested", sent)
	}
}

// A client that reads slowly makes progress and is not closed, though all its
// notifications take many stall timeouts.
func TestClientThatReadsSlowly(t *testing.T) {
	s := start(t, Config{StallTimeout: time.Second})
	c := s.neverReads(t)
	const count = 15
	for i := range count {
		s.broker.out(1).Notify(protocol.Notify{Source: "b1", Seq: uint64(i + 1), Reading: bigReading}, time.Now())
	}
	tick := time.NewTicker(25 * time.Millisecond)
	defer tick.Stop()
	for i := range count {
		<-tick.C
		if got := c.next(); !strings.Contains(got, fmt.Sprintf(`"seq":%d,`, i+1)) {
			t.Fatalf("got %.100s, expected number %d", got, i+1)
		}
	}
}

// Closing does not wait for a client that does not read.
func TestCloseOfAClientThatNeverReads(t *testing.T) {
	s := start(t, Config{})
	s.neverReads(t)
	for i := range 1024 {
		s.broker.out(1).Notify(protocol.Notify{Source: "b1", Seq: uint64(i + 1), Reading: bigReading}, time.Now())
	}
	began := time.Now()
	s.broker.out(1).Close(protocol.Conflict, "taken over")
	s.broker.expect(t, "disconnect 1")
	if took := time.Since(began); took > closeTimeout+2*time.Second {
		t.Errorf("it took %v", took)
	}
}

// A client that asks and does not read the answers is not read from any more.
// A few answers fill all buffers: that of a client which does not read drops what
// tells the kernel that its requests have arrived, so that the rest comes late.
func TestAnswersHoldTheClientUp(t *testing.T) {
	s := start(t, Config{StallTimeout: time.Second})
	s.broker.warning = strings.Repeat("w", 64<<10)
	c := s.neverReads(t)
	condition := strings.Repeat("x", 200)
	const asked = 200_000
	done := make(chan error, 1)
	go func() {
		for i := range asked {
			if err := c.WriteMessage(websocket.TextMessage, fmt.Appendf(nil, `{"op":"subscribe","id":"%s%d","condition":"true"}`, condition, i)); err != nil {
				done <- err
				return
			}
		}
		done <- nil
	}()
	s.broker.expect(t, "subscribe 1")
	// The session ends when the write of the answers has stalled; until then
	// the broker was asked only for what fits into the buffers.
	s.broker.expect(t, "disconnect 1")
	<-done
	if n := s.metrics.received.Of("subscribe").Get(); n > 2*roomyBelow {
		t.Errorf("%v subscriptions of %d were read though no answer was", n, asked)
	}
}

// What a broker sends unasked ends a client that does not read it.
func TestFlood(t *testing.T) {
	s := start(t, Config{})
	s.neverReads(t)
	gap := &protocol.Gap{Source: "b1", From: 1, Why: strings.Repeat("x", 100)}
	for range 2 * maxReplies {
		s.broker.out(1).Send(gap)
	}
	s.broker.expect(t, "disconnect 1")
	if n := s.metrics.closed.Of("overloaded").Get(); n != 1 {
		t.Errorf("%v connections were closed as overloaded", n)
	}
}

// Of heartbeats and pongs that wait only the newest is kept.
func TestHeartbeatsDoNotPileUp(t *testing.T) {
	o, _ := testOutbox()
	for i := range 1000 {
		o.Send(&protocol.Heartbeat{Time: float64(i)})
		o.ponged(fmt.Sprint(i))
	}
	b, _ := o.take()
	if b.queue != nil || b.heartbeat == nil || b.heartbeat.Time != 999 || string(b.pong) != "999" {
		t.Errorf("what waits is %+v", b)
	}
	if b, ok := o.take(); ok {
		t.Errorf("there is more: %+v", b)
	}
}

// A client that answers no pings is gone; one that does stays.
func TestSilentClient(t *testing.T) {
	s := start(t, Config{PingInterval: 300 * time.Millisecond})
	c := s.dial(t, nil, nil)
	c.send(`{"op":"hello"}`)
	c.next() // it reads no more, and so answers no ping
	s.broker.expect(t, "disconnect 1")
	if n := s.metrics.closed.Of("silent").Get(); n != 1 {
		t.Errorf("%v connections were closed as silent", n)
	}

	pings := 0
	c = s.dial(t, nil, nil)
	answer := c.PingHandler()
	enough := make(chan struct{})
	c.SetPingHandler(func(data string) error {
		if pings++; pings == 4 {
			close(enough)
		}
		return answer(data)
	})
	c.send(`{"op":"hello"}`)
	c.next()
	go func() {
		<-enough
		s.broker.out(2).Send(&protocol.Gap{Source: "b1"})
	}()
	c.expect(`{"op":"gap","source":"b1","from":0,"why":""}`)
}

func (s *started) all() []*session {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Collect(maps.Keys(s.sessions))
}

// A client whose pong waits behind what it reads slowly is not silent: it takes
// what is written. One that takes nothing any more is gone.
func TestSlowReaderIsNotSilent(t *testing.T) {
	s := start(t, Config{PingInterval: 250 * time.Millisecond})
	c := s.neverReads(t)
	for i := range 1024 {
		s.broker.out(1).Notify(protocol.Notify{Source: "b1", Seq: uint64(i + 1), Reading: bigReading}, time.Now())
	}
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	buf := make([]byte, 16<<10) // it answers no ping: none has its turn
	for began := time.Now(); time.Since(began) < 2*time.Second; <-tick.C {
		_ = c.NetConn().SetReadDeadline(time.Now().Add(patience))
		if _, err := c.NetConn().Read(buf); err != nil {
			t.Fatalf("after %v: %v", time.Since(began), err)
		}
	}
	for _, session := range s.all() {
		if end := session.outbox.ended(); end != nil {
			t.Fatalf("it is closed: %+v", *end)
		}
	}
	s.broker.expect(t, "disconnect 1")
	if n := s.metrics.closed.Of("silent").Get(); n != 1 {
		t.Errorf("%v connections were closed as silent", n)
	}
}

// A message must come whole in its time: pings between its fragments do not
// give it more.
func TestMessageThatDoesNotEnd(t *testing.T) {
	s := start(t, Config{messageGrace: 300 * time.Millisecond})
	c := s.greeted(t)
	ping := []byte{0x89, 0x80, 0, 0, 0, 0}
	begun := append([]byte{0x01, 0x81, 0, 0, 0, 0, '{'}, ping...) // a fragment, masked with 0
	if _, err := c.NetConn().Write(begun); err != nil {
		t.Fatal(err)
	}
	stop, pinging := make(chan struct{}), sync.WaitGroup{}
	pinging.Go(func() {
		tick := time.NewTicker(20 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-stop:
				return
			case <-tick.C:
				_, _ = c.NetConn().Write(ping) // until it is closed
			}
		}
	})
	s.broker.expect(t, "disconnect 1")
	close(stop)
	pinging.Wait()
	if n := s.metrics.closed.Of("slow").Get(); n != 1 {
		t.Errorf("%v connections were closed as slow", n)
	}
}

// A ping is answered, also by a session whose writer has nothing else to do.
func TestPong(t *testing.T) {
	s := start(t, Config{})
	c := s.greeted(t)
	pong := make(chan string, 1)
	c.SetPongHandler(func(data string) error {
		pong <- data
		s.broker.out(1).Send(&protocol.Gap{Source: "b1"})
		return nil
	})
	if err := c.WriteControl(websocket.PingMessage, []byte("are you there"), time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	c.next()
	if got := <-pong; got != "are you there" {
		t.Errorf("the pong says %q", got)
	}
}
