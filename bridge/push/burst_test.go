package push

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"callboard/subscribe/protocol"
)

// atRest waits until the writer of an outbox has nothing to do.
func atRest(t *testing.T, o *outbox) {
	t.Helper()
	for deadline := time.Now().Add(patience); ; runtime.Gosched() {
		o.mu.Lock()
		idle := !o.writing && o.queue == nil
		o.mu.Unlock()
		if idle {
			return
		}
		if time.Now().After(deadline) {
			t.Fatal("the writer never came to rest")
		}
	}
}

// Whoever writes, the caller or the writers, each client gets all that it is
// sent whole and in order, also when its socket takes a frame only in part.
func TestBurstKeepsTheOrder(t *testing.T) {
	s := start(t, Config{StallTimeout: patience})
	const clients, count, unread = 3, 600, 10
	var all []*client
	for range clients {
		all = append(all, s.greeted(t))
	}
	// More than the kernel takes for a client that does not read.
	big := []byte(`"` + strings.Repeat("9", 1<<20) + `"`)
	begin := make(chan struct{})
	go func() {
		for i := range count {
			if i == unread {
				close(begin)
			}
			for j := range clients {
				out := s.broker.out(uint64(j + 1))
				n := protocol.Notify{Source: "b1", Seq: uint64(i + 1), Reading: []byte(`"small"`)}
				if i%20 == 2+j {
					n.Reading = big
				}
				if i%7 == 3 {
					out.Notify(n, time.Now())
				} else {
					out.NotifySoon(n, time.Now())
				}
				if i%20 == 19 {
					out.Send(&protocol.Gap{Source: "b1", From: uint64(i + 2), Why: "test"})
				}
			}
			s.broker.out(1).Flush()
		}
	}()
	<-begin
	if n := s.metrics.notifications.Get(); n >= unread*clients {
		t.Errorf("the kernel took everything, and nothing was tested")
	}
	for i := range count {
		for j, c := range all {
			want := `"small"}`
			if i%20 == 2+j {
				want = string(big) + "}"
			}
			if got := c.next(); !strings.Contains(got, fmt.Sprintf(`"seq":%d,`, i+1)) || !strings.HasSuffix(got, want) {
				t.Fatalf("client %d got %.100s of %d bytes, expected number %d whole", j, got, len(got), i+1)
			}
			if i%20 == 19 {
				if got := c.next(); !strings.Contains(got, fmt.Sprintf(`"from":%d,`, i+2)) {
					t.Fatalf("client %d got %.100s, expected the gap from %d", j, got, i+2)
				}
			}
		}
	}
}

// What idle connections are sent with a burst, be they more than it holds, is
// with the kernel when Flush returns, is counted, and is acknowledged for
// clients without an id. A connection that ended meanwhile harms no other.
func TestBurstWritesAtOnce(t *testing.T) {
	for _, together := range []bool{true, false} {
		t.Run(fmt.Sprintf("together=%v", together), func(t *testing.T) {
			const clients, closed = maxBurst + 3, 2
			s := start(t, Config{})
			reading := [2][]byte{nil, []byte(`{"min":1}`)} // none: only selected values
			var all []*client
			for i := range clients {
				all = append(all, s.greeted(t))
				atRest(t, s.broker.out(uint64(i+1)).(*outbox))
			}
			for i := range clients {
				if !together && i == 1 {
					s.burst.close() // then the system lends nothing
				}
				s.broker.out(uint64(i+1)).NotifySoon(protocol.Notify{Source: "b1", Seq: uint64(i + 1), Reading: reading[i%2]}, time.Now())
				if i == closed {
					s.broker.out(uint64(i + 1)).(*outbox).session.raw.Close()
				}
			}
			s.broker.out(1).Flush()
			if runtime.GOOS != "windows" { // there the writers write
				if n := s.metrics.notifications.Get(); n != clients-1 {
					t.Errorf("%v notifications are written, expected %d", n, clients-1)
				}
			}
			for i, c := range all {
				if i == closed {
					continue
				}
				got, want := c.next(), protocol.AppendNotify(nil, &protocol.Notify{Source: "b1", Seq: uint64(i + 1), Reading: reading[i%2]})
				if got != string(want) {
					t.Errorf("client %d got %s, expected %s", i, got, want)
				}
			}
			s.broker.expect(t, "ack")
		})
	}
}

// testOutbox is an outbox whose burst may write, and whose writer is only counted.
func testOutbox() (o *outbox, started *int) {
	o, started = newOutbox(&session{raw: &rawConn{}}), new(int)
	o.bursts, o.start = true, func() { *started++ }
	o.begin()
	return o, started
}

// A burst writes only while there is nothing before its notification, and
// until it has written the writer waits.
func TestBurstWaitsItsTurn(t *testing.T) {
	for _, tt := range []struct {
		name     string
		before   func(*outbox)
		reserved bool
	}{
		{"idle", func(*outbox) {}, true},
		{"something waits", func(o *outbox) { o.Notify(protocol.Notify{}, time.Time{}) }, false},
		{"a frame was written in part", func(o *outbox) { o.rest = []byte("x") }, false},
		{"the writer writes", func(o *outbox) { o.Notify(protocol.Notify{}, time.Time{}); o.take() }, false},
		{"the writer has written", func(o *outbox) { o.Notify(protocol.Notify{}, time.Time{}); o.take(); o.take() }, true},
		{"a burst writes", func(o *outbox) { o.reserve() }, false},
		{"the writer has gone", func(o *outbox) { o.stop() }, false},
		{"the connection ends", func(o *outbox) { o.end = &ending{} }, false},
		{"only the writer writes", func(o *outbox) { o.bursts = false }, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			o, _ := testOutbox()
			tt.before(o)
			if got := o.reserve(); got != tt.reserved {
				t.Errorf("it may write: %v, expected %v", got, tt.reserved)
			}
		})
	}
}

// What a burst did not write, and what came while it wrote, is the writer's,
// in order.
func TestBurstLeavesTheRest(t *testing.T) {
	for _, tt := range []struct {
		name  string // what was left
		whole bool
		rest  string
		items []uint64 // sequence numbers
	}{
		{"all", true, "", []uint64{1, 2}},
		{"a part", false, "me", []uint64{2}},
		{"nothing", false, "", []uint64{2}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			o, started := testOutbox()
			o.reserve()
			o.Notify(protocol.Notify{Seq: 2}, time.Time{})
			if *started > 0 {
				t.Error("the writer writes between")
			}
			o.release(&item{notify: protocol.Notify{Seq: 1}}, tt.whole, []byte(tt.rest))
			if *started != 1 {
				t.Errorf("the writer was started %d times", *started)
			}
			b, ok := o.take()
			var items []uint64
			for _, it := range b.items() {
				items = append(items, it.notify.Seq)
			}
			if !ok || string(b.rest) != tt.rest || fmt.Sprint(items) != fmt.Sprint(tt.items) {
				t.Errorf("the writer takes %q and %v, expected %q and %v", b.rest, items, tt.rest, tt.items)
			}
		})
	}
}
