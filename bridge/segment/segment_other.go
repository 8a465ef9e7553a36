//go:build !linux

package segment

import (
	"errors"
	"net/netip"

	"callboard/bridge/link"
)

// Segment is a broker's sockets on a segment; there are none on this system.
type Segment struct{}

// Open returns an error: segments need Linux.
func Open(Config) (*Segment, error) { return nil, errors.New("segments need Linux") }

// Address implements link.Group.
func (*Segment) Address() netip.AddrPort { return netip.AddrPort{} }

// Port implements link.Group.
func (*Segment) Port() uint16 { return 0 }

// Window implements link.Group.
func (*Segment) Window() int { return minWindow }

// Send implements link.Group.
func (*Segment) Send([]link.Datagram) {}

// Receive implements link.Group.
func (*Segment) Receive(func(netip.Addr, []byte, uint32)) error {
	return errors.New("segments need Linux")
}

// Close implements link.Group.
func (*Segment) Close() error { return nil }
