package bridge_test

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"testing"

	"callboard/bridge"
	"callboard/bridge/beacon"
	"callboard/bridge/config"
)

// group returns a multicast group of the test's own.
func group(t *testing.T) string {
	t.Helper()
	conn, err := net.ListenPacket("udp4", "127.0.0.1:0") // a port that is free
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	return fmt.Sprintf("239.255.67.68:%d", conn.LocalAddr().(*net.UDPAddr).Port)
}

// announced makes a broker that announces itself at a group.
func announced(t *testing.T, group string, change func(*config.Config)) *bridge.Bridge {
	t.Helper()
	c := config.Default()
	c.Broker.ID, c.Broker.Listen, c.Broker.Data, c.Broker.Heartbeat = "b1", "127.0.0.1:0", t.TempDir(), 0.1
	c.Beacon.Group = group
	change(c)
	return startAs(t, bridge.Config{Config: c})
}

// TestABrokerAnnouncesItself: who listens on the loopback hears its id and
// where it serves. One that is not to is not heard.
func TestABrokerAnnouncesItself(t *testing.T) {
	if len(beacon.Loopback()) == 0 {
		t.Skip("this machine has no loopback interface")
	}
	at := group(t)
	b := announced(t, at, func(*config.Config) {})
	announced(t, at, func(c *config.Config) { c.Broker.ID, c.Beacon.Announce = "silent", false })
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	heard := 0
	if err := beacon.Listen(ctx, beacon.ListenConfig{Network: beacon.Network{Group: netip.MustParseAddrPort(at), Interfaces: beacon.Loopback()}}, func(got beacon.Beacon) {
		if got.Broker != "b1" || got.URL != b.WebSocketURL() {
			t.Errorf("heard %+v", got)
		}
		if heard++; heard == 5 {
			cancel()
		}
	}); err != nil {
		t.Fatal(err)
	}
	if heard < 5 {
		t.Errorf("heard %d beacons", heard)
	}
}
