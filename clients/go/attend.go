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

// attend reads a connection until it ends; welcomed is called once.
func (c *Client) attend(conn *connection, tried uint64, welcomed func()) error {
	taken := false
	for {
		text, err := conn.read()
		if err != nil {
			return err
		}
		op, err := operation(text)
		if err != nil {
			return fmt.Errorf("broker %s sent what is no message: %w", conn.url, err)
		}
		switch {
		case taken:
			err = c.take(conn, op, text)
		case op == protocol.OpHeartbeat:
		default:
			if err = c.welcome(conn, op, text, tried); err == nil {
				taken = true
				welcomed()
			}
		}
		if err != nil {
			return err
		}
	}
}

// often are the operations of which there are many.
var often = []string{protocol.OpNotify, protocol.OpTask, protocol.OpAccepted, protocol.OpReply}

// operation returns a message's op. The broker writes it first, which saves a
// pass over the message.
func operation(text []byte) (string, error) {
	if rest, first := bytes.CutPrefix(text, []byte(`{"op":"`)); first {
		for _, op := range often {
			if len(rest) > len(op) && string(rest[:len(op)]) == op && rest[len(op)] == '"' {
				return op, nil
			}
		}
	}
	var head struct {
		Op string `json:"op"`
	}
	if err := json.Unmarshal(text, &head); err != nil {
		return "", err
	}
	if head.Op == "" {
		return "", errNoOp
	}
	return head.Op, nil
}

// welcome takes the answer to hello.
func (c *Client) welcome(conn *connection, op string, text []byte, tried uint64) error {
	switch op {
	case protocol.OpWelcome:
	case protocol.OpError:
		var e protocol.Error
		if err := decode(text, &e, checkError); err != nil {
			return fmt.Errorf("broker %s: error: %w", conn.url, err)
		}
		c.mu.Lock()
		conn.refused = true
		c.mu.Unlock()
		return c.refused(conn, e, tried)
	default:
		return fmt.Errorf("broker %s answered hello with %q, expected welcome", conn.url, op)
	}
	var w protocol.Welcome
	if err := decode(text, &w, checkWelcome); err != nil {
		return fmt.Errorf("broker %s: welcome: %w", conn.url, err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.next != conn || c.leaving {
		return errReplaced
	}
	if err := c.meetSides(conn, &w); err != nil {
		return err
	}
	conn.silence = max(time.Second, time.Duration(missedHeartbeats*w.Heartbeat*float64(time.Second)))
	from := conn.from
	attached := &Attached{URL: conn.url, Broker: w.Broker, Session: w.Session, Attachment: w.Attachment, Resumed: conn.told != nil && c.session == w.Session}
	moved := c.replace(conn)
	if c.config.Anonymous {
		if moved {
			c.loseTasks()
		}
		c.sayUnaccepted(conn)
	}
	if attached.Resumed {
		attached.Handover = c.takeOver(conn, moved, conn.attended)
	} else {
		clear(conn.wire)
		c.forgetSources()
	}
	c.session, c.fresh, c.brokers = w.Session, false, w.Brokers
	c.attachment = max(c.attachment, w.Attachment)
	c.meet(conn.url, w)
	for id, e := range c.entries {
		if e.welcomed() {
			c.remove(id)
		}
	}
	c.log.Info("attached", "broker", w.Broker, "url", conn.url, "from", from, "session", w.Session, "attachment", w.Attachment, "resumed", attached.Resumed)
	c.queue.force(item{event: attached})
	signal(conn.wake) // for the acknowledgements that were held back
	return nil
}

// meet takes what a welcome says of brokers. mu is held.
func (c *Client) meet(url string, w protocol.Welcome) {
	ids, urls := make([]string, 0, len(w.Brokers)), make([]string, 0, len(w.Brokers))
	for _, b := range w.Brokers {
		ids, urls = append(ids, b.ID), append(urls, b.URL)
	}
	c.roster.name(ids, urls)
	if b := c.roster.entry(url); b != nil {
		b.ID, b.Taken, b.Failed = w.Broker, true, time.Time{}
	}
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
	clear(c.away)
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
		if !c.fresh && *e.Attachment > tried && !c.ours() {
			return &fatal{fmt.Errorf("%w: %w", ErrTakenOver, err)}
		}
		c.attachment = max(c.attachment, *e.Attachment)
		return fmt.Errorf("%w: %w", errRenumbered, err)
	}
	return err
}

// take carries out one message of a broker that has taken this client.
func (c *Client) take(conn *connection, op string, text []byte) (err error) {
	switch op {
	case protocol.OpNotify:
		err = c.takeNotify(conn, text)
	case protocol.OpGap:
		err = c.takeGap(conn, text)
	case protocol.OpRobot:
		var r protocol.Robot
		if err = decode(text, &r, checkRobot); err == nil {
			err = c.locked(conn, func() error { return c.settle(func() { c.takeRobot(conn, r, len(text)) }) })
		}
	case protocol.OpSubscribed:
		var s protocol.Subscribed
		if err = decode(text, &s, checkSubscribed); err == nil {
			err = c.locked(conn, func() error {
				return c.settle(func() { c.takeSubscribed(conn, s) })
			})
		}
	case protocol.OpReply:
		err = c.takeReply(conn, text)
	case protocol.OpError:
		var e protocol.Error
		if err = decode(text, &e, checkError); err == nil {
			err = c.takeError(conn, e)
		}
	case protocol.OpHeartbeat:
		err = c.takeHeartbeat(conn, text)
	case protocol.OpWelcome:
		err = errors.New("a second welcome")
	default:
		// A newer broker may know more than this library.
		_, err = c.takeTasks(conn, op, text)
	}
	if err == nil {
		c.mu.Lock()
		defer c.mu.Unlock()
		return conn.failed
	}
	return fmt.Errorf("broker %s: %s: %w", conn.url, op, err)
}

// takeRobot tells the program what has become of a robot, and notes what the next
// hello is to tell of it. mu is held.
func (c *Client) takeRobot(conn *connection, r protocol.Robot, size int) {
	if err := c.push(item{event: &Robot{r}, bytes: size}); err != nil {
		conn.failed = err
		return
	}
	switch r.State {
	case protocol.RobotAway:
		c.away[r.Name()] = true
	case protocol.RobotUp:
		delete(c.away, r.Name())
	}
}

// locked carries something out for the connection in use. Of one that was
// replaced nothing is taken: it comes again over the other one.
func (c *Client) locked(conn *connection, do func() error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.conn != conn {
		return c.current(conn)
	}
	return do()
}

// push hands an event to the program, or gives up the connection.
func (c *Client) push(it item) error {
	if !c.queue.push(it) {
		return errFull
	}
	return nil
}

// tell is push for what cannot tell its error. mu is held.
func (c *Client) tell(conn *connection, it item) {
	if err := c.push(it); err != nil {
		conn.failed = err
	}
}

// source returns a source's sequence, a new one if it has none. mu is held.
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

func (c *Client) takeNotify(conn *connection, text []byte) error {
	n := &Notification{Raw: text}
	if err := decode(text, &n.Notify, checkNotify); err != nil {
		return err
	}
	return c.locked(conn, func() error {
		s, err := c.source(n.Source)
		if err != nil {
			return err
		}
		s.prompt = c.onlyLatest(n.Subscriptions)
		before, wire := *s, conn.wire[n.Source]
		due := s.due(wire)
		fresh, passed, fault := s.notify(&wire, n.Seq, n.Skipped)
		conn.wire[n.Source] = wire
		c.acknowledgeSoon(conn, s, wire, due)
		if fresh && passed != n.Skipped {
			n.Skipped = passed
			if n.Raw, err = json.Marshal(n.Notify); err != nil {
				return err
			}
		}
		it := item{event: n, source: n.Source, sequence: s, seq: n.Seq, bytes: 2 * len(text)}
		return c.deliverNumbered(conn, n.Source, s, before, fault, fresh, it)
	})
}

func (c *Client) takeGap(conn *connection, text []byte) error {
	g := &Gap{}
	if err := decode(text, &g.Gap, checkGap); err != nil {
		return err
	}
	return c.locked(conn, func() error {
		if g.To == nil {
			// A connection that has said hello is told so itself.
			return c.settle(func() {
				if s := c.sources[g.Source]; s != nil {
					g.From = max(g.From, s.given+1)
				}
				delete(c.sources, g.Source)
				delete(conn.wire, g.Source)
				delete(conn.relays, g.Source)
				if g.Next != "" {
					if _, err := c.source(g.Next); err != nil {
						conn.failed = err
					}
				}
				c.tell(conn, item{event: g, bytes: len(text)})
			})
		}
		s, err := c.source(g.Source)
		if err != nil {
			return err
		}
		before, wire := *s, conn.wire[g.Source]
		due := s.due(wire)
		first, fresh, fault := s.gap(&wire, g.From, *g.To)
		conn.wire[g.Source] = wire
		c.acknowledgeSoon(conn, s, wire, due)
		g.From = first
		it := item{event: g, source: g.Source, sequence: s, seq: *g.To, bytes: len(text)}
		return c.deliverNumbered(conn, g.Source, s, before, fault, fresh, it)
	})
}

// deliverNumbered hands over a fault, if there is one, that a hand-over is
// through, and then the item. What does not fit was not given: it comes again
// after the resume. mu is held.
func (c *Client) deliverNumbered(conn *connection, source string, s *sequence, before sequence, fault string, fresh bool, it item) error {
	if fault != "" {
		c.log.Error("sequence broken", "source", source, "reason", fault)
		if err := c.push(item{event: &Fault{Source: source, Reason: fault}}); err != nil {
			s.given = before.given
			return err
		}
	}
	if !fresh {
		conn.repeat(source)
		return nil
	}
	s.at = time.Now()
	if h := conn.arrive(conn.url, source, it.seq, s.at); h != nil {
		if err := c.push(item{event: h}); err != nil {
			s.given = before.given
			return err
		}
		delete(conn.relays, source)
	}
	if err := c.push(it); err != nil {
		s.given = before.given
		return err
	}
	return nil
}

// takeError carries out an error: of a call that waits, of a subscription, or
// of the attachment.
func (c *Client) takeError(conn *connection, e protocol.Error) error {
	err := brokerError(e)
	c.mu.Lock()
	defer c.mu.Unlock()
	if (e.ID != "" && c.finishRequest(e.ID, answer{err: err})) || c.conn != conn {
		return c.current(conn)
	}
	if a := c.askedByID[e.ID]; a != nil {
		c.forgetAsked(a)
		a.answer <- answer{err: err}
		return nil
	}
	if s := c.servers[e.ID]; s != nil {
		s.end(err)
		return nil
	}
	if e.ID == "" {
		if e.Code == protocol.Conflict {
			return c.conflict(e, err)
		}
		c.log.Warn("error from the broker", "broker", conn.url, "error", err)
		return c.push(item{event: &Failure{Error: *err}})
	}
	take := func() {
		if told, ended := c.failEntry(conn, e.ID, err); !told {
			c.tell(conn, item{event: &Failure{Error: *err, Ended: ended}})
		}
	}
	if entry := c.entries[e.ID]; entry == nil || (entry.op == nil && !conn.resuming[e.ID]) {
		take() // answers nothing
		return nil
	}
	return c.settle(take)
}

// conflict: the client id has attached elsewhere. An attachment up to ours is
// our own: this connection is the older one. mu is held.
func (c *Client) conflict(e protocol.Error, err error) error {
	switch {
	case e.Attachment == nil:
	case *e.Attachment <= c.attachment:
		return err
	case c.ours():
		c.attachment = *e.Attachment
		return err
	}
	return &fatal{fmt.Errorf("%w: %w", ErrTakenOver, err)}
}

// ours reports whether an attachment that is not known may be that of a hello of
// our own: one without a number that a broker took late, when another broker had
// this client. Each explains one. mu is held.
func (c *Client) ours() bool {
	for len(c.unanswered) > 0 {
		gone := c.unanswered[0]
		c.unanswered = c.unanswered[1:]
		if time.Since(gone) < unansweredFor {
			return true
		}
	}
	return false
}

// brokerError makes an Error of the protocol's message.
func brokerError(e protocol.Error) *Error {
	return &Error{ID: e.ID, Code: e.Code, Message: e.Message, Position: e.Position, Attachment: e.Attachment}
}
