package callboard

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"
)

// move is a call of Move.
type move struct {
	ctx       context.Context
	url       string
	began     time.Time
	overtaken bool
	answer    chan error // cap 1
}

// Move hands the client over to another broker and waits until that one has
// taken it. The connection in use goes on until then, and stays if the other
// broker does not take this client, which is the error. Nothing is lost or
// comes twice, and the order stays. Where the client hangs already, it does
// nothing. Another Move replaces one that has not ended (ErrOvertaken).
func (c *Client) Move(ctx context.Context, url string) error {
	url, err := BrokerURL(url)
	if err != nil {
		return err
	}
	m := &move{ctx: ctx, url: url, began: time.Now(), answer: make(chan error, 1)}
	select {
	case c.moves <- m:
		return <-m.answer
	case <-ctx.Done():
		return fmt.Errorf("callboard: moving to %s: %w", url, ctx.Err())
	case <-c.done:
		c.mu.Lock()
		defer c.mu.Unlock()
		return c.closedError()
	}
}

// attempt is a hand-over that is under way: at most one is.
type attempt struct {
	urls   []string
	move   *move // nil: after a loss, or by choice
	choice bool  // by choice: the connection in use lives
	began  time.Time
	cancel context.CancelFunc
	said   bool // hello was said, so brokers may know of it
}

// report is what the goroutine of a connection tells Run.
type report struct {
	attempt *attempt    // nil once its connection was welcome
	conn    *connection // nil: no broker took this client
	err     error       // nil: welcome
}

// roamer decides which broker the client hangs on. It runs in Run's
// goroutine; each attempt has one of its own, which goes on to read the
// connection that comes of it.
type roamer struct {
	c       *Client
	ctx     context.Context
	first   func(error) // gets the outcome of the first round, nil for none
	reports chan report
	stopped chan struct{} // closed when no report is taken any more
	running sync.WaitGroup

	current *connection // in use, nil while detached
	attempt *attempt    // nil: none under way
	pending *move       // waits until attempt has ended
	hold    time.Time   // no move by choice before it, since one has failed
	backoff time.Duration
	retry   *time.Timer
	waiting bool // for retry
}

// stayAttached keeps the client attached until ctx ends or going on makes no
// sense.
func (c *Client) stayAttached(ctx context.Context, first func(error)) error {
	r := &roamer{
		c: c, ctx: ctx, first: first, reports: make(chan report), stopped: make(chan struct{}),
		backoff: c.config.BackoffMin, retry: time.NewTimer(time.Hour),
	}
	r.retry.Stop()
	r.search("", false)
	err := r.run()
	r.stop()
	return err
}

func (r *roamer) run() error {
	for {
		select {
		case <-r.ctx.Done():
			return nil
		case m := <-r.c.moves:
			r.move(m)
		case <-r.retry.C:
			if r.waiting {
				r.search("", false)
			}
		case <-r.c.news:
			r.reconsider()
		case got := <-r.reports:
			if err := r.take(got); err != nil && r.ctx.Err() == nil {
				return err
			}
		}
	}
}

// take carries out a report. An error ends Run.
func (r *roamer) take(got report) error {
	switch {
	case got.conn == nil:
		return r.failed(got.attempt, got.err)
	case got.err == nil:
		r.welcomed(got.attempt, got.conn)
		return nil
	}
	return r.lost(got.conn, got.err)
}

// welcomed: an attempt has come to its end.
func (r *roamer) welcomed(a *attempt, conn *connection) {
	r.current, r.attempt, r.waiting = conn, nil, false
	r.retry.Stop()
	if a.move != nil {
		a.move.answer <- nil
	}
	if r.first != nil {
		r.first(nil)
	}
	if m := r.pending; m != nil {
		r.pending = nil
		r.move(m)
		return
	}
	r.reconsider()
}

// failed: no broker of an attempt took this client.
func (r *roamer) failed(a *attempt, err error) error {
	r.attempt = nil
	var end *fatal
	taken := errors.Is(err, ErrTakenOver)
	if a.move != nil {
		if a.move.overtaken {
			err = ErrOvertaken
		}
		a.move.answer <- fmt.Errorf("callboard: moving to %s: %w", a.move.url, err)
	}
	if taken && errors.As(err, &end) {
		return end.err
	}
	if r.current != nil && (a.move != nil || a.choice) {
		r.hold = time.Now().Add(r.c.config.BackoffMax)
		r.c.queue.force(item{event: &Stayed{URL: a.urls[0], Err: err}})
	}
	if m := r.pending; m != nil {
		r.pending = nil
		if r.current != nil && m.url == r.current.url && a.said {
			// The other broker may have got hold of this client.
			r.start(&attempt{urls: []string{m.url}, move: m, began: m.began})
			return nil
		}
		r.move(m)
		return nil
	}
	switch {
	case r.current != nil:
		r.reconsider()
	case a.move != nil || a.choice: // the connection in use was lost meanwhile
		r.search("", false)
	case errors.As(err, &end):
		return end.err
	default:
		if r.first != nil {
			r.first(err)
		}
		r.c.log.Warn("no broker takes this client, trying again", "wait", r.backoff, "error", err)
		r.wait()
		r.reconsider() // one may have come into reach meanwhile
	}
	return nil
}

// lost: a connection has ended.
func (r *roamer) lost(conn *connection, err error) error {
	if conn != r.current {
		return nil // it was replaced
	}
	r.current = nil
	var end *fatal
	if errors.As(err, &end) {
		return end.err
	}
	if r.attempt != nil {
		return nil // which may save the day
	}
	if r.c.listening.Load() { // it will say so when it is active
		r.waiting = true
		r.retry.Reset(sideWait)
		return nil
	}
	r.c.mu.Lock()
	lived := time.Since(conn.attended)
	r.c.mu.Unlock()
	if lived < 2*r.backoff && !errors.Is(err, errUntold) {
		r.wait()
		return nil
	}
	r.backoff = r.c.config.BackoffMin
	r.search(conn.url, away(err))
	return nil
}

// wait lets some time pass before the next search.
func (r *roamer) wait() {
	r.waiting = true
	r.retry.Reset(r.backoff/2 + rand.N(r.backoff/2+1))
	r.backoff = min(2*r.backoff, r.c.config.BackoffMax)
}

// search tries the brokers; last was lost just now, gone says that it is not
// expected to be there.
func (r *roamer) search(last string, gone bool) {
	r.waiting = false
	r.c.mu.Lock()
	known := r.c.roster.known(time.Now())
	r.c.inReach = false
	if last == "" {
		last = r.c.last
	}
	r.c.mu.Unlock()
	urls := r.choose("", known)
	if len(urls) == 0 {
		urls = order(known, last, gone)
	}
	if len(urls) == 0 {
		r.wait() // for a beacon
		return
	}
	r.start(&attempt{urls: urls, began: time.Now()})
}

// choose asks Config.Choose, and drops what is no URL.
func (r *roamer) choose(current string, known []Broker) (urls []string) {
	if r.c.config.Choose == nil {
		return nil
	}
	for _, text := range r.c.config.Choose(current, append([]Broker(nil), known...)) {
		url, err := BrokerURL(text)
		if err != nil {
			r.c.log.Error("Choose gave what is no broker", "error", err)
			continue
		}
		urls = append(urls, url)
	}
	return urls
}

// reconsider is called when the brokers known have changed.
func (r *roamer) reconsider() {
	r.c.mu.Lock()
	known, inReach := r.c.roster.known(time.Now()), r.c.inReach
	r.c.mu.Unlock()
	switch {
	case r.attempt != nil:
	case r.current == nil:
		if r.waiting && inReach {
			r.search("", false)
		}
	case time.Now().After(r.hold):
		urls := r.choose(r.current.url, known)
		if len(urls) > 0 && urls[0] != r.current.url {
			r.start(&attempt{urls: urls[:1], choice: true, began: time.Now()})
		}
	}
}

// move carries out a call of Move.
func (r *roamer) move(m *move) {
	if a := r.attempt; a != nil {
		if r.pending != nil {
			r.pending.answer <- fmt.Errorf("callboard: moving to %s: %w", r.pending.url, ErrOvertaken)
		}
		r.pending = m
		if a.move != nil {
			a.move.overtaken = true
		}
		a.cancel()
		return
	}
	if r.current != nil && r.current.url == m.url {
		m.answer <- nil
		return
	}
	r.waiting = false
	r.start(&attempt{urls: []string{m.url}, move: m, began: m.began})
}

// start begins an attempt.
func (r *roamer) start(a *attempt) {
	ctx, cancel := context.WithCancel(r.ctx)
	a.cancel = cancel
	r.attempt = a
	r.running.Go(func() {
		defer cancel()
		if a.move != nil {
			defer context.AfterFunc(a.move.ctx, cancel)()
		}
		r.try(ctx, a)
	})
}

// stop ends all that runs: the connection in use with a word of farewell if
// ctx has ended, and waits.
func (r *roamer) stop() {
	close(r.stopped)
	r.retry.Stop()
	c := r.c
	c.mu.Lock()
	c.leaving = true
	conn, retired := c.conn, c.retired
	c.mu.Unlock()
	if retired != nil {
		retired.socket.Close()
	}
	if r.attempt != nil {
		r.attempt.cancel()
	}
	switch {
	case conn == nil:
	case r.ctx.Err() != nil:
		c.farewell(conn)
	default:
		conn.finish()
		conn.socket.Close()
	}
	r.running.Wait()
	if a := r.attempt; a != nil && a.move != nil {
		a.move.answer <- ErrClosed
	}
	if r.pending != nil {
		r.pending.answer <- ErrClosed
	}
}
