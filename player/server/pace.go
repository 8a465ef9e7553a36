package server

import (
	"sync"
	"time"
)

// pace is how long a client that was written to just now waits for the next
// readings while the server has much to write: what comes meanwhile is then one
// write. A client with fewer than 250 readings a second gets each at once.
// (The real server takes up to 10 ms.)
const pace = 4 * time.Millisecond

// unpaced is how many writes to such clients a pace has room for: 4,000 a
// second cost little, and a few fast clients need not wait.
const unpaced = 16

// pacer writes to the clients that wait out their pace.
type pacer struct {
	mu      sync.Mutex
	timer   *time.Timer // runs while anybody waits
	waiting []*conn
	spare   []*conn // the list before, used again
	stopped bool

	since time.Time // when this pace began
	spent int       // of unpaced
}

// spend reports whether there is room for one more write in this pace.
func (p *pacer) spend(now time.Time) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if now.Sub(p.since) >= pace {
		p.since, p.spent = now, 0
	}
	p.spent++
	return p.spent <= unpaced
}

// add has c written to before long. c.mu is held.
func (p *pacer) add(c *conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.waiting = append(p.waiting, c)
	switch {
	case len(p.waiting) > 1 || p.stopped:
	case p.timer == nil:
		p.timer = time.AfterFunc(pace, p.write)
	default:
		p.timer.Reset(pace)
	}
}

func (p *pacer) write() {
	p.mu.Lock()
	due := p.waiting
	p.waiting, p.spare = p.spare[:0], nil
	p.mu.Unlock()
	now := time.Now()
	for i, c := range due {
		c.mu.Lock()
		c.pacing = false
		c.flushed = now.Add(-pace) // now
		c.signal()
		c.mu.Unlock()
		due[i] = nil
	}
	p.mu.Lock()
	p.spare = due
	p.mu.Unlock()
}

// stop ends the timer; what waits is written no more.
func (p *pacer) stop() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stopped = true
	if p.timer != nil {
		p.timer.Stop()
	}
}

// paced reports whether readings that are due wait for more to come. c.mu is held.
func (c *conn) paced() bool {
	if c.q.pull || c.q.waitingReplies() > 0 || c.draining || c.q.bytes > chunk/2 || c.q.live > c.q.limit/4 {
		return false
	}
	now := time.Now()
	if now.Sub(c.flushed) >= pace || !c.pacing && c.server.pacer.spend(now) {
		c.flushed = now
		return false
	}
	if !c.pacing {
		c.pacing = true
		c.server.pacer.add(c)
	}
	return true
}
