package link

import (
	"context"
	"net"
)

// Transport is how two neighbours get a connection with each other: bytes both
// ways, in order, or an error; and proof of who is at the other end. All else
// (handshake, frames, heartbeats, sessions) is the same over any, as is what
// takes connections: a net.Listener. TestTransports says what one must do.
type Transport interface {
	// Dial connects to an address. It ends with ctx.
	Dial(ctx context.Context, address string) (net.Conn, error)
	// Secure does what comes before a link's first byte, at both ends, and
	// returns the connection to go on with. It ends with ctx and with conn's
	// deadline, and leaves conn to be closed by the caller.
	Secure(ctx context.Context, conn net.Conn, dialed bool) (net.Conn, error)
	// Verify returns an error unless the neighbour is at the other end of a
	// connection that Secure has returned.
	Verify(conn net.Conn, n Neighbour) error
}

// TCP is the transport that believes who the other side says it is.
type TCP struct{}

// Dial implements Transport.
func (TCP) Dial(ctx context.Context, address string) (net.Conn, error) {
	var d net.Dialer
	return d.DialContext(ctx, "tcp", address)
}

// Secure implements Transport.
func (TCP) Secure(_ context.Context, conn net.Conn, _ bool) (net.Conn, error) { return conn, nil }

// Verify implements Transport.
func (TCP) Verify(net.Conn, Neighbour) error { return nil }
