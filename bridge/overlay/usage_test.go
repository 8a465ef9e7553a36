package overlay

import (
	"fmt"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"callboard/subscribe/protocol"
)

// said returns the errors of the last step.
func said(b *Broker) (all []*protocol.Error) {
	for _, out := range b.Outputs() {
		if s, ok := out.(*Send); ok {
			if e, ok := s.Message.(*protocol.Error); ok {
				all = append(all, e)
			}
		}
	}
	return all
}

// TestSetBytes: a client's whole set is bounded, whichever way it comes, and
// what is refused changes nothing.
func TestSetBytes(t *testing.T) {
	b := newBroker(t, Config{ID: "b1", SetBytes: 1000})
	b.Step(1, &Start{})
	sub := func(id string, size int) *Subscription {
		s := &Subscription{}
		s.ID, s.Condition = id, strings.Repeat(" ", size)
		return s
	}
	b.Step(2, &Hello{Conn: 1, Client: "c", Subscriptions: []*Subscription{sub("a", 600), sub("b", 600)}})
	if all := said(b); len(all) != 1 || all[0].Code != protocol.Overloaded || b.edge.sessions["c"] != nil {
		t.Fatalf("hello: %v", all)
	}
	b.Step(3, &Hello{Conn: 2, Client: "c", Subscriptions: []*Subscription{sub("a", 600)}})
	for i, in := range []Input{
		&Subscribe{Conn: 2, Subscription: sub("b", 600)},
		&Update{Conn: 2, Subscription: sub("a", 1000)},
		&Subscribe{Conn: 2, Subscription: sub("b", 398)},
		&Update{Conn: 2, Subscription: sub("a", 500)},
	} {
		b.Step(4, in)
		if all, refused := said(b), i < 2; refused != (len(all) == 1 && all[0].Code == protocol.Overloaded && strings.Contains(all[0].Message, "limits.subscription_bytes")) {
			t.Errorf("step %d: %v", i, all)
		}
		check(t, b)
	}
	if got := b.edge.sessions["c"].bytes; got != 900 {
		t.Errorf("the set has %d bytes, expected 900", got)
	}
	if _, refused := statsOf(b).LimitCounts(); refused["subscription_bytes"] != 3 {
		t.Errorf("refused: %v", refused)
	}
}

func statsOf(b *Broker) *Stats { s := b.Stats(); return &s }

// TestGivesWay: where memory ends the longest absent client gives way, told by a
// gap, and clients that are here lose nothing.
func TestGivesWay(t *testing.T) {
	b, hits := busy(t, 3, "", Config{Memory: 2 << 20})
	b.Step(10, &Disconnected{Conn: 1})
	b.Step(20, &Disconnected{Conn: 2})
	full := func() bool { return b.stats.Lost[WhyOverflow] > 0 }
	for i := range 10_000 {
		b.Step(Instant(100+i), &Matched{Reading: &Reading{Robot: "r0", Interface: "laser", JSON: make([]byte, 1500)}, Hits: hits})
		b.Outputs()
		b.Step(Instant(100+i), &Ack{Conn: 3, Source: b.Source(), Num: uint64(i + 1)})
		b.Outputs()
		check(t, b)
		if full() {
			break
		}
	}
	longest, other := b.edge.order[0].inboxes[0].buf, b.edge.order[1].inboxes[0].buf
	if !full() || longest.count >= other.count || uint64(other.count) != other.last {
		t.Errorf("the longest absent client has %d left, the other %d of %d", longest.count, other.count, other.last)
	}
	if gap := longest.items[longest.head]; !gap.gap() || gap.why != WhyOverflow || gap.from != 1 {
		t.Errorf("the longest absent client has no gap: %+v", gap)
	}
	if gaveWay, _ := statsOf(b).LimitCounts(); gaveWay["memory"] != 1 {
		t.Errorf("gave way: %v", gaveWay)
	}
}

// TestNoRoomForClients: sessions and sets take no more than half of the memory;
// who would exceed that is refused and told what to do.
func TestNoRoomForClients(t *testing.T) {
	b := newBroker(t, Config{ID: "b1", Memory: 1 << 20})
	b.Step(1, &Start{})
	attached := 0
	for i := range 100 {
		b.Step(2, &Hello{Conn: Conn(i + 1), Client: fmt.Sprint("c", i)})
		all := said(b)
		check(t, b)
		if len(all) == 0 {
			attached++
		} else if all[0].Code != protocol.Overloaded || !strings.Contains(all[0].Message, "limits.memory") {
			t.Fatal(all[0])
		}
	}
	if attached == 0 || attached == 100 || b.usage.memory() > 1<<20 {
		t.Errorf("%d clients were taken; %d bytes are used", attached, b.usage.memory())
	}
	b.Step(3, &Disconnected{Conn: 1})
	b.Step(4, &Hello{Conn: 1000, Client: "c0", Session: b.edge.sessions["c0"].birth.String()}) // it has its place
	if all := said(b); len(all) > 0 {
		t.Errorf("a client that comes back: %v", all[0])
	}
}

// TestShortNames: a list of very short names takes much more memory than its
// texts, and is counted so.
func TestShortNames(t *testing.T) {
	b := newBroker(t, Config{ID: "b1"})
	b.Step(1, &Start{})
	heap := func() int64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	before := heap()
	for i := range 20 {
		sub := &Subscription{}
		sub.ID, sub.Condition = "s", "true"
		for j := range 20_000 {
			sub.Robots = append(sub.Robots, strconv.Itoa(j))
		}
		b.Step(2, &Hello{Conn: Conn(i), Client: strconv.Itoa(i), Subscriptions: []*Subscription{sub}})
		b.Outputs()
	}
	took, counted := heap()-before, b.usage.memory()
	if took > counted+counted/4 {
		t.Errorf("%d bytes are counted, %d are taken", counted, took)
	}
	runtime.KeepAlive(b)
}
