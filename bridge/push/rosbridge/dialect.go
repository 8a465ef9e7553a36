// Package rosbridge speaks rosbridge v2, the protocol of programs for ROS in
// browsers and elsewhere. See DESIGN.md.
package rosbridge

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"sync"
	"time"
	"unicode/utf8"

	"callboard/bridge/attach"
	"callboard/bridge/push/rosgraph"
	"callboard/subscribe/protocol"
)

// Dialect is rosbridge v2. It is an attach.Dialect.
type Dialect struct {
	graph            *rosgraph.Graph
	maxSubscriptions int
	rosapi           map[string]*api // by name
	offers           offers
}

// New returns the dialect. A client may have so many subscriptions.
func New(graph *rosgraph.Graph, maxSubscriptions int) *Dialect {
	return &Dialect{graph: graph, maxSubscriptions: maxSubscriptions, rosapi: newRosapi(), offers: offers{kinds: map[string][]string{}}}
}

// Choose selects no subprotocol, as clients of rosbridge expect.
func (d *Dialect) Choose([]string) (string, bool) { return "", true }

// Attach begins to speak with a client. One that has to show a token, and has not
// shown it in its request, does so by auth.
func (d *Dialect) Attach(ctx context.Context, c attach.Conn, _ string) attach.Speaker {
	client := &client{dialect: d, conn: c, streams: map[string]*stream{}, level: levelError, tasks: newTasks()}
	client.asked = rosgraph.NewAsked[*subscription](&client.mu)
	if c.Known() {
		client.hello(ctx, "")
	}
	return client
}

// client is one client. What Notify and Send need too is guarded by mu.
type client struct {
	dialect *Dialect
	conn    attach.Conn

	// Of Receive:
	fragments  fragments
	advertised map[string]*advertisement // by topic, as spelled
	adverts    int                       // ids of them

	mu        sync.Mutex
	member    *rosgraph.Member   // nil until it is known who the client is
	streams   map[string]*stream // by name, as spelled
	asked     rosgraph.Asked[*subscription]
	kept      int    // bytes of what the client calls its subscriptions
	held      int    // bytes of messages that wait for their time
	count     uint64 // of notifications
	republish republisher
	level     level  // of the status messages that the client wants
	sets      uint64 // messages that went out in fragments

	tasks tasks // has a lock of its own, which may be taken under mu
}

// hello says who the client is.
func (c *client) hello(ctx context.Context, token string) {
	c.conn.Hello(ctx, protocol.Hello{Token: token})
	if g := c.conn.Grant(); g.Subscribe || g.Command || g.Serve || g.Request {
		member := c.dialect.graph.Join(ctx, c.conn)
		c.mu.Lock()
		c.member = member
		c.mu.Unlock()
	}
}

// End stops what the client has set going.
func (c *client) End() {
	c.mu.Lock()
	for _, s := range c.streams {
		if s.timer != nil {
			s.timer.Stop()
		}
	}
	c.mu.Unlock()
	for c.withdraw(func(*offer) bool { return true }) != nil {
	}
	if c.member != nil {
		c.member.Leave()
	}
}

// Receive does what a message asks for.
func (c *client) Receive(ctx context.Context, _ bool, text []byte) error {
	if len(text) > protocol.MaxMessage {
		return attach.ErrTooLarge
	}
	if !utf8.Valid(text) { // in a binary frame
		c.status(nil, levelError, wrong("the message is not UTF-8; expected JSON"))
		return nil
	}
	if invalid := protocol.Guard(text, c.dialect.maxSubscriptions); invalid != nil {
		c.status(nil, levelError, invalid)
		return nil
	}
	m, err := parse(text)
	if err != nil {
		c.status(nil, levelError, err)
		return nil
	}
	if err := c.do(ctx, m); err != nil && ctx.Err() == nil {
		c.status(m.id(), levelError, err)
	}
	c.refuse(ctx)
	return nil
}

// do does what a message asks for.
func (c *client) do(ctx context.Context, m message) error {
	op, err := m.needs("op")
	if err != nil {
		return err
	}
	if op == "auth" {
		return c.auth(ctx, m)
	}
	if c.member == nil {
		return wrong(`%s before the token is known; expected {"op":"auth","mac":TOKEN}, ?token=TOKEN in the address or Authorization: Bearer`, op)
	}
	switch op {
	case "subscribe":
		return c.subscribe(ctx, m)
	case "unsubscribe":
		return c.unsubscribe(ctx, m)
	case "advertise":
		return c.advertise(m)
	case "unadvertise":
		return c.unadvertise(ctx, m)
	case "publish":
		return c.publish(ctx, m)
	case "call_service":
		return c.callService(ctx, m)
	case "fragment":
		return c.fragment(ctx, m)
	case "set_level":
		return c.setLevel(m)
	case "advertise_service":
		return c.advertiseService(ctx, m)
	case "unadvertise_service":
		return c.unadvertiseService(ctx, m)
	case "service_response":
		return c.serviceResponse(ctx, m)
	case "unadvertise_action", "action_feedback", "action_result", "cancel_action_goal":
		return nil // of what was refused before
	case "advertise_action", "send_action_goal":
		return wrong("%s: programs serve others by services here; expected advertise_service or call_service", op)
	}
	return wrong("unknown op %q; expected subscribe, unsubscribe, advertise, unadvertise, publish, call_service, advertise_service, unadvertise_service, service_response, fragment, auth or set_level", short(m["op"]))
}

// auth takes a token: as mac, the rest of rosauth's fields does not matter.
func (c *client) auth(ctx context.Context, m message) error {
	token, err := m.needs("mac")
	switch {
	case err != nil:
		return err
	case c.member != nil:
		return nil // the request has shown one
	}
	c.hello(ctx, token)
	return nil
}

// fragment takes a part of a message.
func (c *client) fragment(ctx context.Context, m message) error {
	data, err := m.text("data")
	if err != nil {
		return err
	}
	if m.id() == nil || !m.given("num") || !m.given("total") {
		return wrong("a fragment without id, num or total; expected all three, and data")
	}
	var num, total float64
	if json.Unmarshal(m["num"], &num) != nil || json.Unmarshal(m["total"], &total) != nil {
		return wrong("num or total is no number; expected whole ones")
	}
	whole, err := c.fragments.add(string(m.id()), int(num), int(total), data, time.Now())
	if whole == nil {
		return err
	}
	inner, err := parse(whole)
	if err != nil {
		return err
	}
	if op, _ := inner.text("op"); op == "fragment" {
		return wrong("a fragment in fragments; expected another message")
	}
	if err := c.do(ctx, inner); err != nil && ctx.Err() == nil {
		c.status(inner.id(), levelError, err)
	}
	return nil
}

// level is that of a status message.
type level uint8

const (
	levelNone level = iota
	levelError
	levelWarning
	levelInfo
)

var levels = map[string]level{"none": levelNone, "error": levelError, "warning": levelWarning, "info": levelInfo}

func (c *client) setLevel(m message) error {
	word, err := m.needs("level")
	if err != nil {
		return err
	}
	l, ok := levels[word]
	if !ok {
		return wrong("level: %q; expected none, error, warning or info", short(m["level"]))
	}
	c.mu.Lock()
	c.level = l
	c.mu.Unlock()
	return nil
}

// status tells the client what is wrong, if it wants to know.
func (c *client) status(id json.RawMessage, l level, err error) {
	c.mu.Lock()
	wanted := l <= c.level
	c.mu.Unlock()
	if wanted {
		c.conn.Send(newStatus(id, l, err))
	}
}

// said is a message in JSON, as it is sent.
type said struct {
	op       string
	text     []byte
	fragment int // characters in one; 0: all
}

// Op names it for metrics.
func (s *said) Op() string { return s.op }

func newStatus(id json.RawMessage, l level, err error) *said {
	b := []byte(`{"op":"status"`)
	if id != nil {
		b = append(append(b, `,"id":`...), id...)
	}
	word := "error"
	if l == levelWarning {
		word = "warning"
	}
	b = append(b, `,"level":"`+word+`","msg":`...)
	text, position := err.Error(), (*protocol.Position)(nil)
	var own *problem
	if errors.As(err, &own) {
		position = own.position
	}
	var p *protocol.Problem
	if errors.As(err, &p) {
		text, position = p.Message, p.Position
	}
	b = protocol.AppendText(b, text)
	if position != nil {
		b = strconv.AppendInt(append(b, `,"position":{"line":`...), int64(position.Line), 10)
		b = strconv.AppendInt(append(b, `,"column":`...), int64(position.Column), 10)
		b = append(b, '}')
	}
	return &said{op: "status", text: append(b, '}')}
}
