package bridge

import (
	"context"
	"sync"
)

// orders are what a side is to do, in order. Putting one in waits for nothing.
type orders struct {
	mu      sync.Mutex
	waiting []func(context.Context) error
	ready   chan struct{} // holds one while something waits
}

func newOrders() *orders { return &orders{ready: make(chan struct{}, 1)} }

func (o *orders) put(do func(context.Context) error) {
	o.mu.Lock()
	o.waiting = append(o.waiting, do)
	o.mu.Unlock()
	select {
	case o.ready <- struct{}{}:
	default:
	}
}

// take waits for the next one; nil: ctx has ended.
func (o *orders) take(ctx context.Context) func(context.Context) error {
	for {
		o.mu.Lock()
		if len(o.waiting) > 0 {
			do := o.waiting[0]
			o.waiting[0] = nil
			o.waiting = o.waiting[1:]
			o.mu.Unlock()
			return do
		}
		o.mu.Unlock()
		select {
		case <-o.ready:
		case <-ctx.Done():
			return nil
		}
	}
}
