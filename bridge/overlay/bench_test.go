package overlay

import (
	"fmt"
	"runtime"
	"testing"

	"callboard/subscribe/protocol"
)

// busy makes a broker with n clients, attached and subscribed, and the hits
// that a reading of all has.
func busy(tb testing.TB, n int, keep string, cfg Config) (b *Broker, hits []Hit) {
	cfg.ID = "b1"
	b, err := New(cfg)
	if err != nil {
		tb.Fatal(err)
	}
	b.Step(1, &Start{})
	b.Step(1, &Advertise{Robot: "r0"})
	for i := range n {
		sub := &Subscription{Subscription: protocol.Subscription{ID: "a", Condition: "laser.min < 1", Keep: keep}}
		b.Step(2, &Hello{Conn: Conn(i + 1), Client: fmt.Sprintf("c%05d", i), Subscriptions: []*Subscription{sub}})
	}
	for h, e := range b.source.entries {
		e.inbox.session.pending = nil
		e.installed = e.set
		b.edge.becomeReady(e.inbox.session)
		hits = append(hits, Hit{Handle: h, Set: e.set, Names: []protocol.Matched{{ID: "a"}}})
	}
	b.Outputs()
	return b, hits
}

// BenchmarkDeliver: a reading that 100 attached clients get and acknowledge.
// One operation is one notification.
func BenchmarkDeliver(bench *testing.B) {
	const clients = 100
	b, hits := busy(bench, clients, "", Config{})
	json := make([]byte, 1500)
	source := b.Source()
	acks := make([]Ack, clients)
	seq, now := uint64(0), Instant(10)
	bench.ReportAllocs()
	bench.ResetTimer()
	for i := 0; i < bench.N; i += clients {
		seq++
		now += 1000
		b.Step(now, &Matched{Reading: &Reading{Robot: "r0", Interface: "laser", JSON: json}, Hits: hits})
		if n := len(b.Outputs()); n < clients {
			bench.Fatalf("%d outputs", n)
		}
		for c := range acks {
			acks[c] = Ack{Conn: Conn(c + 1), Source: source, Num: seq}
			b.Step(now, &acks[c])
		}
		b.Outputs()
	}
}

// BenchmarkAbsent: the same to clients that are away, with full inboxes.
func BenchmarkAbsent(bench *testing.B) {
	for _, keep := range []string{protocol.KeepAll, protocol.KeepLatest} {
		bench.Run(keep, func(bench *testing.B) {
			const clients = 100
			b, hits := busy(bench, clients, keep, Config{Inbox: Limits{Count: 1000, Keep: 1e15}})
			for c := range clients {
				b.Step(3, &Disconnected{Conn: Conn(c + 1)})
			}
			json := make([]byte, 1500)
			now := Instant(10)
			bench.ReportAllocs()
			bench.ResetTimer()
			for i := 0; i < bench.N; i += clients {
				now += 1000
				b.Step(now, &Matched{Reading: &Reading{Robot: "r0", Interface: "laser", Index: i % 1000, JSON: json}, Hits: hits})
				b.Outputs()
			}
		})
	}
}

// BenchmarkSubscriptions: memory and time of a client's subscriptions.
func BenchmarkSubscriptions(bench *testing.B) {
	b, _ := busy(bench, 1, "", Config{Subscriptions: 1 << 30})
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	bench.ResetTimer()
	for i := range bench.N {
		sub := &Subscription{Subscription: protocol.Subscription{ID: fmt.Sprint("s", i), Condition: "laser.min < 1"}}
		b.Step(Instant(10+i), &Subscribe{Conn: 1, Subscription: sub})
		s := b.edge.order[0]
		s.pending = s.pending[:0]
		b.Outputs()
	}
	bench.StopTimer()
	runtime.GC()
	runtime.ReadMemStats(&after)
	bench.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/float64(bench.N), "B/subscription")
	runtime.KeepAlive(b)
}

// BenchmarkWaiting: memory of what waits for clients that are away, beside the
// readings, which they share. One operation is one notification.
func BenchmarkWaiting(bench *testing.B) {
	const clients = 1000
	b, hits := busy(bench, clients, "", Config{})
	for c := range clients {
		b.Step(3, &Disconnected{Conn: Conn(c + 1)})
	}
	b.Outputs()
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	bench.ResetTimer()
	readings := 0
	for i := 0; i < bench.N; i += clients {
		readings++
		names := make([]protocol.Matched, clients) // of all clients, as the runtime makes them
		for c := range hits {
			names[c].ID = "a"
			hits[c].Names = names[c : c+1 : c+1]
		}
		b.Step(Instant(10+readings*1000), &Matched{Reading: &Reading{Robot: "r0", Interface: "laser", JSON: make([]byte, 1500)}, Hits: hits})
		b.Outputs()
	}
	bench.StopTimer()
	runtime.GC()
	runtime.ReadMemStats(&after)
	bench.ReportMetric((float64(after.HeapAlloc)-float64(before.HeapAlloc)-1500*float64(readings))/float64(readings*clients), "B/notification")
	runtime.KeepAlive(b)
}
