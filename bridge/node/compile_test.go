package node

import (
	"context"
	"fmt"
	"testing"
	"time"

	"callboard/bridge/link"
	"callboard/bridge/overlay"
	"callboard/bridge/robots"
	"callboard/subscribe"
	"callboard/subscribe/protocol"
)

// neighbour is a link on which another broker listens.
type neighbour struct{ frames chan *overlay.Frame }

func (l *neighbour) Send(f *overlay.Frame) { l.frames <- f }
func (l *neighbour) Status() []link.Status { return nil }

// counted waits until the broker has told how many robots match.
func (l *neighbour) counted() map[string]int {
	for f := range l.frames {
		for _, m := range f.Messages {
			if e, ok := m.(*overlay.EventMessage); ok && len(e.Counts) > 0 {
				counts := map[string]int{}
				for _, c := range e.Counts {
					counts[c.ID] = c.Robots
				}
				return counts
			}
		}
	}
	return nil
}

// subscribeFrom has a client of the neighbour subscribe to conditions.
func (b *bench) subscribeFrom(id overlay.BrokerID, revision uint64, conditions ...string) {
	set := &overlay.SetChange{Whole: true}
	for i, text := range conditions {
		set.Put = append(set.Put, overlay.Member{Subscription: &overlay.Subscription{Subscription: protocol.Subscription{ID: fmt.Sprint("s", i), Condition: text}}})
	}
	b.node.Neighbours().Frame(id, 1, []overlay.Message{&overlay.SubscribeMessage{
		Key:   overlay.Key{Client: "c", Source: "b1", Session: overlay.Session{Attachment: 1, Edge: id}, Stamp: b.node.broker.Stamp()},
		Epoch: overlay.Epoch{Attachment: 1, Edge: id, Revision: revision}, Path: []overlay.BrokerID{"b1"}, Set: set,
	}})
}

// beginLinked starts a node that has b2 as its neighbour.
func beginLinked(t testing.TB) (*bench, *neighbour) {
	b, links := begin(t, nil), &neighbour{make(chan *overlay.Frame, 64)}
	b.node.stepping.Lock()
	b.node.links = links
	b.node.stepping.Unlock()
	b.node.Neighbours().Up("b2", 1)
	b.rest()
	return b, links
}

// TestCompilesBeside: conditions from another broker are compiled beside the
// broker's goroutine, which goes on; what changes the same set meanwhile waits
// its turn.
func TestCompilesBeside(t *testing.T) {
	b, links := beginLinked(t)
	n := b.node

	n.stepping.Lock() // the broker's goroutine
	b.subscribeFrom("b2", 1, "laser.min < 1", "laser.min <")
	n.work(n.queue.take(nil))
	if len(n.waiting) != 1 || len(n.sets) != 0 {
		t.Errorf("%d keys wait for their conditions, %d have their sets; expected 1 and 0", len(n.waiting), len(n.sets))
	}
	b.subscribeFrom("b2", 2, "laser.min < 2")
	n.work(n.queue.take(nil))
	n.stepping.Unlock()

	if counts := links.counted(); len(counts) != 1 {
		t.Errorf("robots of %v are counted; expected those of one subscription", counts)
	}
	b.rest()
	n.stepping.Lock()
	defer n.stepping.Unlock()
	if len(n.sets) != 1 || len(n.waiting) != 0 {
		t.Fatalf("%d sets, %d keys wait", len(n.sets), len(n.waiting))
	}
	for _, s := range n.sets {
		if len(s.order) != 1 || s.order[0].Spec.Condition != "laser.min < 2" {
			t.Errorf("the set has %d conditions; expected the newest one", len(s.order))
		}
	}
}

// TestStoppedWhileRestoring: a node that is stopped before an earlier life is
// back ends without having begun another.
func TestStoppedWhileRestoring(t *testing.T) {
	m, err := subscribe.New(subscribe.Config{})
	if err != nil {
		t.Fatal(err)
	}
	store := &disk{appended: make(chan struct{}, 1)}
	n, err := New(Config{Overlay: overlay.Config{ID: "b1"}, Matcher: m, Store: store, Restore: make([]overlay.Record, 10*chunk)})
	if err != nil {
		t.Fatal(err)
	}
	r, err := robots.New(robots.Config{Matcher: m, Sink: n})
	if err != nil {
		t.Fatal(err)
	}
	n.Attach(r, nil)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := n.Run(ctx); err != nil {
		t.Error(err)
	}
	if len(store.appended) > 0 {
		t.Error("something was stored")
	}
	select {
	case <-n.Restored():
		t.Error("it is said to be restored")
	default:
	}
}

// BenchmarkForeignConditions: how long the broker's goroutine keeps others
// waiting while another broker brings 10,000 conditions.
func BenchmarkForeignConditions(bench *testing.B) {
	b, links := beginLinked(bench)
	n := b.node
	var longest time.Duration
	for round := range bench.N {
		conditions := make([]string, 10_000)
		for i := range conditions {
			conditions[i] = fmt.Sprintf("laser.min < 1.%d && position.x > %d", i, round)
		}
		b.subscribeFrom("b2", uint64(round+1), conditions...)
		done := make(chan map[string]int, 1)
		go func() { done <- links.counted() }()
		for waits := true; waits; {
			begun := time.Now()
			if err := n.ask(bench.Context(), func() {}); err != nil {
				bench.Fatal(err)
			}
			longest = max(longest, time.Since(begun))
			select {
			case <-done:
				waits = false
			default:
			}
		}
	}
	bench.ReportMetric(float64(longest.Microseconds())/1000, "longest-ms")
}
