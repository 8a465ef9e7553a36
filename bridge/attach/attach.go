// Package attach is the seam between a broker and its clients. A Broker serves
// clients whatever they speak; a Dialect speaks with them whoever holds their
// sockets. Package push has the sockets, and a folder for each dialect.
package attach

import (
	"context"
	"errors"
	"time"

	"callboard/subscribe/protocol"
)

// Broker is what clients attach to: the runtime of the overlay broker. Its
// methods may block for backpressure until ctx ends. What a client says comes
// in its order, from one goroutine; only Ack (for clients without an id: what
// was written), Command and List come from others too. Answers go through the
// connection's Outbox, but for errors that are returned.
type Broker interface {
	// Connect makes a connection known and returns its number. remote is the
	// client's network address, for people.
	Connect(out Outbox, remote string) (conn uint64)
	// Hello says who the client is. Its token has been checked: grant is what
	// it allows. The answer is a Welcome or an Error in the outbox.
	Hello(ctx context.Context, conn uint64, m protocol.Hello, grant Grant) error
	Subscribe(ctx context.Context, conn uint64, m protocol.Subscribe) error
	Update(ctx context.Context, conn uint64, m protocol.Update) error
	// Unsubscribe is answered by a Reply in the outbox.
	Unsubscribe(ctx context.Context, conn uint64, m protocol.Unsubscribe) error
	Ack(ctx context.Context, conn uint64, m protocol.Ack) error
	// Task does what a client says of tasks: a *protocol.Serve, *protocol.Unserve,
	// *protocol.Request, *protocol.Cancel, *protocol.Done, or a *protocol.Command
	// with a key. Its rights have been checked. Answers come in the outbox.
	Task(ctx context.Context, conn uint64, m any) error
	// Disconnect says that the connection has ended, and how; nothing is enqueued
	// for it any more, or it is dropped.
	Disconnect(conn uint64, how Ending)
	// Command carries a command to a robot and returns its answer. The right to
	// command the robot has been checked.
	Command(ctx context.Context, grant Grant, m protocol.Command) (result any, err error)
	// List returns what a List's reply and /api/robots, /api/brokers and
	// /api/subscriptions carry: only what the grant lets be seen.
	List(ctx context.Context, what string, grant Grant) (any, error)
}

// Ending says how a connection has ended, beside that it has.
type Ending struct {
	Closed  bool // the client has closed it by a close frame
	Goodbye bool // and said that it does not come back: its session ends
}

// Outbox takes what the broker sends over one connection, in order. Its
// methods never block and may be called from any goroutine, but for NotifySoon;
// after the connection's end they do nothing.
type Outbox interface {
	// Notify sends a notification. Reading and Values are kept by reference
	// until written and must not change. decoded is when the reading was
	// decoded from Player's bytes (zero: not known), for the histogram.
	Notify(n protocol.Notify, decoded time.Time)
	// NotifySoon is Notify by a caller that calls Flush before it waits for
	// anything. What connections for which nothing waits get until then is
	// written together, by the caller: no other goroutine needs to wake.
	NotifySoon(n protocol.Notify, decoded time.Time)
	// Flush writes what NotifySoon has taken, for all connections.
	Flush()
	// Send sends any other message: a pointer to one of protocol's structs
	// (*protocol.Welcome, *protocol.Subscribed, *protocol.Gap,
	// *protocol.Robot, *protocol.Reply, *protocol.Heartbeat,
	// *protocol.Error), or a Said, which must not change any more. Op need not be
	// set. Of heartbeats that wait only the newest is sent.
	Send(m any)
	// Close closes the connection after what was enqueued before has been
	// written, as far as the client still reads. "" is a normal end.
	Close(code protocol.Code, reason string)
}

// Dialect is a protocol that clients speak over a WebSocket.
type Dialect interface {
	// Choose returns the subprotocol to speak of those that a client offers, ""
	// for none, and reports whether it can be spoken with.
	Choose(offered []string) (subprotocol string, ok bool)
	// Attach begins to speak with a client. It may send, and say hello for a
	// client that does not say who it is itself.
	Attach(ctx context.Context, c Conn, subprotocol string) Speaker
}

// Speaker speaks a dialect with one client. Receive is called by one goroutine;
// Notify and Send by another, which writes.
type Speaker interface {
	// Receive does what a message of the client asks for; it may block. The
	// message is valid during the call. An error says that it makes no sense
	// (the client is told, and the connection goes on), or is ErrTooLarge.
	Receive(ctx context.Context, binary bool, message []byte) error
	// Notify says what a notification says, by as many messages as it takes, also
	// none. Like Send it must not wait.
	Notify(to Messages, n *protocol.Notify)
	// Send does the same for what Outbox.Send takes.
	Send(to Messages, m any)
	// End says that the connection has ended, and its commands are done. It is
	// the last call, and comes if Attach returned.
	End()
}

// Said is a message of a dialect's own, which Conn.Send brings to its Speaker.Send
// in its turn. Op names it for metrics: one of few words.
type Said interface{ Op() string }

// ErrTooLarge ends a connection: of all messages only a hello may have more
// than protocol.MaxMessage bytes.
var ErrTooLarge = errors.New("message too large")

// Messages takes messages to be written, one after the other.
type Messages interface {
	// Begin begins a message. Its payload is to be appended to what Begin
	// returns, and handed to End or EndWith.
	Begin(binary bool) []byte
	End(payload []byte)
	// EndWith ends a message whose payload goes on with shared and tail, which
	// must not change until written: where it can be, they are not copied.
	EndWith(payload, shared, tail []byte)
}

// Conn is a client's connection as its dialect sees it: what the client may do
// is checked here, and done by the broker. All but Command, List, Send and Close
// are for Speaker.Receive's goroutine.
type Conn interface {
	// Hello says who the client is, and must come first. A refusal is sent.
	Hello(ctx context.Context, m protocol.Hello)
	// Known reports whether the client has shown a token, or needs none: then its
	// Hello may be without one.
	Known() bool
	// Grant returns what the client may do; nothing before its hello was taken.
	Grant() Grant
	Subscribe(ctx context.Context, m protocol.Subscribe) error
	Update(ctx context.Context, m protocol.Update) error
	Unsubscribe(ctx context.Context, m protocol.Unsubscribe) error
	Ack(ctx context.Context, m protocol.Ack) error
	// Command has a command carried out behind those before to the same robot,
	// and answer called with what comes of it, unless it returns an error.
	Command(ctx context.Context, m protocol.Command, answer Answer) error
	// List is the same for a list.
	List(ctx context.Context, m protocol.List, answer Answer) error
	// Task is the broker's: of a client's tasks.
	Task(ctx context.Context, m any) error
	// Send and Close are Outbox's.
	Send(m any)
	Close(code protocol.Code, reason string)
}

// Answer takes what has come of a command or a list.
type Answer func(result any, err error)
