package callboard

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"callboard/subscribe/protocol"
)

// errFull ends a connection whose notifications are not taken.
var errFull = errors.New("callboard: the program does not take its events; the session is resumed later")

// errRenumbered says that the attachment's number has grown: the same broker
// will take the next hello.
var errRenumbered = errors.New("the attachment's number was too low")

// attend reads a connection until it ends.
func (c *Client) attend(conn *connection, tried uint64, first func(error)) error {
	for {
		text, err := conn.read()
		if err != nil {
			return err
		}
		op, err := operation(text)
		if err != nil {
			return fmt.Errorf("broker %s sent what is no message: %w", conn.url, err)
		}
		if !conn.welcomed {
			if err = c.welcome(conn, op, text, tried); err == nil && first != nil {
				first(nil)
			}
		} else {
			err = c.take(conn, op, text)
		}
		if err != nil {
			return err
		}
	}
}

// operation gives a message's op. The broker writes it first, which saves a
// pass over the message.
func operation(text []byte) (string, error) {
	const prefix = `{"op":"notify"`
	if bytes.HasPrefix(text, []byte(prefix)) {
		return protocol.OpNotify, nil
	}
	var head struct {
		Op string `json:"op"`
	}
	if err := json.Unmarshal(text, &head); err != nil {
		return "", err
	}
	return head.Op, nil
}

// welcome takes the answer to hello.
func (c *Client) welcome(conn *connection, op string, text []byte, tried uint64) error {
	switch op {
	case protocol.OpWelcome:
	case protocol.OpHeartbeat:
		return nil
	case protocol.OpError:
		var e protocol.Error
		if err := json.Unmarshal(text, &e); err != nil {
			return fmt.Errorf("broker %s: error: %w", conn.url, err)
		}
		return c.refused(conn, e, tried)
	default:
		return fmt.Errorf("broker %s answered hello with %q, expected welcome", conn.url, op)
	}
	var w protocol.Welcome
	if err := json.Unmarshal(text, &w); err != nil {
		return fmt.Errorf("broker %s: welcome: %w", conn.url, err)
	}
	if w.Session == "" || w.Broker == "" || !(w.Heartbeat > 0 && w.Heartbeat <= 3600) {
		return fmt.Errorf("broker %s: welcome without session, broker or heartbeat: %.200s", conn.url, text)
	}
	conn.silence = max(time.Second, time.Duration(missedHeartbeats*w.Heartbeat*float64(time.Second)))
	c.mu.Lock()
	defer c.mu.Unlock()
	conn.welcomed = true
	resumed := c.session == w.Session
	if !resumed {
		c.forgetSources()
	}
	c.session, c.fresh, c.brokers = w.Session, false, w.Brokers
	close(c.attached)
	c.attachment = max(c.attachment, w.Attachment)
	for id, e := range c.entries {
		if e.welcomed() {
			delete(c.entries, id)
		}
	}
	c.log.Info("attached", "broker", w.Broker, "url", conn.url, "session", w.Session, "attachment", w.Attachment, "resumed", resumed)
	c.queue.force(item{event: &Attached{
		URL: conn.url, Broker: w.Broker, Session: w.Session, Attachment: w.Attachment, Resumed: resumed,
	}})
	return nil
}

// forgetSources tells the program that its sequences have ended with the
// session. mu is held.
func (c *Client) forgetSources() {
	for _, name := range sortedKeys(c.sources) {
		c.queue.force(item{event: &Gap{protocol.Gap{
			Op: protocol.OpGap, Source: name, From: c.sources[name].given + 1,
			Why: "the broker does not know the session any more",
		}}})
	}
	clear(c.sources)
}

// refused takes an error in place of welcome.
func (c *Client) refused(conn *connection, e protocol.Error, tried uint64) error {
	err := fmt.Errorf("broker %s: %w", conn.url, brokerError(e))
	switch e.Code {
	case protocol.Unauthorized, protocol.Forbidden, protocol.BadMessage:
		return &fatal{err}
	case protocol.Conflict:
		if e.Attachment == nil {
			return &fatal{fmt.Errorf("%w: %w", ErrTakenOver, err)}
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		// An earlier process of this program may have counted further than
		// State knew; later on only another program can have.
		if !c.fresh && *e.Attachment > tried {
			return &fatal{fmt.Errorf("%w: %w", ErrTakenOver, err)}
		}
		c.attachment = max(c.attachment, *e.Attachment)
		return fmt.Errorf("%w: %w", errRenumbered, err)
	}
	return err
}

// take carries out one message of an attached broker.
func (c *Client) take(conn *connection, op string, text []byte) (err error) {
	switch op {
	case protocol.OpNotify:
		err = c.takeNotify(text)
	case protocol.OpGap:
		err = c.takeGap(text)
	case protocol.OpRobot:
		var r protocol.Robot
		if err = json.Unmarshal(text, &r); err == nil {
			err = c.push(item{event: &Robot{r}, bytes: len(text)})
		}
	case protocol.OpSubscribed:
		var s protocol.Subscribed
		if err = json.Unmarshal(text, &s); err == nil {
			err = c.takeSubscribed(s)
		}
	case protocol.OpReply:
		err = c.takeReply(text)
	case protocol.OpError:
		var e protocol.Error
		if err = json.Unmarshal(text, &e); err == nil {
			return c.takeError(conn, e)
		}
	case protocol.OpHeartbeat:
	case protocol.OpWelcome:
		err = errors.New("a second welcome")
	default:
		// A newer broker may know more than this library.
	}
	if err != nil {
		return fmt.Errorf("broker %s: %s: %w", conn.url, op, err)
	}
	return nil
}

// push hands an event to the program, or gives up the connection.
func (c *Client) push(it item) error {
	if !c.queue.push(it) {
		return errFull
	}
	return nil
}

// source gives a source's sequence, a new one if it has none. mu is held.
func (c *Client) source(name string) (*sequence, error) {
	s := c.sources[name]
	if s == nil {
		if len(c.sources) >= maxSources {
			return nil, fmt.Errorf("more than %d sources", maxSources)
		}
		s = &sequence{}
		c.sources[name] = s
	}
	return s, nil
}

func (c *Client) takeNotify(text []byte) error {
	n := &Notification{Raw: text}
	if err := json.Unmarshal(text, &n.Notify); err != nil {
		return err
	}
	c.mu.Lock()
	s, err := c.source(n.Source)
	if err != nil {
		c.mu.Unlock()
		return err
	}
	before := *s
	fresh, fault := s.notify(n.Seq, n.Skipped)
	c.mu.Unlock()
	return c.deliverNumbered(s, before, fault, fresh, item{event: n, sequence: s, seq: n.Seq, bytes: 2 * len(text)})
}

func (c *Client) takeGap(text []byte) error {
	g := &Gap{}
	if err := json.Unmarshal(text, &g.Gap); err != nil {
		return err
	}
	c.mu.Lock()
	if g.To == nil {
		delete(c.sources, g.Source)
		c.mu.Unlock()
		return c.push(item{event: g, bytes: len(text)})
	}
	s, err := c.source(g.Source)
	if err != nil {
		c.mu.Unlock()
		return err
	}
	before := *s
	first, fresh, fault := s.gap(g.From, *g.To)
	c.mu.Unlock()
	g.From = first
	return c.deliverNumbered(s, before, fault, fresh, item{event: g, sequence: s, seq: *g.To, bytes: len(text)})
}

// deliverNumbered hands over a fault, if there is one, and then the item. What
// does not fit was not given: it comes again after the resume.
func (c *Client) deliverNumbered(s *sequence, before sequence, fault string, fresh bool, it item) error {
	if fault != "" {
		f := &Fault{Reason: fault}
		switch e := it.event.(type) {
		case *Notification:
			f.Source = e.Source
		case *Gap:
			f.Source = e.Source
		}
		c.log.Error("sequence broken", "source", f.Source, "reason", fault)
		if err := c.push(item{event: f}); err != nil {
			return c.undo(s, before, err)
		}
	}
	if !fresh {
		return nil
	}
	if err := c.push(it); err != nil {
		return c.undo(s, before, err)
	}
	return nil
}

// undo takes back that an item was given.
func (c *Client) undo(s *sequence, before sequence, err error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	s.wire, s.given = before.wire, before.given
	return err
}

// takeError carries out an error: of a call that waits, of a subscription, or
// of the attachment.
func (c *Client) takeError(conn *connection, e protocol.Error) error {
	err := brokerError(e)
	if e.ID == "" {
		if e.Code == protocol.Conflict {
			return c.conflict(conn, e, err)
		}
		c.log.Warn("error from the broker", "broker", conn.url, "error", err)
		return c.push(item{event: &Failure{Error: *err}})
	}
	c.mu.Lock()
	if r := c.requests[e.ID]; r != nil {
		delete(c.requests, e.ID)
		c.mu.Unlock()
		r.answer <- answer{err: err}
		return nil
	}
	told, ended := c.failEntry(e.ID, err)
	c.mu.Unlock()
	if told {
		return nil
	}
	return c.push(item{event: &Failure{Error: *err, Ended: ended}})
}

// conflict: the client id has attached elsewhere. An attachment up to ours is
// our own older one, which this connection has replaced.
func (c *Client) conflict(conn *connection, e protocol.Error, err error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e.Attachment != nil && *e.Attachment <= c.attachment {
		return fmt.Errorf("broker %s: %w", conn.url, err)
	}
	return &fatal{fmt.Errorf("%w: broker %s: %w", ErrTakenOver, conn.url, err)}
}

// brokerError makes an Error of the protocol's message.
func brokerError(e protocol.Error) *Error {
	return &Error{ID: e.ID, Code: e.Code, Message: e.Message, Position: e.Position, Attachment: e.Attachment}
}
