package push

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"

	"callboard/subscribe/protocol"
)

// Whoever writes, the caller or the writer, a client gets all that it is sent
// whole and in order, also when the socket takes a frame only in part.
func TestNotifyNowKeepsTheOrder(t *testing.T) {
	s := start(t, Config{StallTimeout: patience})
	c := s.greeted(t)
	out := s.broker.out(1)
	// More than the kernel takes for a client that does not read.
	big := []byte(`"` + strings.Repeat("9", 1<<20) + `"`)
	const count, unread = 600, 10
	begin := make(chan struct{})
	go func() {
		for i := range count {
			if i == unread {
				close(begin)
			}
			n := protocol.Notify{Source: "b1", Seq: uint64(i + 1), Reading: []byte(`"small"`)}
			if i%20 == 2 {
				n.Reading = big
			}
			if i%7 == 3 {
				out.Notify(n, time.Now())
			} else {
				out.NotifyNow(n, time.Now())
			}
			if i%20 == 19 {
				out.Send(&protocol.Gap{Source: "b1", From: uint64(i + 2), Why: "test"})
			}
		}
	}()
	<-begin
	if n := testutil.ToFloat64(s.metrics.notifications); n >= unread {
		t.Errorf("the kernel took everything, and nothing was tested")
	}
	for i := range count {
		want := `"small"}`
		if i%20 == 2 {
			want = string(big) + "}"
		}
		if got := c.next(); !strings.Contains(got, fmt.Sprintf(`"seq":%d,`, i+1)) || !strings.HasSuffix(got, want) {
			t.Fatalf("got %.100s of %d bytes, expected number %d whole", got, len(got), i+1)
		}
		if i%20 == 19 {
			if got := c.next(); !strings.Contains(got, fmt.Sprintf(`"from":%d,`, i+2)) {
				t.Fatalf("got %.100s, expected the gap from %d", got, i+2)
			}
		}
	}
}

// What an idle connection is sent with NotifyNow is with the kernel when it
// returns, is counted, and is acknowledged for a client without an id.
func TestNotifyNowWritesAtOnce(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no direct writes here")
	}
	s := start(t, Config{})
	c := s.greeted(t)
	out := s.broker.out(1).(*outbox)
	// The writer has yet to say that it has written the welcome.
	for deadline := time.Now().Add(patience); ; {
		out.mu.Lock()
		idle := !out.writing
		out.mu.Unlock()
		if idle {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("the writer never came to rest")
		}
	}
	out.NotifyNow(protocol.Notify{Source: "b1", Seq: 1}, time.Now())
	if n := testutil.ToFloat64(s.metrics.notifications); n != 1 {
		t.Errorf("%v notifications are written, expected 1", n)
	}
	if got := c.next(); !strings.Contains(got, `"seq":1,`) {
		t.Errorf("got %s", got)
	}
	s.broker.expect(t, "ack 1 b1 1")
}

// The caller writes only while there is nothing before its notification.
func TestNotifyNowWaitsItsTurn(t *testing.T) {
	for _, tt := range []struct {
		name    string
		before  func(*outbox)
		written bool
	}{
		{"idle", func(*outbox) {}, true},
		{"something waits", func(o *outbox) { o.Notify(protocol.Notify{}, time.Time{}) }, false},
		{"a frame was written in part", func(o *outbox) { o.rest = []byte("x") }, false},
		{"the writer writes", func(o *outbox) { o.take(nil) }, false},
		{"the writer has written", func(o *outbox) { o.take(nil); o.written() }, true},
		{"the writer has gone", func(o *outbox) { o.stop() }, false},
		{"the connection ends", func(o *outbox) { o.end = &ending{} }, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			o, written := newOutbox(nil), false
			o.immediate = func(*item) ([]byte, bool) { written = true; return nil, true }
			tt.before(o)
			o.NotifyNow(protocol.Notify{}, time.Time{})
			if written != tt.written {
				t.Errorf("it was written: %v, expected %v", written, tt.written)
			}
		})
	}
}
