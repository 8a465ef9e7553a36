package server

import (
	"context"
	"sync"
)

// backpressure is how drivers that can wait are held back: a connection is crowded
// from the moment that half of its queue is taken until a quarter is.
type backpressure struct {
	mu      sync.Mutex
	crowded map[*conn]struct{}
	free    chan struct{} // closed when nothing is crowded any more; nil: nothing is
}

// set notes whether c is crowded.
func (b *backpressure) set(c *conn, crowded bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if crowded {
		if b.crowded == nil {
			b.crowded = map[*conn]struct{}{}
		}
		b.crowded[c] = struct{}{}
		if b.free == nil {
			b.free = make(chan struct{})
		}
		return
	}
	delete(b.crowded, c)
	if len(b.crowded) == 0 && b.free != nil {
		close(b.free)
		b.free = nil
	}
}

// WaitRoom waits until every client of pub's server has room for half a queue
// of readings, or ctx ends, and then returns its error. A driver that replays and
// need not keep time calls it before it publishes, so that its slowest client
// decides how fast it goes, and none loses anything, as long as less than half
// a queue (Config.QueueLength, QueueBytes) is published between two calls. With
// a Publisher that is not a Server's it does not wait.
func WaitRoom(ctx context.Context, pub Publisher) error {
	if HasRoom(pub) {
		return nil
	}
	p := pub.(publisher)
	p.s.backpressure.mu.Lock()
	free := p.s.backpressure.free
	p.s.backpressure.mu.Unlock()
	if free == nil {
		return nil
	}
	select {
	case <-free:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// HasRoom reports whether WaitRoom would not wait.
func HasRoom(pub Publisher) bool {
	p, ok := pub.(publisher)
	return !ok || p.s.crowded.Load() == 0
}

// Crowded lists the addresses of the clients that WaitRoom waits for.
func Crowded(pub Publisher) []string {
	p, ok := pub.(publisher)
	if !ok {
		return nil
	}
	p.s.backpressure.mu.Lock()
	defer p.s.backpressure.mu.Unlock()
	var out []string
	for c := range p.s.backpressure.crowded {
		out = append(out, c.nc.RemoteAddr().String())
	}
	return out
}

// measure notes when the connection has become crowded, or is so no
// longer. c.mu is held.
func (c *conn) measure() {
	parts := 2
	if c.crowded {
		parts = 4
	}
	crowded := !c.over && (c.q.live+len(c.held) > c.q.limit/parts || c.q.bytes > c.q.maxBytes/parts)
	if crowded == c.crowded {
		return
	}
	c.crowded = crowded
	if crowded {
		c.server.crowded.Add(1)
	} else {
		c.server.crowded.Add(-1)
	}
	c.server.backpressure.set(c, crowded)
}
