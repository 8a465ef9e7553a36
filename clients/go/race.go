package callboard

import (
	"context"
	"sync"
	"time"
)

// stagger is how long a broker may take to answer before the next one is
// asked besides. Longer than most round trips, so that what answers is left
// alone; short beside the time that a broker out of reach would cost.
const stagger = 250 * time.Millisecond

// race asks several brokers, and the first that answers wins.
type race struct {
	c       *Client
	results chan raceResult // cap: one for each broker

	mu      sync.Mutex
	decided bool
}

type raceResult struct {
	url  string
	conn *connection
	err  error
}

// first asks brokers in order, the next one when one fails or does not answer
// for a while, and returns the first connection that stands, and by URL the
// errors of those that failed before. Goroutines that are still dialing end
// soon after it; running counts them.
func (c *Client) first(ctx context.Context, urls []string, running *sync.WaitGroup) (*connection, map[string]error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	r := &race{c: c, results: make(chan raceResult, len(urls))}
	failed := map[string]error{}
	timer := time.NewTimer(stagger)
	defer timer.Stop()
	started := 0
	next := func() {
		if started < len(urls) {
			url := urls[started]
			started++
			running.Go(func() { r.run(ctx, url) })
			timer.Reset(stagger)
		}
	}
	next()
	for len(failed) < len(urls) {
		select {
		case got := <-r.results:
			if got.err == nil {
				return got.conn, failed
			}
			failed[got.url] = got.err
			if ctx.Err() == nil {
				next()
			} else if len(failed) == started {
				return nil, failed
			}
		case <-timer.C:
			next()
		}
	}
	return nil, failed
}

// run asks one broker. Who comes late closes the connection again.
func (r *race) run(ctx context.Context, url string) {
	connecting, cancel := context.WithTimeout(ctx, r.c.config.ConnectTimeout)
	defer cancel()
	began := time.Now()
	conn, err := r.c.dial(connecting, url)
	if err != nil {
		r.results <- raceResult{url: url, err: err}
		return
	}
	r.mu.Lock()
	late := r.decided
	r.decided = true
	r.mu.Unlock()
	if late {
		conn.socket.Close()
		return
	}
	r.c.answered(url, time.Since(began))
	r.results <- raceResult{url: url, conn: conn}
}

// answered notes how near a broker is.
func (c *Client) answered(url string, took time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if b := c.roster.find(url); b != nil {
		b.RoundTrip = max(took, 1)
	}
}
