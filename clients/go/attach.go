package callboard

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"time"

	"callboard/subscribe/protocol"
)

// stayAttached tries the brokers in turn, beginning with the last that took
// this client, and attends to the one that takes it until it is lost.
func (c *Client) stayAttached(ctx context.Context, first func(error)) error {
	at, backoff := 0, c.config.BackoffMin
	for {
		begun := time.Now()
		attached, err := c.round(ctx, &at, first)
		var end *fatal
		switch {
		case ctx.Err() != nil:
			return nil
		case errors.As(err, &end):
			return end.err
		case attached && time.Since(begun) >= c.config.BackoffMax:
			backoff = c.config.BackoffMin // it was a good connection
		case !attached:
			if first != nil {
				first(err)
			}
			c.log.Warn("no broker takes this client, trying again", "wait", backoff, "error", err)
		}
		if !sleep(ctx, backoff/2+rand.N(backoff/2+1)) || c.queue.half(ctx) != nil {
			return nil
		}
		backoff = min(2*backoff, c.config.BackoffMax)
	}
}

// round tries each broker once, beginning with number *at, until one takes
// this client; attached says that one had.
func (c *Client) round(ctx context.Context, at *int, first func(error)) (attached bool, err error) {
	var faults []error
	for range c.config.Brokers {
		attached, err = c.attach(ctx, c.config.Brokers[*at], first)
		if errors.Is(err, errRenumbered) {
			attached, err = c.attach(ctx, c.config.Brokers[*at], first)
		}
		var end *fatal
		if attached || ctx.Err() != nil || errors.As(err, &end) {
			return attached, err
		}
		faults = append(faults, err)
		*at = (*at + 1) % len(c.config.Brokers)
	}
	return false, errors.Join(faults...)
}

// attach connects to one broker and attends to the connection until it ends.
// welcomed says that the broker had taken this client.
func (c *Client) attach(ctx context.Context, url string, first func(error)) (welcomed bool, err error) {
	connecting, cancel := context.WithTimeout(ctx, c.config.ConnectTimeout)
	conn, err := c.dial(connecting, url)
	cancel()
	if err != nil {
		return false, err
	}
	tried := c.begin(conn)
	var writer sync.WaitGroup
	writer.Go(func() { conn.write(c.acks, c.config.AckDelay) })
	ended := make(chan struct{})
	writer.Go(func() {
		select {
		case <-ctx.Done():
			c.farewell(conn, ended)
		case <-ended:
		}
	})
	err = c.attend(conn, tried, first)
	c.end(conn)
	conn.finish()
	conn.socket.Close()
	close(ended)
	writer.Wait()
	if conn.welcomed && ctx.Err() == nil {
		c.log.Warn("connection lost", "broker", url, "error", err)
		c.queue.force(item{event: &Detached{URL: url, Err: err}})
	}
	return conn.welcomed, err
}

// farewell ends a connection on purpose: it waits a second at most for the
// event that the program is handling, and another for the last words.
func (c *Client) farewell(conn *connection, ended <-chan struct{}) {
	wait(c.delivered, time.Second)
	c.mu.Lock()
	if c.random { // nobody comes back: the broker need not keep anything
		for _, id := range sortedKeys(c.entries) {
			conn.send(protocol.Unsubscribe{Op: protocol.OpUnsubscribe, ID: id})
		}
	}
	c.mu.Unlock()
	conn.finish()
	wait(ended, time.Second)
	conn.socket.Close()
}

// wait waits for ch, but not longer than d.
func wait(ch <-chan struct{}, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ch:
	case <-timer.C:
	}
}

// begin makes conn the current connection: hello first, then what waits for
// an answer. It gives the highest attachment used before this one.
func (c *Client) begin(conn *connection) (tried uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	hello := protocol.Hello{Op: protocol.OpHello, Client: c.config.Client, Token: c.config.Token}
	tried = c.attachment
	if tried > 0 && !c.config.Anonymous {
		c.attachment++
		number := c.attachment
		hello.Attachment = &number
	}
	if c.session != "" && !c.config.Anonymous {
		hello.Session = c.session
		hello.Num = c.handledNums()
		for _, s := range c.sources {
			s.resume()
		}
	}
	hello.Subscriptions = c.confirmed()
	conn.send(hello)
	c.conn = conn
	for _, id := range sortedKeys(c.entries) {
		c.entries[id].begin(conn)
	}
	return tried
}

// end takes conn away; requests on it will not be answered.
func (c *Client) end(conn *connection) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.conn = nil
	if conn.welcomed {
		c.attached = make(chan struct{})
	}
	for id, r := range c.requests {
		r.answer <- answer{err: ErrLost}
		delete(c.requests, id)
	}
}

// sleep waits; false if ctx ended first.
func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
