package bridge_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"callboard/bridge/benchtest"
	"callboard/subscribe/protocol"
)

// crowd is subscribers that all get the near scans of all robots.
type crowd struct {
	broker *benchtest.Broker
	all    []*benchtest.Subscriber
	got    atomic.Uint64
	due    atomic.Uint64 // what got is to reach
	there  chan struct{}
	scans  uint64 // published, near and far
	near   uint64
	bytes  atomic.Uint64
}

// newCrowd attaches n subscribers, with ids if lasting.
func newCrowd(ctx context.Context, b *benchtest.Broker, n int, lasting bool) (*crowd, error) {
	c := &crowd{broker: b, there: make(chan struct{}, 1)}
	for i := range n {
		id := ""
		if lasting {
			id = fmt.Sprintf("subscriber-%d", i)
		}
		s, err := benchtest.Attach(ctx, b.URL(), id, nil, c.take)
		if err != nil {
			return nil, errors.Join(err, c.close())
		}
		c.all = append(c.all, s)
		if err := s.Subscribe(ctx, protocol.Subscription{ID: "near", Condition: benchtest.Near}); err != nil {
			return nil, errors.Join(err, c.close())
		}
	}
	return c, nil
}

func (c *crowd) take(text []byte) {
	c.bytes.Add(uint64(len(text)))
	if c.got.Add(1) == c.due.Load() {
		c.there <- struct{}{}
	}
}

// round has a robot give so many far scans and then a near one, and waits
// until all have that.
func (c *crowd) round(ctx context.Context, robot, far int) error {
	c.near++
	c.due.Store(c.near * uint64(len(c.all)))
	for range far {
		c.scans++
		c.broker.Fleet.Publish(robot, false, float64(c.scans)/10)
	}
	c.scans++
	c.broker.Fleet.Publish(robot, true, float64(c.scans)/10)
	select {
	case <-c.there:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// size is a notification's mean size, in bytes.
func (c *crowd) size() float64 { return float64(c.bytes.Load()) / float64(max(c.got.Load(), 1)) }

// close ends all subscribers and returns what went wrong before.
func (c *crowd) close() error {
	var errs []error
	for _, s := range c.all {
		errs = append(errs, s.Close())
	}
	return errors.Join(errs...)
}
