package callboard

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"callboard/subscribe/protocol"
)

// idle makes a client that is attached to nobody, for what needs no network.
func idle(t testing.TB) (*Client, *connection) {
	c, err := New(Config{Brokers: []string{"ws://b"}, QueueCount: 100})
	if err != nil {
		t.Fatal(err)
	}
	conn := newConnection("ws://b", nil, 0)
	c.conn = conn
	c.entries["near"] = &entry{current: Subscription{ID: "near"}, confirmed: true}
	return c, conn
}

// Whatever a broker sends, the client takes it or gives up the connection,
// and counts no number that it was not given.
func FuzzTake(f *testing.F) {
	for _, message := range []any{
		notify("s1", 1, 0), notify("s1", 3, 1), notify("s1", 1, 1<<63), subscribedTo("near"),
		protocol.Gap{Op: protocol.OpGap, Source: "s1", From: 1, To: number(5)},
		protocol.Gap{Op: protocol.OpGap, Source: "s1", From: 1, Next: "s2"},
		protocol.Robot{Op: protocol.OpRobot, Robot: "r0", State: "up"},
		protocol.Reply{Op: protocol.OpReply, ID: "~1", OK: true},
		protocol.Error{Op: protocol.OpError, ID: "near", Code: protocol.Overloaded},
		protocol.Error{Op: protocol.OpError, Code: protocol.Conflict, Attachment: number(3)},
		protocol.Task{Op: protocol.OpTask, ID: "~ts1", Task: "~1.b1", Queue: "docks", From: "x", Body: json.RawMessage(`{"a":1}`), Left: 5},
		protocol.CancelledTask{Op: protocol.OpCancelled, Task: "~1.b1"}, protocol.Accepted{Op: protocol.OpAccepted, ID: "~t2", Key: "k", Ahead: 1 << 63},
		protocol.Progress{Op: protocol.OpProgress, ID: "~t2", Key: "k", Progress: json.RawMessage(`0.5`)},
		protocol.Reply{Op: protocol.OpReply, ID: "~t2", Key: "k", OK: true, Result: json.RawMessage(`"done"`)},
		protocol.Reply{Op: protocol.OpReply, ID: "~t2", Key: "k", Error: &protocol.ErrorInfo{Code: protocol.Expired, Message: "late"}},
		protocol.Heartbeat{Op: protocol.OpHeartbeat}, protocol.Welcome{Op: protocol.OpWelcome},
	} {
		text, err := json.Marshal(message)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(text))
	}
	f.Add(`{"op":"notify"` + "\n" + `{"op":"notify","seq":-1}` + "\n[]\nnull\n{}")
	f.Fuzz(func(t *testing.T, session string) {
		c, conn := idle(t)
		c.asked["k"] = &asked{key: "k", id: "~t2", answer: make(chan answer, 1), request: &Request{}}
		if _, err := c.Serve("docks", func(context.Context, *Task) (any, error) { return nil, nil }); err != nil {
			t.Fatal(err)
		}
		for text := range strings.Lines(session) {
			op, err := operation([]byte(text))
			if err == nil {
				err = c.take(conn, op, []byte(text))
			}
			if err != nil {
				break
			}
		}
		c.working.Wait()
		for name, s := range c.sources {
			if s.handled != 0 || s.given < s.handled {
				t.Fatalf("source %q: %+v", name, *s)
			}
		}
		if n := len(c.queue.items); n > 100 {
			t.Fatalf("%d events wait", n)
		}
	})
}

func BenchmarkTakeNotify(b *testing.B) {
	ranges := make([]string, 181)
	for i := range ranges {
		ranges[i] = "1.1429465941463433"
	}
	reading := `{"ranges":[` + strings.Join(ranges, ",") + `],"min":0.4,"bearing":-1.5}`
	c, conn := idle(b)
	c.config.Handle = func(Event) {}
	b.ReportAllocs()
	seq := 0
	for b.Loop() {
		seq++
		text := fmt.Appendf(nil, `{"op":"notify","source":"s1","seq":%d,"robot":"r0","interface":"laser","index":0,"time":1.5,"subscriptions":[{"id":"near"}],"reading":%s}`, seq, reading)
		if err := c.take(conn, protocol.OpNotify, text); err != nil {
			b.Fatal(err)
		}
		c.handled(c.queue.take(b.Context(), nil, 1)[0])
	}
}
