package bridge_test

import (
	"context"
	"fmt"
	"runtime"
	"testing"
	"time"

	"callboard/bridge/benchtest"
	"callboard/subscribe/protocol"

	"golang.org/x/sync/errgroup"
)

// A subscription takes some hundred bytes, whether its condition is known or not.
func TestSubscriptionMemory(t *testing.T) {
	for _, identical := range []bool{false, true} {
		if got := subscriptionMemory(t, 2000, 10, identical); got < 100 || got > 10_000 {
			t.Errorf("%.0f bytes for each of 2,000 subscriptions, expected 100 to 10,000; identical: %v", got, identical)
		}
	}
}

// BenchmarkSubscriptionMemory makes subscriptions of 100 clients in a whole
// broker: B/subscription is its live heap.
func BenchmarkSubscriptionMemory(b *testing.B) {
	for _, name := range []string{"different", "identical"} {
		for _, n := range []int{10_000, 100_000} {
			b.Run(fmt.Sprintf("%s/%d", name, n), func(b *testing.B) {
				for b.Loop() {
					b.ReportMetric(subscriptionMemory(b, n, 100, name == "identical"), "B/subscription")
				}
			})
		}
	}
}

// subscriptionMemory returns how many bytes of live heap each of so many
// subscriptions takes.
func subscriptionMemory(t testing.TB, count, clients int, identical bool) float64 {
	ctx := t.Context()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	fleet, err := benchtest.NewFleet(1, 181)
	must(err)
	broker, err := benchtest.Start(ctx, fleet, t.TempDir())
	must(err)
	all := make([]*benchtest.Subscriber, clients)
	for i := range all {
		all[i], err = benchtest.Attach(ctx, broker.URL(), fmt.Sprintf("client-%d", i), nil, nil)
		must(err)
		// The first subscription makes the client's sequence.
		must(all[i].Subscribe(ctx, protocol.Subscription{ID: "first", Condition: "laser.min < 0"}))
	}
	must(readOne(ctx, broker, 1))
	before := settledHeap()
	var subscribing errgroup.Group
	for i, c := range all {
		subscribing.Go(func() error { return subscribeAll(ctx, c, i, clients, count, identical) })
	}
	must(subscribing.Wait())
	must(readOne(ctx, broker, 2)) // the robot's session meets them
	each := (float64(settledHeap()) - float64(before)) / float64(count)
	for _, c := range all {
		must(c.Close())
	}
	must(broker.Stop())
	return each
}

// heap is the live memory.
func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// settledHeap is the live memory once what was left behind is gone: pools, and
// what timers of a broker that has ended still hold.
func settledHeap() uint64 {
	last := heap()
	for range 20 {
		time.Sleep(50 * time.Millisecond)
		now := heap()
		if now > last-last/200 {
			return min(now, last)
		}
		last = now
	}
	return last
}

// readOne has the robot give a scan that nobody wants, and waits until it is the
// n-th that was tested.
func readOne(ctx context.Context, b *benchtest.Broker, n uint64) error {
	b.Fleet.Publish(0, false, float64(n))
	return b.Tested(ctx, n)
}

// subscribeAll makes the subscriptions of client i, some at a time.
func subscribeAll(ctx context.Context, c *benchtest.Subscriber, i, clients, count int, identical bool) error {
	const atOnce = 100
	var some []protocol.Subscription
	for j := i; j < count; j += clients {
		// The scans' nearest range is 5 m: none matches.
		condition := "laser.min < 0.25"
		if !identical {
			condition = fmt.Sprintf("laser.min < %v", 0.25+float64(j)/float64(count))
		}
		some = append(some, protocol.Subscription{ID: fmt.Sprintf("near-%d", j), Condition: condition})
		if len(some) == atOnce || j+clients >= count {
			if err := c.Subscribe(ctx, some...); err != nil {
				return err
			}
			some = some[:0]
		}
	}
	return nil
}
