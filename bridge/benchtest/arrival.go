package benchtest

import (
	"context"
	"net"
	"time"
)

// DialStamped connects to a TCP address so that Arrived can tell when what is
// read had arrived.
func DialStamped(ctx context.Context, network, address string) (net.Conn, error) {
	var dialer net.Dialer
	conn, err := dialer.DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	stamped, err := stampArrivals(conn)
	if err != nil {
		conn.Close()
		return nil, err
	}
	return stamped, nil
}

// Arrived returns when the last byte that was read from a connection of
// DialStamped had arrived at the socket: what the reader then waited for a
// processor is not in it. now is the time, and what it returns where the kernel
// tells nothing (not Linux).
func Arrived(conn net.Conn, now time.Time) time.Time {
	c, ok := conn.(interface{ arrived() time.Time })
	if !ok {
		return now
	}
	at := c.arrived()
	if at.IsZero() {
		return now
	}
	return now.Add(-max(0, now.Round(0).Sub(at))) // by the clock that now was read from, too
}
