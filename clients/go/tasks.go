package callboard

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"time"

	"callboard/subscribe/protocol"
)

// defaultTTL is how long a task may wait and take if nothing else is said; graceTTL is how
// much longer its answer is waited for.
const (
	defaultTTL = 10 * time.Second
	graceTTL   = 10 * time.Second
)

// Request is a task to ask for.
type Request struct {
	Queue string
	Body  any // encoded as JSON
	// TTL is how long it may wait and take. Default 10 s.
	TTL time.Duration
	// Key is its lasting name, unique for this client: the same key again, also of a
	// later process with the same client id, is the same task. Default: a random one.
	Key string
	// Accepted is called when the task is stored, with how many are before it.
	// Progress is called with what the server tells of how it comes on. Either is
	// called by the connection's goroutine and must not block. Default: none.
	Accepted func(ahead int)
	Progress func(json.RawMessage)
}

// asked is a task, or a command with a key, whose answer is awaited.
type asked struct {
	key, id  string
	message  func(id string, left time.Duration) any
	deadline time.Time
	accepted bool
	request  *Request    // nil: a command
	answer   chan answer // cap 1
}

// Request has a program that serves the queue do a task, and returns its answer. It
// lasts over lost connections, roams and brokers that are killed. When ctx ends the
// task is cancelled. An *Error says how it has ended otherwise: failed (the server's
// own error), expired, cancelled, unavailable, overloaded.
func (c *Client) Request(ctx context.Context, r Request) (json.RawMessage, error) {
	body, err := encodeBody(r.Body)
	if err != nil {
		return nil, fmt.Errorf("callboard: the body of a task: %w", err)
	}
	return c.ask(ctx, &asked{
		key: r.Key, request: &r, deadline: deadlineOf(r.TTL),
		message: func(id string, left time.Duration) any {
			ttl := left.Seconds()
			return &protocol.Request{ID: id, Queue: r.Queue, Body: body, TTL: &ttl, Key: r.Key}
		},
	}, func(key string) { r.Key = key })
}

func deadlineOf(ttl time.Duration) time.Time {
	if ttl <= 0 {
		ttl = defaultTTL
	}
	return time.Now().Add(ttl)
}

// commandOnce sends a command with a key: it is carried out once, whatever becomes of
// connections and brokers meanwhile.
func (c *Client) commandOnce(ctx context.Context, command Command) (json.RawMessage, error) {
	return c.ask(ctx, &asked{
		key: command.Key, deadline: deadlineOf(time.Duration(command.TTL * float64(time.Second))),
		message: func(id string, left time.Duration) any {
			command.ID, command.TTL = id, left.Seconds()
			return command
		},
	}, nil)
}

// ask asks for a task or a command, and waits for its answer.
func (c *Client) ask(ctx context.Context, a *asked, name func(key string)) (json.RawMessage, error) {
	if a.key == "" {
		a.key = randomKey()
		name(a.key)
	}
	a.answer = make(chan answer, 1)
	if err := c.begins(a); err != nil {
		return nil, err
	}
	late := time.NewTimer(time.Until(a.deadline) + graceTTL)
	defer late.Stop()
	select {
	case got := <-a.answer:
		return got.result, got.err
	case <-ctx.Done():
		c.giveUpTask(a)
		return nil, fmt.Errorf("callboard: waiting for the answer to a task: %w", ctx.Err())
	case <-late.C:
		c.giveUpTask(a)
		return nil, &Error{ID: a.id, Code: protocol.Unavailable, Message: "no broker has answered in time; the task may have been done"}
	}
}

// begins notes that a task is asked for, and says so to the broker if there is one.
func (c *Client) begins(a *asked) error {
	c.mu.Lock()
	c.nextID++
	a.id = taskPrefix + strconv.FormatUint(c.nextID, 10)
	c.mu.Unlock()
	text, err := encode(a.message(a.id, time.Until(a.deadline))) // others have the lock meanwhile
	if err == nil {
		err = checkLength(text)
	}
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.ended:
		return c.closedError()
	case c.asked[a.key] != nil:
		return &Error{Code: protocol.Conflict, Message: fmt.Sprintf("the answer to the task %q is awaited already", a.key)}
	}
	c.asked[a.key], c.askedByID[a.id] = a, a
	delete(c.cancels, a.key)
	switch {
	case !c.config.Anonymous:
		c.enqueue(text)
	case c.conn != nil: // over another connection it is another client, which would ask a second time
		c.conn.enqueue(text)
	}
	return nil
}

// enqueue sends a message over the connections that there are. mu is held.
func (c *Client) enqueue(text []byte) {
	for _, conn := range [...]*connection{c.conn, c.next} {
		if conn != nil {
			conn.enqueue(text)
		}
	}
}

// taskPrefix begins the ids of tasks that are asked for, and of queues that are served.
const taskPrefix = "~t"

func (c *Client) sayAsked(conn *connection, a *asked) {
	if left := time.Until(a.deadline); conn != nil && left > 0 {
		conn.send(a.message(a.id, left)) // its size was checked
	}
}

// forgetAsked ends the waiting for a task. mu is held.
func (c *Client) forgetAsked(a *asked) {
	if c.asked[a.key] == a {
		delete(c.asked, a.key)
	}
	delete(c.askedByID, a.id)
}

// maxCancels bounds the tasks whose cancelling is remembered.
const maxCancels = 1000

// giveUpTask has a task cancelled whose answer nobody waits for. A connection may be
// lost before the broker has heard of it: it is said behind each hello until there is
// an answer, or the task's time is over.
func (c *Client) giveUpTask(a *asked) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.asked[a.key] != a {
		return
	}
	c.forgetAsked(a)
	if !c.config.Anonymous && len(c.cancels) < maxCancels {
		c.cancels[a.key] = a.deadline
	}
	for _, conn := range []*connection{c.conn, c.next} {
		if conn != nil {
			conn.send(protocol.Cancel{Op: protocol.OpCancel, Key: a.key})
		}
	}
}

// takeAnswer takes the reply to a task. What nobody waits for is acknowledged, too.
func (c *Client) takeAnswer(conn *connection, r *reply) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	conn.enqueueLater(protocol.AppendMessage(nil, &protocol.Ack{Key: r.Key}))
	delete(c.cancels, r.Key)
	a := c.asked[r.Key]
	if a == nil {
		return c.current(conn)
	}
	c.forgetAsked(a)
	got := answer{result: r.Result}
	if !*r.OK {
		got = answer{err: r.problem()}
	}
	a.answer <- got
	return c.current(conn)
}

func (c *Client) takeAccepted(conn *connection, m protocol.Accepted) error {
	c.mu.Lock()
	a := c.asked[m.Key]
	fresh := a != nil && !a.accepted
	if fresh {
		a.accepted = true
	}
	err := c.current(conn)
	c.mu.Unlock()
	if fresh && a.request != nil && a.request.Accepted != nil {
		a.request.Accepted(int(min(m.Ahead, math.MaxInt32)))
	}
	return err
}

func (c *Client) takeProgress(conn *connection, m protocol.Progress) error {
	c.mu.Lock()
	a := c.asked[m.Key]
	c.mu.Unlock()
	if a != nil && a.request != nil && a.request.Progress != nil {
		a.request.Progress(m.Progress)
	}
	return nil
}

// tasksOf lists what a hello says of tasks: the keys whose answers are awaited, and
// what is in hand. mu is held.
func (c *Client) tasksOf() (words []string) {
	for _, key := range sortedKeys(c.asked) {
		if c.asked[key].accepted {
			words = append(words, key)
		}
	}
	served := sortedKeys(c.hands)
	for _, d := range c.lately() {
		served = append(served, d.message.Task)
	}
	slices.Sort(served)
	return append(words, slices.Compact(served)...)
}

// sayTasks says behind a hello what it does not list: answers that the last broker may
// not have passed on, what is served, what was cancelled, and what was not accepted. mu
// is held.
func (c *Client) sayTasks(conn *connection) {
	if !c.config.Anonymous {
		for _, d := range c.lately() {
			conn.send(d.message)
		}
	}
	for _, id := range sortedKeys(c.servers) {
		conn.send(c.servers[id].message())
	}
	maps.DeleteFunc(c.cancels, func(_ string, until time.Time) bool { return time.Now().After(until) })
	for _, key := range sortedKeys(c.cancels) {
		conn.send(protocol.Cancel{Op: protocol.OpCancel, Key: key})
	}
	if !c.config.Anonymous {
		c.sayUnaccepted(conn)
	}
}

// sayUnaccepted asks for what was not accepted. mu is held.
func (c *Client) sayUnaccepted(conn *connection) {
	for _, key := range sortedKeys(c.asked) {
		if a := c.asked[key]; !a.accepted {
			c.sayAsked(conn, a)
		}
	}
}

// loseTasks answers what an anonymous client has asked for over a connection that has
// ended: over the next one it is another client. mu is held.
func (c *Client) loseTasks() {
	if !c.config.Anonymous {
		return
	}
	for _, key := range sortedKeys(c.asked) {
		a := c.asked[key]
		c.forgetAsked(a)
		a.answer <- answer{err: ErrLost}
	}
	for _, t := range c.hands {
		t.cancel()
	}
	clear(c.hands)
	c.dones, c.doneBytes = nil, 0
}

func randomKey() string {
	var b [12]byte
	rand.Read(b[:]) // never fails (crypto/rand)
	return hex.EncodeToString(b[:])
}

// problem returns the error of a reply.
func (r *reply) problem() *Error {
	info := protocol.ErrorInfo{Message: "the broker gave no reason"}
	if r.Error != nil {
		info = *r.Error
	}
	return &Error{ID: r.ID, Code: info.Code, Message: info.Message, Position: info.Position}
}
