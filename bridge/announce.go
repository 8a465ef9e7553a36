package bridge

import (
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"time"

	"callboard/bridge/beacon"
	"callboard/bridge/config"
)

// newBeacon makes what announces this broker on the network; nil if nothing
// is to. A broker that listens on the loopback is announced there only: beyond
// this machine goes nothing unless the configuration lets programs come from
// there.
func (b *life) newBeacon() error {
	c := b.config.Config
	if !c.Beacon.Announce {
		return nil
	}
	if u, err := url.Parse(b.WebSocketURL()); err != nil || isUnspecified(u.Hostname()) {
		b.config.Logger.Info("the broker is not announced by beacons: no address to tell; expected broker.url", "listen", c.Broker.Listen)
		return nil
	}
	network := beacon.Network{Interfaces: beaconInterfaces(c)}
	if c.Beacon.Group != "" {
		group, err := netip.ParseAddrPort(c.Beacon.Group)
		if err != nil {
			return fmt.Errorf("beacon.group: %w", err)
		}
		network.Group = group
	}
	var err error
	b.beacon, err = beacon.New(beacon.Config{
		Broker: c.Broker.ID, URL: b.WebSocketURL(), Heartbeat: max(time.Duration(c.Broker.Heartbeat*float64(time.Second)), minBeacon),
		Network: network, Logger: b.config.Logger,
	})
	return err
}

// minBeacon keeps brokers with short heartbeats from flooding a network.
const minBeacon = 100 * time.Millisecond

// beaconInterfaces names where to announce the broker: as configured, or where
// programs can come from; nil is everywhere.
func beaconInterfaces(c *config.Config) []string {
	if len(c.Beacon.Interfaces) > 0 {
		return c.Beacon.Interfaces
	}
	host, _, _ := net.SplitHostPort(c.Broker.Listen)
	ip := net.ParseIP(host)
	switch {
	case host == "" || ip != nil && ip.IsUnspecified():
		return nil
	case ip == nil || ip.IsLoopback():
		return beacon.Loopback()
	}
	return beacon.Of(ip)
}

func isUnspecified(host string) bool {
	ip := net.ParseIP(host)
	return host == "" || ip != nil && ip.IsUnspecified()
}
