package callboard

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"callboard/subscribe/protocol"
)

// maxSides bounds the URLs of pairs of brokers that are remembered, and how many a
// welcome may name.
const maxSides = 64

// sides are where a pair of brokers is, as its last welcome has said.
type sides struct {
	urls    []string
	current string // the one that the client hangs on, or did last
}

// others are the sides that the client does not hang on.
func (s sides) others() []string {
	return slices.DeleteFunc(slices.Clone(s.urls), func(url string) bool { return url == s.current })
}

// sideWait is how long a client that has lost one side of a pair waits for the
// other, to which it listens, to be active before it looks for any broker.
const sideWait = 500 * time.Millisecond

// errOldTerm ends a connection with a side that does not know yet that it has been
// replaced.
var errOldTerm = errors.New("it is the side of a pair of brokers that was active before")

// meetSides takes what a welcome says of a pair. mu is held.
func (c *Client) meetSides(conn *connection, w *protocol.Welcome) error {
	if w.Term < c.terms[conn.url] && w.Term > 0 {
		return fmt.Errorf("broker %s: term %d after %d: %w", conn.url, w.Term, c.terms[conn.url], errOldTerm)
	}
	conn.sides = nil
	for _, s := range w.Sides[:min(len(w.Sides), maxSides/2)] {
		if url, err := BrokerURL(s.URL); err == nil {
			conn.sides = append(conn.sides, url)
		}
	}
	c.inTerm(conn, w.Term)
	c.sides = sides{conn.sides, conn.url}
	signal(c.sided)
	return nil
}

// inTerm notes in which term the client is served. mu is held.
func (c *Client) inTerm(conn *connection, term uint64) {
	if term == 0 {
		return
	}
	if len(c.terms) > maxSides-len(conn.sides) {
		clear(c.terms)
	}
	for _, url := range append([]string{conn.url}, conn.sides...) {
		c.terms[url] = max(term, c.terms[url])
	}
}

// takeHeartbeat takes the term in which what follows is said.
func (c *Client) takeHeartbeat(conn *connection, text []byte) error {
	var h protocol.Heartbeat
	if err := decode(text, &h, func(*protocol.Heartbeat) error { return checkTerm(h.Term) }); err != nil {
		return err
	}
	return c.locked(conn, func() error { c.inTerm(conn, h.Term); return nil })
}

// watch keeps a connection with each side of a pair that the client does not hang
// on, until ctx ends: when one becomes active, the client goes there at once.
func (c *Client) watch(ctx context.Context) {
	for {
		c.mu.Lock()
		now := c.sides
		c.mu.Unlock()
		watching, stop := context.WithCancel(ctx)
		done := make(chan struct{})
		go func() {
			defer close(done)
			c.listenAt(watching, now.others())
		}()
		for same := true; same; {
			select {
			case <-c.sided:
				c.mu.Lock()
				same = slices.Equal(c.sides.others(), now.others())
				c.mu.Unlock()
			case <-ctx.Done():
				same = false
			}
		}
		stop()
		<-done
		if ctx.Err() != nil {
			return
		}
	}
}

// listenAt listens at the first of sides, which are those that the client does not
// hang on: of a pair it is the only one.
func (c *Client) listenAt(ctx context.Context, others []string) {
	if len(others) == 0 {
		<-ctx.Done()
		return
	}
	for wait := c.config.BackoffMin; ctx.Err() == nil; wait = min(2*wait, c.config.BackoffMax) {
		began := time.Now()
		err := c.listen(ctx, others[0])
		if time.Since(began) > 2*wait {
			wait = c.config.BackoffMin
		}
		if ctx.Err() == nil {
			c.log.Debug("the other side of the pair is not listened to", "url", others[0], "error", err)
		}
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
		}
	}
}

// listen hears which side is active, until the connection ends.
func (c *Client) listen(ctx context.Context, url string) error {
	conn, err := c.dial(ctx, url)
	if err != nil {
		return err
	}
	conn.silence = 0 // it says little; whether it lives, the broker asks
	defer context.AfterFunc(ctx, func() { conn.socket.Close() })()
	written := make(chan struct{})
	go func() {
		defer close(written)
		conn.write(func(*connection, bool) ([]protocol.Ack, bool) { return nil, false }, c.config.AckDelay)
	}()
	defer func() { <-written }()
	defer conn.finish()
	defer conn.socket.Close()
	c.mu.Lock()
	hello := protocol.Hello{Op: protocol.OpHello, Token: c.config.Token, Standby: true, Term: c.terms[url]}
	c.mu.Unlock()
	conn.send(hello)
	defer c.listening.Store(false)
	for {
		text, err := conn.read()
		if err != nil {
			return err
		}
		var m protocol.Active
		op, err := operation(text)
		if err != nil {
			return err
		}
		if c.listening.Store(true); op != protocol.OpActive {
			continue // a newer broker may know more than this library
		}
		if err := json.Unmarshal(text, &m); err != nil {
			return err
		}
		c.mu.Lock()
		newer := m.Term >= c.terms[url]
		c.mu.Unlock()
		if newer {
			c.log.Info("the other side of the pair is active now", "url", url, "term", m.Term)
			if err := c.Move(ctx, url); err != nil {
				return err
			}
		}
	}
}
