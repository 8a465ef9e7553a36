package beacon

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"os"
	"time"

	"golang.org/x/net/ipv4"
)

// ListenConfig says where to hear beacons. The zero value serves.
type ListenConfig struct {
	Network Network
	Logger  *slog.Logger // default: discards
}

// Listen calls heard with every beacon, until ctx ends; then it returns nil.
// A beacon that comes in by several interfaces is heard several times. Where
// there is no multicast (yet) that is logged once, and tried again. Errors are
// those of the configuration.
func Listen(ctx context.Context, cfg ListenConfig, heard func(Beacon)) error {
	if err := cfg.Network.complete(); err != nil {
		return fmt.Errorf("listen for beacons: %w", err)
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	cfg.receive(ctx, maxBeacon, func(data []byte, from netip.AddrPort) {
		b, err := Decode(data)
		if err != nil {
			cfg.Logger.Debug("not a broker's beacon", "from", from.String(), "error", err)
			return
		}
		b.From = from
		heard(b)
	})
	return nil
}

// Receive hands over every datagram of a group up to a number of bytes, until ctx ends;
// then it returns nil. The bytes may be used again after the call. It is Listen for
// those who have beacons of their own.
func Receive(ctx context.Context, cfg ListenConfig, most int, take func(data []byte, from netip.AddrPort)) error {
	if err := cfg.Network.complete(); err != nil {
		return fmt.Errorf("listen for beacons: %w", err)
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	cfg.receive(ctx, most, take)
	return nil
}

func (cfg *ListenConfig) receive(ctx context.Context, most int, take func(data []byte, from netip.AddrPort)) {
	problem := ""
	for {
		err := listen(ctx, cfg, most, take)
		if ctx.Err() != nil {
			return
		}
		if err.Error() != problem {
			problem = err.Error()
			cfg.Logger.Info("cannot hear brokers on the network", "group", cfg.Network.Group.String(), "error", err)
		}
		timer := time.NewTimer(rescan)
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-timer.C:
		}
	}
}

// listen hears until something fails, or ctx ends.
func listen(ctx context.Context, cfg *ListenConfig, most int, take func(data []byte, from netip.AddrPort)) error {
	conn, err := join(&cfg.Network)
	if err != nil {
		return err
	}
	defer conn.Close()
	group := ipv4.NewPacketConn(conn)
	defer context.AfterFunc(ctx, func() { conn.SetReadDeadline(time.Unix(1, 0)) })()
	buf := make([]byte, most+1)
	for {
		joinAll(group, &cfg.Network)
		until := time.Now().Add(rescan)
		conn.SetReadDeadline(until)
		for time.Now().Before(until) {
			if ctx.Err() != nil {
				return nil
			}
			n, from, err := conn.ReadFromUDPAddrPort(buf)
			if errors.Is(err, os.ErrDeadlineExceeded) {
				break
			}
			if err != nil {
				return err
			}
			take(buf[:n], netip.AddrPortFrom(from.Addr().Unmap(), from.Port()))
		}
	}
}

// join opens the socket on the first interface that lets it. Several programs
// of one machine may listen.
func join(n *Network) (*net.UDPConn, error) {
	usable, err := n.interfaces()
	if err != nil {
		return nil, err
	}
	for i := range usable {
		var conn *net.UDPConn
		if conn, err = net.ListenMulticastUDP("udp4", &usable[i], net.UDPAddrFromAddrPort(n.Group)); err == nil {
			return conn, nil
		}
		err = fmt.Errorf("on %s: %w", usable[i].Name, err)
	}
	return nil, err
}

// joinAll joins on all interfaces that there are now. Where it has joined
// already that fails, and is right.
func joinAll(group *ipv4.PacketConn, n *Network) {
	usable, _ := n.interfaces() // none at present: later
	for i := range usable {
		_ = group.JoinGroup(&usable[i], net.UDPAddrFromAddrPort(n.Group))
	}
}
