// Package callboardv1 speaks callboard.v1, the WebSocket protocol of this
// project, in JSON and in CBOR.
package callboardv1

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"unsafe"

	"callboard/bridge/attach"
	"callboard/subscribe/protocol"
)

// Dialect is callboard.v1. It is an attach.Dialect.
type Dialect struct {
	maxSubscriptions int       // in one hello
	texts            sync.Pool // of *[]byte: what CBOR is made of
	converted        atomic.Pointer[converted]
}

// New returns the dialect. A hello may have so many subscriptions.
func New(maxSubscriptions int) *Dialect { return &Dialect{maxSubscriptions: maxSubscriptions} }

// Choose returns the first subprotocol offered that is known. A client that
// names none speaks JSON.
func (d *Dialect) Choose(offered []string) (string, bool) {
	for _, s := range offered {
		if slices.Contains([]string{protocol.Subprotocol, protocol.SubprotocolCBOR}, s) {
			return s, true
		}
	}
	return "", true
}

// Attach begins to speak with a client, who says hello.
func (d *Dialect) Attach(_ context.Context, c attach.Conn, subprotocol string) attach.Speaker {
	return &client{dialect: d, conn: c, cbor: subprotocol == protocol.SubprotocolCBOR}
}

// client is one client that speaks it.
type client struct {
	dialect *Dialect
	conn    attach.Conn
	cbor    bool
}

// Receive does what a message asks for.
func (c *client) Receive(ctx context.Context, binary bool, message []byte) error {
	m, text, problem := c.decode(binary, message)
	if _, hello := m.(*protocol.Hello); len(message) > protocol.MaxMessage && !hello && !protocol.SaysHello(text) {
		return attach.ErrTooLarge
	}
	if problem != nil {
		return problem
	}
	c.dispatch(ctx, m)
	return nil
}

// decode reads a client's message; text is it in JSON.
func (c *client) decode(binary bool, message []byte) (m any, text []byte, problem *protocol.Problem) {
	text = message
	switch {
	case !binary && c.cbor:
		return nil, nil, badMessage("a text frame; expected CBOR in a binary frame")
	case binary && !c.cbor:
		return nil, nil, badMessage("a binary frame; expected JSON in a text frame")
	case c.cbor:
		var err error
		if text, err = protocol.AppendFromCBOR(make([]byte, 0, len(message)+len(message)/2), message); err != nil {
			return nil, nil, badMessage("%v", err)
		}
	}
	invalid := protocol.Guard(text, c.dialect.maxSubscriptions)
	if invalid == nil {
		m, invalid = protocol.Decode(text)
	}
	if invalid != nil {
		return nil, text, &protocol.Problem{ID: invalid.ID, Code: invalid.Code, Message: invalid.Error()}
	}
	return m, text, nil
}

func badMessage(format string, args ...any) *protocol.Problem {
	return &protocol.Problem{Code: protocol.BadMessage, Message: fmt.Sprintf(format, args...)}
}

// dispatch does what a message asks for.
func (c *client) dispatch(ctx context.Context, m any) {
	switch m := m.(type) {
	case *protocol.Hello:
		c.conn.Hello(ctx, *m)
	case *protocol.Subscribe:
		c.failed(ctx, m.ID, c.conn.Subscribe(ctx, *m))
	case *protocol.Update:
		c.failed(ctx, m.ID, c.conn.Update(ctx, *m))
	case *protocol.Unsubscribe:
		c.refused(ctx, m.ID, c.conn.Unsubscribe(ctx, *m))
	case *protocol.Ack:
		c.failed(ctx, "", c.conn.Ack(ctx, *m))
	case *protocol.Command:
		c.refused(ctx, m.ID, c.conn.Command(ctx, *m, c.replyTo(m.ID)))
	case *protocol.List:
		c.refused(ctx, m.ID, c.conn.List(ctx, *m, c.replyTo(m.ID)))
	case *protocol.Request:
		if err := c.conn.Task(ctx, m); err != nil && ctx.Err() == nil {
			p := protocol.ProblemOf(err)
			c.conn.Send(&protocol.Reply{ID: m.ID, Key: m.Key, Error: &protocol.ErrorInfo{Code: p.Code, Message: p.Message}})
		}
	case *protocol.Serve:
		c.failed(ctx, m.ID, c.conn.Task(ctx, m))
	case *protocol.Unserve:
		c.refused(ctx, m.ID, c.conn.Task(ctx, m))
	case *protocol.Cancel, *protocol.Done:
		c.failed(ctx, "", c.conn.Task(ctx, m))
	}
}

// failed tells the client of an error.
func (c *client) failed(ctx context.Context, id string, err error) {
	if err == nil || ctx.Err() != nil {
		return
	}
	p := protocol.ProblemOf(err)
	c.conn.Send(&protocol.Error{ID: id, Code: p.Code, Message: p.Message, Position: p.Position, Attachment: p.Attachment})
}

// refused tells it to a client that waits for a reply.
func (c *client) refused(ctx context.Context, id string, err error) {
	if err != nil && ctx.Err() == nil {
		c.replyTo(id)(nil, err)
	}
}

// replyTo replies to a command or a list.
func (c *client) replyTo(id string) attach.Answer {
	return func(result any, err error) {
		r := &protocol.Reply{ID: id, OK: err == nil, Result: result}
		if err != nil {
			p := protocol.ProblemOf(err)
			r.Error = &protocol.ErrorInfo{Code: p.Code, Message: p.Message, Position: p.Position}
		}
		c.conn.Send(r)
	}
}

// behind is what comes behind the reading of a notification.
var behind = []byte("}")

// Notify sends a notification: a head of its own and the reading's shared bytes.
func (c *client) Notify(to attach.Messages, n *protocol.Notify) {
	switch {
	case c.cbor:
		text, b := c.dialect.text(), to.Begin(true)
		b, *text = protocol.AppendNotifyCBOR(b, n, *text)
		to.End(b)
		c.dialect.keep(text)
	case n.Reading == nil:
		to.End(protocol.AppendNotify(to.Begin(false), n))
	default:
		to.EndWith(protocol.AppendNotifyHead(to.Begin(false), n), c.dialect.json(n.Reading), behind)
	}
}

// Send sends any other message.
func (c *client) Send(to attach.Messages, m any) {
	if !c.cbor {
		to.End(protocol.AppendMessage(to.Begin(false), m))
		return
	}
	text, b := c.dialect.text(), to.Begin(true)
	b, *text = protocol.AppendMessageCBOR(b, m, *text)
	to.End(b)
	c.dialect.keep(text)
}

// End has nothing to end.
func (c *client) End() {}

// keepBelow is how large a text may be that is kept for the next message.
const keepBelow = 256 << 10

// text returns a buffer for what CBOR is made of.
func (d *Dialect) text() *[]byte {
	if text, ok := d.texts.Get().(*[]byte); ok {
		return text
	}
	return new([]byte)
}

func (d *Dialect) keep(text *[]byte) {
	if cap(*text) <= keepBelow {
		d.texts.Put(text)
	}
}

// json returns a reading in JSON. What is not, since a number is not finite, is
// made so once for those who get it one after the other.
func (d *Dialect) json(reading []byte) []byte {
	if !protocol.IsCBOR(reading) {
		return reading
	}
	if c := d.converted.Load(); c != nil && unsafe.SliceData(c.from) == unsafe.SliceData(reading) {
		return c.to
	}
	c := &converted{reading, protocol.JSON(reading)}
	d.converted.Store(c)
	return c.to
}

// converted is a reading in CBOR, and in JSON.
type converted struct{ from, to []byte }
