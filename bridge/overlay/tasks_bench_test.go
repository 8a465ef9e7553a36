package overlay

import (
	"fmt"
	"strings"
	"testing"

	"callboard/subscribe/protocol"
)

// BenchmarkTask has a task asked for, done, answered and acknowledged, with so many in
// the queue and in its servers' hands, and so many servers.
func BenchmarkTask(b *testing.B) {
	for _, of := range []struct {
		declared bool
		servers  int
	}{{false, 1}, {true, 1}, {true, 100}} {
		b.Run(fmt.Sprintf("declared=%v/servers=%d", of.declared, of.servers), func(b *testing.B) { benchmarkTask(b, of.declared, of.servers) })
	}
}

func benchmarkTask(b *testing.B, declared bool, servers int) {
	cfg := Config{ID: "b1"}
	if declared {
		cfg.Queues = []QueueConfig{{Name: "docks", Count: 1 << 20, Bytes: 1 << 30}}
	}
	broker := newBroker(b, cfg)
	now := Instant(Second)
	broker.Step(now, &Start{})
	hello := func(c Conn, id string) {
		attachment := uint64(1)
		broker.Step(now, &Hello{Conn: c, Client: id, Attachment: &attachment})
	}
	hello(1, "asker")
	for i := range servers {
		c := Conn(2 + i)
		hello(c, fmt.Sprintf("server%d", i))
		broker.Step(now, &Serve{Conn: c, ID: "s", Queue: "docks", AtOnce: 1000})
	}
	body := []byte(strings.Repeat("x", 256))
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		n++
		now += 50
		key := fmt.Sprintf("k%d", n)
		broker.Step(now, &RequestTask{Conn: 1, ID: "r", Queue: "docks", Key: key, Body: body, TTL: 60 * Second})
		var at Conn
		word := ""
		for _, o := range broker.Outputs() {
			if s, is := o.(*Send); is {
				if t, is := s.Message.(*protocol.Task); is {
					at, word = s.Conn, t.Task
				}
			}
		}
		broker.Step(now, &DoneTask{Conn: at, Task: word, Body: body})
		broker.Step(now, &AckTask{Conn: 1, Key: key})
		if n%20_000 == 0 {
			now += Instant(Second)
			broker.Step(now, &Tick{})
		}
	}
}
