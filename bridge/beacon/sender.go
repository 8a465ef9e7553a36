package beacon

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"time"

	"golang.org/x/net/ipv4"
)

// Config says what a broker announces, and where.
type Config struct {
	Broker    string        // its id; required
	URL       string        // where it serves clients; required
	Heartbeat time.Duration // between beacons; default 1 s
	Network   Network
	Logger    *slog.Logger // default: discards
}

// Sender announces a broker.
type Sender struct {
	cfg  Config
	data []byte
}

// New checks the configuration. Nothing is sent before Run.
func New(cfg Config) (*Sender, error) {
	if cfg.Heartbeat == 0 {
		cfg.Heartbeat = time.Second
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	b := Beacon{Broker: cfg.Broker, URL: cfg.URL, Heartbeat: cfg.Heartbeat}
	data, err := b.encode()
	if err == nil {
		err = cfg.Network.complete()
	}
	if err != nil {
		return nil, fmt.Errorf("beacons of broker %q: %w", cfg.Broker, err)
	}
	return &Sender{cfg: cfg, data: data}, nil
}

// Run sends a beacon each heartbeat, until ctx ends; then it returns nil. A
// network without multicast is no error, since clients have other ways to find
// brokers: it is logged once, and tried again.
func (s *Sender) Run(ctx context.Context) error {
	ticker := time.NewTicker(s.cfg.Heartbeat)
	defer ticker.Stop()
	var out Outlet
	defer out.Close()
	problem := ""
	for {
		switch err := out.Send(&s.cfg.Network, s.data); {
		case err == nil:
			problem = ""
		case err.Error() != problem:
			problem = err.Error()
			s.cfg.Logger.Info("cannot announce the broker on the network", "group", s.cfg.Network.Group.String(), "error", err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
	}
}

// Outlet is the socket that beacons leave by. The zero value serves.
type Outlet struct {
	conn       *ipv4.PacketConn
	interfaces []net.Interface
	scanned    time.Time
}

// Send sends on every interface. It is an error if none takes it.
func (o *Outlet) Send(n *Network, data []byte) error {
	if err := n.complete(); err != nil {
		return err
	}
	if o.conn == nil {
		conn, err := net.ListenPacket("udp4", ":0")
		if err != nil {
			return err
		}
		o.conn = ipv4.NewPacketConn(conn)
		o.conn.SetMulticastLoopback(true) // for clients on this machine
		o.conn.SetMulticastTTL(1)
	}
	if len(o.interfaces) == 0 || time.Since(o.scanned) >= rescan {
		var err error
		if o.interfaces, err = n.interfaces(); err != nil {
			return err
		}
		o.scanned = time.Now()
	}
	var failed error
	sent := 0
	for i := range o.interfaces {
		err := o.conn.SetMulticastInterface(&o.interfaces[i])
		if err == nil {
			_, err = o.conn.WriteTo(data, nil, net.UDPAddrFromAddrPort(n.Group))
		}
		if err != nil {
			failed = fmt.Errorf("on %s: %w", o.interfaces[i].Name, err)
			continue
		}
		sent++
	}
	if sent > 0 {
		return nil
	}
	o.interfaces = nil // look again
	return failed
}

// Close closes the socket. It may be used again.
func (o *Outlet) Close() {
	if o.conn != nil {
		o.conn.Close()
		o.conn = nil
	}
}
