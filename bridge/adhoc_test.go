//go:build linux

package bridge_test

import (
	"fmt"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"callboard/bridge"
	"callboard/bridge/beacon"
	"callboard/bridge/config"
	"callboard/player/playertest"
	"callboard/subscribe/protocol"
)

// beaconGroup returns a group of the test's own on the loopback, or skips it.
func beaconGroup(t *testing.T) (group string, interfaces []string) {
	t.Helper()
	conn, err := net.ListenPacket("udp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	group = fmt.Sprintf("239.255.67.70:%d", conn.LocalAddr().(*net.UDPAddr).Port)
	conn.Close()
	interfaces = beacon.Loopback()
	var out beacon.Outlet
	defer out.Close()
	if err := out.Send(&beacon.Network{Interfaces: interfaces}, []byte("try")); err != nil {
		t.Skipf("this machine has no multicast on the loopback: %v", err)
	}
	return group, interfaces
}

// TestBrokersFindEachOther: brokers without a configured link find each other by their
// beacons, and a program at one gets what a robot at another gives. Those of another
// network, with another key or with a neighbour's id are counted, and make no link.
func TestBrokersFindEachOther(t *testing.T) {
	group, interfaces := beaconGroup(t)
	robot := playertest.Fake(t, playertest.Good)
	var one *bridge.Bridge
	start := func(id, network, key string) (stop func()) {
		c := config.Default()
		c.Broker.ID, c.Broker.Listen, c.Broker.Links, c.Broker.Data = id, "127.0.0.1:0", "127.0.0.1:0", t.TempDir()
		c.Broker.Heartbeat = 0.2
		c.Registry.Mode = config.RegistryEvery
		c.Adhoc = &config.Adhoc{Network: network, Group: group, Interfaces: interfaces, KeyFile: "field.key", Key: []byte(key)}
		if id == "b3" {
			c.Players = []config.Player{{Address: robot.Addr(), Robot: "r0"}}
		}
		c.Complete()
		if err := c.Validate().Err(); err != nil {
			t.Fatal(err)
		}
		b, err := bridge.New(bridge.Config{Config: c})
		if err != nil {
			t.Fatal(err)
		}
		if one == nil {
			one = b
		}
		return run(t, b)
	}
	const key = "the key of the field"
	start("b1", "field", key)
	linked := func() (up []string) {
		for _, n := range neighboursOf(t, one, "b1") {
			if n.Up && n.Cost > 0 {
				up = append(up, n.ID)
			}
		}
		return up
	}
	until := func(what string, is func() bool) {
		t.Helper()
		for deadline := time.Now().Add(patience); !is(); <-time.After(10 * time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatalf("%s: %+v", what, neighboursOf(t, one, "b1"))
			}
		}
	}
	stop := start("b2", "field", key)
	start("b3", "field", key)
	until("no links", func() bool { return slices.Equal(linked(), []string{"b2", "b3"}) })
	c := attach(t, one)
	subscribe(t, c, protocol.Subscription{ID: "a", Condition: "position.x >= 0"})
	last := uint64(0)
	for range 20 {
		got := notified(t, c)
		if got.Seq != last+1+got.Skipped || got.Robot != "r0" {
			t.Fatalf("%+v after %d", got.Notify, last)
		}
		last = got.Seq
	}

	start("x1", "forest", key)
	start("x2", "field", "another network's key")
	start("b1", "field", key)
	counted := func(outcome string) bool {
		for _, f := range scrape(t, one) {
			if f.Name != "callboard_adhoc_beacons_total" {
				continue
			}
			for _, s := range f.Samples {
				if s.Labels["outcome"] == outcome && s.Value > 0 {
					return true
				}
			}
		}
		return false
	}
	for _, outcome := range []string{"foreign", "forged", "own_id", "taken", "sent"} {
		until(outcome, func() bool { return counted(outcome) })
	}
	if got := linked(); !slices.Equal(got, []string{"b2", "b3"}) {
		t.Errorf("links with %s", strings.Join(got, ", "))
	}
	stop()
	until("a link with who is gone", func() bool { return slices.Equal(linked(), []string{"b3"}) && len(neighboursOf(t, one, "b1")) == 1 })
}
