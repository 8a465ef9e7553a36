// Package foxglove speaks the Foxglove WebSocket protocol: Foxglove, Lichtblick
// and programs like them show robots and drive them. See DESIGN.md.
package foxglove

import (
	"context"
	"slices"
	"strconv"
	"sync"

	"callboard/bridge/attach"
	"callboard/bridge/push/ros"
	"callboard/bridge/push/rosgraph"
	"callboard/subscribe/protocol"
)

// Subprotocols, the newer one first: what both need is the same.
var subprotocols = []string{"foxglove.sdk.v1", "foxglove.websocket.v1"}

// Dialect is Foxglove's protocol. It is an attach.Dialect.
type Dialect struct {
	graph            *rosgraph.Graph
	name             string
	maxSubscriptions int

	mu      sync.Mutex
	ids     map[string]uint32 // of channels and services, by what they are: never another's
	last    uint32
	schemas map[string]string // made so far: each client gets them
}

// New returns the dialect. name is what clients are told the server is called; a
// client may have so many subscriptions.
func New(graph *rosgraph.Graph, name string, maxSubscriptions int) *Dialect {
	return &Dialect{graph: graph, name: name, maxSubscriptions: maxSubscriptions, ids: map[string]uint32{}, schemas: map[string]string{}}
}

// Choose returns the first of the subprotocols that a client offers.
func (d *Dialect) Choose(offered []string) (string, bool) {
	for _, s := range subprotocols {
		if slices.Contains(offered, s) {
			return s, true
		}
	}
	return "", false
}

// id returns the number of a channel or service; for "" a new one.
func (d *Dialect) id(what string) uint32 {
	d.mu.Lock()
	defer d.mu.Unlock()
	if id, ok := d.ids[what]; ok && what != "" {
		return id
	}
	d.last++
	if what != "" {
		d.ids[what] = d.last
	}
	return d.last
}

// text returns the definition of a type of ROS.
func (d *Dialect) text(name string) string {
	return d.made("text "+name, func() string { return ros.Lookup(name).Text() })
}

// schema returns a type's JSON schema.
func (d *Dialect) schema(t *ros.Type) string { return d.made("json "+t.Name, t.JSONSchema) }

func (d *Dialect) made(key string, make func() string) string {
	d.mu.Lock()
	defer d.mu.Unlock()
	text, ok := d.schemas[key]
	if !ok {
		text = make()
		d.schemas[key] = text
	}
	return text
}

// Attach begins to speak with a client, whose token is in its request: it cannot
// show one later.
func (d *Dialect) Attach(ctx context.Context, conn attach.Conn, _ string) attach.Speaker {
	c := &client{
		dialect: d, conn: conn, published: map[uint32]*publication{}, channels: map[uint32]*channel{}, subs: map[uint32]*subscription{},
		services: map[uint32]*service{}, conditions: map[string]*condition{}, away: map[string]bool{},
	}
	c.asked = rosgraph.NewAsked[*subscription](&c.mu)
	conn.Hello(ctx, protocol.Hello{})
	if g := conn.Grant(); g.Subscribe || g.Command {
		c.member = d.graph.Join(ctx, conn)
		conn.Send(&rosgraph.Changed{}) // what there is at first
	}
	return c
}

// client is one client. What Notify and Send need too is guarded by mu.
type client struct {
	dialect *Dialect
	conn    attach.Conn
	member  *rosgraph.Member // nil: it was refused

	published map[uint32]*publication // of Receive, by the client's number

	mu         sync.Mutex
	greeted    bool                // serverInfo has been said, which comes first
	channels   map[uint32]*channel // advertised
	subs       map[uint32]*subscription
	asked      rosgraph.Asked[*subscription]
	garbage    []string              // subscriptions at the broker that nobody wants any more
	services   map[uint32]*service   // advertised
	conditions map[string]*condition // by id
	calls      int                   // of services, under way
	parameters []string              // whose changes the client wants
	connected  *connections          // what it was told of the graph; nil: it does not want it
	away       map[string]bool       // robots that it was told are away
}

// End stops what the client has set going.
func (c *client) End() {
	if c.member != nil {
		c.member.Leave()
	}
}

// said is a message in JSON.
type said struct {
	op   string
	text []byte
}

// Op names it for metrics.
func (s *said) Op() string { return s.op }

// object is a JSON object.
type object map[string]any

// message returns a message.
func message(op string, fields object) *said {
	fields["op"] = op
	return &said{op, protocol.AppendJSON(nil, fields)}
}

func (c *client) serverInfo() *said {
	return message("serverInfo", object{
		"name": c.dialect.name, "capabilities": []string{"clientPublish", "parameters", "parametersSubscribe", "services", "connectionGraph"},
		"supportedEncodings": []string{"json", "ros1"}, "metadata": map[string]string{"ROS_DISTRO": "noetic"},
		"sessionId": strconv.FormatUint(c.member.Started().Nanoseconds(), 10),
	})
}

// Levels of a status.
const (
	levelWarning = 1
	levelError   = 2
)

// status tells the client what is wrong.
func (c *client) status(level int, text string) {
	c.conn.Send(message("status", object{"level": level, "message": text}))
}
