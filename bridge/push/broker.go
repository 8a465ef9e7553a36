package push

import (
	"context"
	"path"
	"slices"
	"time"

	"callboard/subscribe/protocol"
)

// Broker is what push serves: the runtime of the overlay broker. Its methods
// may block for backpressure until ctx ends. What a client says comes in its
// order, from one goroutine; only Ack (for clients without an id: what was
// written), Command and List come from others too. Answers go through the
// connection's Outbox; an error that is returned is sent to the client by
// push, with its code if it is a *Problem, else as unavailable.
type Broker interface {
	// Connect makes a connection known and gives its number. remote is the
	// client's network address, for people.
	Connect(out Outbox, remote string) (conn uint64)
	// Hello is the client's first message. Its token has been checked: grant
	// is what it allows. The answer is a Welcome or an Error in the outbox.
	Hello(ctx context.Context, conn uint64, m protocol.Hello, grant Grant) error
	Subscribe(ctx context.Context, conn uint64, m protocol.Subscribe) error
	Update(ctx context.Context, conn uint64, m protocol.Update) error
	// Unsubscribe is answered by a Reply in the outbox.
	Unsubscribe(ctx context.Context, conn uint64, m protocol.Unsubscribe) error
	Ack(ctx context.Context, conn uint64, m protocol.Ack) error
	// Disconnect says that the connection has ended; nothing is enqueued for
	// it any more, or it is dropped.
	Disconnect(conn uint64)
	// Command carries a command to a robot and waits for its answer. push
	// sends the Reply. The right to command the robot has been checked.
	Command(ctx context.Context, grant Grant, m protocol.Command) (result any, err error)
	// List gives what a List's reply and /api/robots, /api/brokers and
	// /api/subscriptions carry: only what the grant lets be seen.
	List(ctx context.Context, what string, grant Grant) (any, error)
}

// Outbox takes what the broker sends over one connection, in order. Its
// methods never block and may be called from any goroutine; after the
// connection's end they do nothing.
type Outbox interface {
	// Notify sends a notification. Reading and Values are kept by reference
	// until written and must not change. decoded is when the reading was
	// decoded from Player's bytes (zero: not known), for the histogram.
	Notify(n protocol.Notify, decoded time.Time)
	// NotifyWith is Notify by a caller that soon has the burst written: if
	// nothing waits for the connection, the notification is written then, and
	// no other goroutine needs to wake.
	NotifyWith(b *Burst, n protocol.Notify, decoded time.Time)
	// Send sends any other message: a pointer to one of protocol's structs
	// (*protocol.Welcome, *protocol.Subscribed, *protocol.Gap,
	// *protocol.Robot, *protocol.Reply, *protocol.Heartbeat,
	// *protocol.Error), which must not change any more. Op need not be set. Of
	// heartbeats that wait only the newest is sent.
	Send(m any)
	// Close closes the connection after what was enqueued before has been
	// written, as far as the client still reads. The code becomes the
	// WebSocket close status, see CloseStatus; "" is a normal end.
	Close(code protocol.Code, reason string)
}

// Problem is an error with a code, which a client is told.
type Problem struct {
	Code       protocol.Code
	Message    string
	Position   *protocol.Position // in a condition
	Attachment *uint64            // the newest, for protocol.Conflict
}

// Error gives code and message.
func (p *Problem) Error() string { return string(p.Code) + ": " + p.Message }

// Grant is what a client may do.
type Grant struct {
	Token     string   // the token's name; "" without tokens
	Robots    []string // path.Match patterns; nil means all robots
	Subscribe bool
	Command   bool
}

// everything is the grant of a broker without tokens.
var everything = Grant{Subscribe: true, Command: true}

// AllRobots reports whether the grant covers every robot.
func (g Grant) AllRobots() bool { return g.Robots == nil || slices.Contains(g.Robots, "*") }

// Allows tells whether the grant covers the robot.
func (g Grant) Allows(robot string) bool {
	if g.Robots == nil {
		return true
	}
	for _, p := range g.Robots {
		if ok, err := path.Match(p, robot); err == nil && ok {
			return true
		}
	}
	return false
}

// Token is a secret and what it allows.
type Token struct {
	Secret string
	Grant  Grant
}

// CloseStatus gives the WebSocket close status for a code: 1000 for "", 1001
// (going away) for unavailable, 1013 (try again later) for overloaded, 1008
// (policy) for bad_message and what else a client did wrong, 4401, 4403 and
// 4409 for unauthorized, forbidden and conflict.
func CloseStatus(code protocol.Code) int {
	switch code {
	case "":
		return 1000
	case protocol.Unavailable:
		return 1001
	case protocol.Overloaded:
		return 1013
	case protocol.Unauthorized:
		return 4401
	case protocol.Forbidden:
		return 4403
	case protocol.Conflict:
		return 4409
	}
	return 1008
}
