package callboard

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"callboard/subscribe/protocol"
)

// maxHeld bounds the answers that wait for the end of a hand-over.
const maxHeld = 1 << 16

// answer is what a call waits for.
type answer struct {
	subscribed Subscribed
	result     []byte
	err        error
}

// opKind is what a subscription waits for.
type opKind int

const (
	opSubscribe opKind = iota
	opUpdate
	opUnsubscribe
)

// op is a change of one subscription that the broker has not answered.
type op struct {
	kind   opKind
	want   Subscription // opSubscribe, opUpdate: as it will be
	update Update
	answer chan answer   // cap 1
	done   chan struct{} // closed with the answer

	current, next bool // sent over Client.conn, over Client.next
}

// entry is one subscription. Confirmed ones are in hello; a change that was
// not answered is sent again after it.
type entry struct {
	current   Subscription // as the broker last confirmed it
	confirmed bool
	op        *op
}

// ending reports whether the program has unsubscribed.
func (e *entry) ending() bool { return e.op != nil && e.op.kind == opUnsubscribe }

// welcomed is called when hello is answered: what it did not list has ended,
// and what was sent behind it is answered over that connection. It says that
// the entry goes.
func (e *entry) welcomed() bool {
	if e.op == nil {
		return false
	}
	answered := e.ending() && !e.op.next
	e.op.current, e.op.next = e.op.next, false
	if answered {
		e.finish(answer{})
	}
	return answered
}

// send sends the operation.
func (e *entry) send(conn *connection) error {
	switch e.op.kind {
	case opSubscribe:
		return conn.send(protocol.Subscribe{Op: protocol.OpSubscribe, Subscription: e.op.want})
	case opUpdate:
		return conn.send(e.op.update)
	default:
		return conn.send(protocol.Unsubscribe{Op: protocol.OpUnsubscribe, ID: e.current.ID})
	}
}

// finish answers the operation's call.
func (e *entry) finish(a answer) {
	e.op.answer <- a
	close(e.op.done)
	e.op = nil
}

// confirmed lists the subscriptions that are to go on. mu is held.
func (c *Client) confirmed() []Subscription {
	var list []Subscription
	for _, id := range sortedKeys(c.entries) {
		if e := c.entries[id]; e.confirmed && !e.ending() {
			list = append(list, e.current)
		}
	}
	return list
}

// Subscribe asks for notifications and waits until the subscription is in
// force, or for the broker's error (*Error). It goes on over lost
// connections until Unsubscribe.
func (c *Client) Subscribe(ctx context.Context, s Subscription) (Subscribed, error) {
	if err := checkID(s.ID); err != nil {
		return Subscribed{}, err
	}
	message := protocol.Subscribe{Op: protocol.OpSubscribe, Subscription: s}
	if err := checkSize(message); err != nil {
		return Subscribed{}, fmt.Errorf("subscription %q: %w", s.ID, err)
	}
	return c.change(ctx, s.ID, func(e *entry) (*op, error) {
		if e.confirmed {
			return nil, &Error{ID: s.ID, Code: protocol.Conflict, Message: fmt.Sprintf("subscription %q is in use", s.ID)}
		}
		e.current.ID = s.ID
		return &op{kind: opSubscribe, want: s}, nil
	})
}

// Update changes a subscription and waits until that is in force. Nothing is
// missed, nothing comes twice; after an error all is as it was.
func (c *Client) Update(ctx context.Context, u Update) (Subscribed, error) {
	u.Op = protocol.OpUpdate
	if err := checkSize(u); err != nil {
		return Subscribed{}, fmt.Errorf("subscription %q: %w", u.ID, err)
	}
	return c.change(ctx, u.ID, func(e *entry) (*op, error) {
		if !e.confirmed {
			return nil, notSubscribed(u.ID)
		}
		return &op{kind: opUpdate, want: u.Apply(e.current), update: u}, nil
	})
}

// Unsubscribe ends a subscription and waits for the broker's word. What is
// still on its way may come until then.
func (c *Client) Unsubscribe(ctx context.Context, id string) error {
	_, err := c.change(ctx, id, func(e *entry) (*op, error) {
		if !e.confirmed {
			return nil, notSubscribed(id)
		}
		return &op{kind: opUnsubscribe}, nil
	})
	return err
}

func notSubscribed(id string) error {
	return &Error{ID: id, Code: protocol.NotFound, Message: fmt.Sprintf("no subscription %q", id)}
}

// change waits for its turn, begins an operation and waits for its answer.
func (c *Client) change(ctx context.Context, id string, prepare func(*entry) (*op, error)) (Subscribed, error) {
	o, err := c.beginChange(ctx, id, prepare)
	if err != nil {
		return Subscribed{}, err
	}
	select {
	case a := <-o.answer:
		return a.subscribed, a.err
	case <-ctx.Done():
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(o.answer) > 0 {
		a := <-o.answer
		return a.subscribed, a.err
	}
	c.abandon(id)
	return Subscribed{}, fmt.Errorf("callboard: subscription %q: %w", id, ctx.Err())
}

// beginChange puts an operation into its entry once that has none.
func (c *Client) beginChange(ctx context.Context, id string, prepare func(*entry) (*op, error)) (*op, error) {
	for {
		c.mu.Lock()
		if c.ended {
			defer c.mu.Unlock()
			return nil, c.closedError()
		}
		e := c.entries[id]
		if e != nil && e.op != nil {
			busy := e.op.done
			c.mu.Unlock()
			select {
			case <-busy:
				continue
			case <-ctx.Done():
				return nil, fmt.Errorf("callboard: subscription %q: %w", id, ctx.Err())
			}
		}
		defer c.mu.Unlock()
		known := e != nil
		if !known {
			e = &entry{}
		}
		o, err := prepare(e)
		if err != nil {
			return nil, err
		}
		o.answer, o.done = make(chan answer, 1), make(chan struct{})
		e.op = o
		if !known {
			c.entries[id] = e
		}
		return o, c.sendChange(e)
	}
}

// sendChange sends an operation over the newest connection; false in both of
// its marks means that there is none. mu is held.
func (c *Client) sendChange(e *entry) error {
	switch {
	case c.next != nil:
		e.op.next = true
		return e.send(c.next)
	case c.conn != nil && c.conn.doubtful:
		c.conn.leave(errDoubtful) // it is asked behind the next hello
	case c.conn != nil:
		e.op.current = true
		return e.send(c.conn)
	}
	return nil
}

// settle carries out what the connection in use has answered. Once another
// one has said hello, which was made without that answer, it counts only if
// that one is refused: else the same is asked there again. mu is held.
func (c *Client) settle(take func()) error {
	if c.conn != nil && c.conn.failed != nil {
		return c.conn.failed
	}
	if c.next == nil {
		take()
		return nil
	}
	if len(c.held) >= maxHeld {
		return errors.New("too many answers")
	}
	c.held = append(c.held, take)
	return nil
}

// current reports whether conn is in use; else nothing but answers to requests is
// taken of it. mu is held.
func (c *Client) current(conn *connection) error {
	if c.conn == conn || conn.requests > 0 {
		return nil
	}
	return errReplaced
}

// abandon gives up an operation whose caller has gone. A new subscription is
// taken back; a change that was sent is waited for by nobody. mu is held.
func (c *Client) abandon(id string) {
	e := c.entries[id]
	if e == nil || e.op == nil || e.op.kind != opSubscribe {
		return
	}
	close(e.op.done)
	e.op = &op{kind: opUnsubscribe, answer: make(chan answer, 1), done: make(chan struct{})}
	if c.conn == nil && c.next == nil {
		c.remove(id)
		close(e.op.done)
		return
	}
	c.sendChange(e)
}

// takeSubscribed confirms a subscription. The next hello tells of the sources
// that it names, whether anything has come of them or not. mu is held.
func (c *Client) takeSubscribed(conn *connection, s Subscribed) {
	for _, name := range s.Sources {
		if _, err := c.source(name); err != nil {
			conn.failed = err
			return
		}
	}
	e := c.entries[s.ID]
	switch {
	case e == nil || e.ending():
		return // of a subscription that has ended since
	case conn.resuming[s.ID]:
		delete(conn.resuming, s.ID)
	case e.op != nil:
		e.current, e.confirmed = e.op.want, true
		e.finish(answer{subscribed: s})
		return
	}
	c.tell(conn, item{event: &Resubscribed{s}})
}

// failEntry takes an error of a subscription. told: a call waited for it;
// ended: the broker has the subscription no more. mu is held.
func (c *Client) failEntry(conn *connection, id string, err *Error) (told, ended bool) {
	e := c.entries[id]
	switch {
	case e == nil:
		return false, false
	case conn.resuming[id]:
		// What hello listed was refused, whatever waits behind it.
		delete(conn.resuming, id)
		e.confirmed = false
		if e.op != nil {
			return e.ending(), true // its own answer comes
		}
		c.remove(id)
		return false, true
	case e.op == nil:
		return false, false
	case e.op.kind == opUnsubscribe:
		return true, false // of a subscribe that was taken back; reply comes
	}
	e.finish(answer{err: err})
	if !e.confirmed {
		c.remove(id)
	}
	return true, false
}

// checkID refuses ids that the broker could not tell from our requests.
func checkID(id string) error {
	if id == "" {
		return errors.New("callboard: a subscription needs an id")
	}
	if strings.HasPrefix(id, requestPrefix) {
		return fmt.Errorf("callboard: subscription id %q: ids that begin with %q are the library's own", id, requestPrefix)
	}
	return nil
}
