// Package segment is the sockets of a broker on a LAN segment: the way of
// bridge/multicast's datagrams. See DESIGN.md.
package segment

import (
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
)

const (
	// DefaultDatagram is the longest datagram, bytes: one that fits where there are
	// tunnels and VLANs.
	DefaultDatagram = 1400
	// ipHeads is what IP and UDP add to a datagram, bytes.
	ipHeads = 28
	// bufferWanted is asked for of the kernel, bytes: maxWindow datagrams.
	bufferWanted = 8 << 20
	// charged is what the kernel counts for a datagram that waits, bytes: buffers,
	// not what is in them.
	charged   = 2304
	maxWindow = 2048
	minWindow = 16
)

// Config says which segment.
type Config struct {
	Interface string         // name: "eth0"
	Group     netip.AddrPort // IPv4 multicast address and port, the same for all its brokers
	Datagram  int            // bytes of the longest; default 1,400
	Logger    *slog.Logger   // default: discards
}

func (cfg *Config) complete() error {
	if cfg.Datagram == 0 {
		cfg.Datagram = DefaultDatagram
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	if cfg.Interface == "" {
		return errors.New("a segment without an interface")
	}
	if !cfg.Group.Addr().Is4() || !cfg.Group.Addr().IsMulticast() || cfg.Group.Port() == 0 {
		return fmt.Errorf("the group %v; expected an IPv4 multicast address and a port, as 239.255.67.66:8803", cfg.Group)
	}
	return nil
}

// window is how many datagrams a socket's buffer holds, with a quarter to spare.
func window(buffer int) int {
	return max(minWindow, min(maxWindow, buffer/4*3/charged))
}
