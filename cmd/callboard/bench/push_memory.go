package bench

import (
	"context"
	"errors"
	"fmt"
	"time"

	"callboard/bridge/benchtest"
	"callboard/subscribe/protocol"

	"golang.org/x/sync/errgroup"
)

// runMemory measures what a subscription holds in a whole broker.
func runMemory(ctx context.Context, v Values, report func(Result)) error {
	n := v.Int("subscriptions")
	for _, identical := range []bool{false, true} {
		for _, count := range []int{max(n/10, 1), n} {
			if err := subscriptionMemory(ctx, v, count, identical, report); err != nil {
				return err
			}
		}
	}
	return nil
}

func subscriptionMemory(ctx context.Context, v Values, count int, identical bool, report func(Result)) error {
	fleet, err := benchtest.NewFleet(1, v.Int("beams"))
	if err != nil {
		return err
	}
	name := fmt.Sprintf("memory, %d conditions", count)
	if identical {
		name = fmt.Sprintf("memory, 1 condition %d times", count)
	}
	return withBroker(ctx, fleet, func(b *benchtest.Broker) (err error) {
		clients := make([]*benchtest.Subscriber, min(v.Int("clients"), count))
		defer func() {
			for _, c := range clients {
				if c != nil {
					err = errors.Join(err, c.Close())
				}
			}
		}()
		for i := range clients {
			if clients[i], err = benchtest.Attach(ctx, b.URL(), fmt.Sprintf("client-%d", i), nil, nil); err != nil {
				return err
			}
			// The first subscription makes the client's sequence.
			if err := clients[i].Subscribe(ctx, protocol.Subscription{ID: "first", Condition: "laser.min < 0"}); err != nil {
				return err
			}
		}
		if err := read(ctx, b, 1); err != nil {
			return err
		}
		before, began := settledHeap(), time.Now()
		var subscribing errgroup.Group
		for i, c := range clients {
			subscribing.Go(func() error { return subscribeAll(ctx, c, i, len(clients), count, identical) })
		}
		if err := subscribing.Wait(); err != nil {
			return err
		}
		took := time.Since(began)
		if err := read(ctx, b, 2); err != nil { // the robot's session meets them
			return err
		}
		report(Result{Case: name, Metric: "live heap per subscription", Value: (float64(settledHeap()) - float64(before)) / float64(count), Unit: "B"})
		report(Result{Case: name, Metric: "subscriptions made per second", Value: float64(count) / took.Seconds(), Unit: "1/s"})
		return nil
	})
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

// read has the robot give a scan that nobody wants, and waits until it is the
// n-th that was tested.
func read(ctx context.Context, b *benchtest.Broker, n uint64) error {
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
