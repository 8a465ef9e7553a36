package deadline

import (
	"context"
	"sync"
	"time"
)

// Timer is a time limit for what a peer is to do, where no connection has one: by
// the rule it has two halves, and the second begins when this process gets to it.
type Timer struct {
	f    func()
	half time.Duration

	mu     sync.Mutex
	timer  *time.Timer
	second bool
	over   bool
}

// AfterFunc returns a Timer that calls f in a goroutine of its own once d has
// passed.
func AfterFunc(d time.Duration, f func()) *Timer {
	t := &Timer{f: f, half: d / 2}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.timer = time.AfterFunc(d-d/2, t.pass)
	return t
}

func (t *Timer) pass() {
	t.mu.Lock()
	if t.over || !t.second {
		if !t.over {
			t.second = true
			t.timer.Reset(t.half)
		}
		t.mu.Unlock()
		return
	}
	t.over = true
	t.mu.Unlock()
	t.f()
}

// Stop ends the timer. It reports whether f will not be called for it.
func (t *Timer) Stop() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	stopped := !t.over
	t.over = true
	t.timer.Stop()
	return stopped
}

// Context returns a context that ends once d has passed, by the rule. The cause
// of its end is then context.DeadlineExceeded.
func Context(parent context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(parent)
	timer := AfterFunc(d, func() { cancel(context.DeadlineExceeded) })
	return ctx, func() {
		timer.Stop()
		cancel(context.Canceled)
	}
}
