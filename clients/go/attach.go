package callboard

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"callboard/subscribe/protocol"
)

// lingering is how long a connection that was replaced waits for the answers
// to its commands and lists.
const lingering = time.Second

// maxUnanswered bounds the hellos without a number that are remembered, and
// unansweredFor for how long each is.
const (
	maxUnanswered = 16
	unansweredFor = 5 * time.Minute
)

// errDoubtful ends a connection whose answers need not hold.
var errDoubtful = errors.New("another broker may have taken this client, and not answered; hello is said again")

// errUntold ends a connection whose broker does not know all sources.
var errUntold = errors.New("a source came while hello was under way; hello is said again")

// errReplaced ends a connection that another one has replaced.
var errReplaced = errors.New("another connection has replaced this one")

// attach says hello over a connection and attends to it until it ends.
// welcomed is called once the broker has taken this client; that false comes
// back says that it never did.
func (c *Client) attach(ctx context.Context, conn *connection, a *attempt, welcomed func()) (bool, error) {
	tried := c.begin(conn, a)
	defer close(conn.done)
	hello, cancel := context.WithTimeoutCause(ctx, c.config.ConnectTimeout,
		fmt.Errorf("no welcome within %s", c.config.ConnectTimeout))
	defer cancel()
	ended := make(chan struct{})
	stop := context.AfterFunc(hello, func() {
		defer close(ended)
		c.giveUp(conn)
	})
	wait := sync.OnceFunc(func() {
		if !stop() {
			<-ended
		}
	})
	var writer sync.WaitGroup
	writer.Go(func() { conn.write(c.acks, c.config.AckDelay) })
	taken := false
	err := c.attend(conn, tried, func() {
		taken = true
		wait()
		welcomed()
	})
	wait()
	if taken {
		c.mu.Lock()
		if conn.failed != nil {
			err = conn.failed
		}
		c.mu.Unlock()
	} else {
		c.giveUp(conn)
		if cause := context.Cause(hello); cause != nil {
			err = fmt.Errorf("broker %s: %w", conn.url, cause)
		}
	}
	c.end(conn, err)
	conn.finish()
	conn.socket.Close()
	writer.Wait()
	return taken, err
}

// begin says hello over conn: first what is in force, then what waits for an
// answer. From here on until the welcome, the connection in use delivers, but
// neither acknowledges nor confirms anything. It returns the highest attachment
// used before this one.
func (c *Client) begin(conn *connection, a *attempt) (tried uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	a.said = true
	conn.began, conn.from = a.began, c.last
	if c.conn == nil && a.move == nil && !a.choice && !c.lost.IsZero() {
		conn.began = c.lost
	}
	hello := protocol.Hello{Op: protocol.OpHello, Client: c.config.Client, Token: c.config.Token, Term: c.terms[conn.url]}
	tried = c.attachment
	if tried > 0 && !c.config.Anonymous {
		c.attachment++
		number := c.attachment
		hello.Attachment = &number
	}
	conn.unnumbered = hello.Attachment == nil && !c.config.Anonymous
	if c.session != "" && !c.config.Anonymous {
		hello.Session = c.session
		c.resumeLeg(conn)
		hello.Num = conn.told
		away := append([]string{}, sortedKeys(c.away)...) // none is an empty list, not null
		hello.Away = &away
	}
	if !c.config.Anonymous {
		hello.Tasks = c.tasksOf()
	}
	hello.Subscriptions = c.confirmed()
	for _, s := range hello.Subscriptions {
		conn.resuming[s.ID] = true
	}
	conn.send(hello)
	c.next = conn
	for _, id := range sortedKeys(c.entries) {
		if e := c.entries[id]; e.op != nil && !e.ending() {
			e.op.next = true
			e.send(conn)
		}
	}
	c.sayTasks(conn)
	return tried
}

// giveUp ends a connection that was not welcomed. If it was refused, what the
// connection in use, if there still is one, has answered meanwhile counts again,
// and it is sent what only the other one was sent. If not, the hello may have
// arrived: then that broker has this client, by the set that the hello listed,
// and what the connection in use answers to changes is not so. It delivers on,
// but when something is to be changed, hello is said again first.
func (c *Client) giveUp(conn *connection) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if conn.welcomed {
		return
	}
	conn.socket.Close()
	if c.next != conn {
		return
	}
	c.next = nil
	if conn.unnumbered && !conn.refused && len(c.unanswered) < maxUnanswered {
		c.unanswered = append(c.unanswered, time.Now())
	}
	if c.owed != nil {
		c.queue.force(item{event: c.owed})
		c.owed = nil
	}
	held := c.held
	c.held = nil
	if c.conn != nil && !conn.refused {
		c.conn.doubtful = true
	}
	waits := len(held) > 0
	for _, id := range sortedKeys(c.entries) {
		e := c.entries[id]
		if e.op == nil {
			continue
		}
		e.op.next, waits = false, true
		if c.conn != nil && !c.conn.doubtful && !e.op.current {
			e.op.current = true
			e.send(c.conn)
		}
	}
	if c.conn != nil && c.conn.doubtful && waits {
		c.conn.leave(errDoubtful)
		return
	}
	for _, take := range held {
		take()
	}
	if c.conn != nil {
		signal(c.conn.wake)
	}
}

// leave ends a connection for a reason of our own. Client.mu is held.
func (n *connection) leave(why error) {
	n.failed = fmt.Errorf("broker %s: %w", n.url, why)
	n.socket.Close()
}

// replace makes conn, which is welcome, the connection in use. mu is held.
func (c *Client) replace(conn *connection) (moved bool) {
	old := c.conn
	c.conn, c.next, c.held, c.owed, c.last = conn, nil, nil, nil, conn.url
	conn.welcomed, conn.attended = true, time.Now()
	if old == nil {
		close(c.attached)
		return false
	}
	if c.retired != nil {
		c.retired.socket.Close()
	}
	c.retired = old
	if old.requests == 0 {
		old.finish()
	} else {
		old.linger = time.AfterFunc(lingering, old.finish)
	}
	return true
}

// end takes conn away; requests on it will not be answered. That it was in
// use is told as Detached, unless a hand-over is under way: then only if that
// fails.
func (c *Client) end(conn *connection, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if conn.linger != nil {
		conn.linger.Stop()
	}
	for id, r := range c.requests {
		if r.conn == conn {
			r.answer <- answer{err: ErrLost}
			delete(c.requests, id)
		}
	}
	if c.retired == conn {
		c.retired = nil
	}
	if c.conn != conn {
		return
	}
	c.conn, c.held, c.lost = nil, nil, time.Now()
	c.attached = make(chan struct{})
	for _, e := range c.entries {
		if e.op != nil {
			e.op.current = false
		}
	}
	c.loseTasks()
	if c.leaving {
		return
	}
	lost := &Detached{URL: conn.url, Err: err}
	if c.next != nil {
		c.owed = lost
		return
	}
	c.log.Warn("connection lost", "broker", conn.url, "error", err)
	c.queue.force(item{event: lost})
}

// farewell ends a connection on purpose: it waits a second at most for the
// event that the program is handling, and another for the last words.
func (c *Client) farewell(conn *connection) {
	wait(c.delivered, time.Second)
	reason := ""
	c.mu.Lock()
	if c.random { // nobody comes back: the broker need not keep anything
		for _, id := range sortedKeys(c.entries) {
			conn.send(protocol.Unsubscribe{Op: protocol.OpUnsubscribe, ID: id})
		}
		reason = protocol.Goodbye
	}
	c.mu.Unlock()
	conn.close(reason)
	wait(conn.done, time.Second)
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
