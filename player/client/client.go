package client

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"callboard/player"
)

// Client keeps a session with one Player server.
type Client struct {
	cfg      Config
	counters counters

	mu      sync.Mutex
	session *session       // the one that stands, nil: none
	demand  map[uint32]int // how often Open was called for a device, less Close
	opening []*waiter      // calls of Open that wait
	running atomic.Bool
}

// New makes a client; Run starts it.
func New(cfg Config) (*Client, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	return &Client{cfg: cfg}, nil
}

// Run connects, and reconnects with growing pauses, until ctx ends, whose
// error it returns. It may be called once.
func (c *Client) Run(ctx context.Context) error {
	if c.running.Swap(true) {
		return fmt.Errorf("client: Run of the client of %s was called twice", c.cfg.Address)
	}
	pause := backoff{min: c.cfg.BackoffMin, max: c.cfg.BackoffMax, jitter: c.cfg.Jitter}
	for {
		up, err := c.once(ctx)
		if ctx.Err() != nil {
			if up > 0 {
				c.down(ctx.Err())
			}
			return ctx.Err()
		}
		c.down(err)
		if up > pause.base() {
			pause.reset() // it stood longer than the pause before it: no crash loop
		}
		wait := time.NewTimer(pause.next())
		select {
		case <-ctx.Done():
			wait.Stop()
			return ctx.Err()
		case <-wait.C:
		}
	}
}

func (c *Client) down(err error) {
	if c.cfg.Relay != nil {
		c.cfg.Relay.Down()
	}
	c.cfg.Handler.Down(err)
}

// once runs one session and returns how long it stood.
func (c *Client) once(ctx context.Context) (time.Duration, error) {
	dialing, cancel := context.WithTimeout(ctx, c.cfg.ConnectTimeout)
	conn, err := c.cfg.Dial(dialing, c.cfg.Address)
	cancel()
	if err != nil {
		c.counters.failedDials.Add(1)
		return 0, fmt.Errorf("client: connect to %s: %w", c.cfg.Address, err)
	}
	c.counters.connects.Add(1)
	s := newSession(c, conn)
	err = s.run(ctx)
	c.setSession(s, nil)
	if err != nil {
		err = fmt.Errorf("client: session with %s: %w", c.cfg.Address, err)
	}
	if s.upAt.IsZero() {
		return 0, err
	}
	return max(time.Since(s.upAt), 1), err
}

// setSession makes to the session that requests go to, if from was, or if
// there was none.
func (c *Client) setSession(from, to *session) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.session == nil || c.session == from {
		c.session = to
	}
	if c.session == nil {
		c.settle(func(*waiter) bool { return true }, ErrAway)
	}
}

// Devices returns the addresses of all devices of the server, opened or not, in
// its order. Without a session the error is ErrAway, wrapped.
func (c *Client) Devices() ([]player.Addr, error) {
	s, err := c.current()
	if err != nil {
		return nil, fmt.Errorf("devices of %s: %w", c.cfg.Address, err)
	}
	return slices.Clone(s.listed), nil
}

func (c *Client) current() (*session, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.session == nil {
		return nil, ErrAway
	}
	return c.session, nil
}
