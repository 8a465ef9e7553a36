//go:build linux

package bridge_test

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"testing"
	"time"

	"callboard/bridge"
	"callboard/bridge/config"
	"callboard/bridge/node"
	"callboard/bridge/segment"
	callboard "callboard/clients/go"
	"callboard/player/playertest"
	"callboard/subscribe/protocol"
)

// freeGroup returns a group of the test's own on the loopback, or skips it.
func freeGroup(t *testing.T) string {
	t.Helper()
	conn, err := net.ListenPacket("udp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	group := fmt.Sprintf("239.255.67.69:%d", conn.LocalAddr().(*net.UDPAddr).Port)
	conn.Close()
	s, err := segment.Open(segment.Config{Interface: "lo", Group: netip.MustParseAddrPort(group)})
	if err != nil {
		t.Skipf("this machine has no segment on the loopback: %v", err)
	}
	s.Close()
	return group
}

// neighboursOf returns a broker's neighbours as /api/brokers shows them.
func neighboursOf(t *testing.T, b *bridge.Bridge, id string) []node.Neighbour {
	t.Helper()
	resp, err := http.Get(b.URL() + "/api/brokers")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var all []node.Broker
	if err := json.NewDecoder(resp.Body).Decode(&all); err != nil {
		t.Fatal(err)
	}
	for _, one := range all {
		if one.ID == id {
			return one.Neighbours
		}
	}
	return nil
}

// TestBrokersOnASegment: a broker that reads a robot, and three neighbours of it on
// one segment whose programs want its readings. They go by multicast, lists say so,
// and each program gets each reading once and in order. A fourth neighbour is on
// another segment: lists say why it has all over its link.
func TestBrokersOnASegment(t *testing.T) {
	group, other := freeGroup(t), freeGroup(t)
	robot := playertest.Fake(t, playertest.Good)
	const n = 5
	links := make([]string, n)
	for i := range links {
		links[i] = freeAddress(t)
	}
	brokers := make([]*bridge.Bridge, n)
	for i := range brokers {
		c := config.Default()
		c.Broker.ID, c.Broker.Listen, c.Broker.Links, c.Broker.Data = fmt.Sprint("b", i+1), "127.0.0.1:0", links[i], t.TempDir()
		c.Broker.Heartbeat = 0.2
		c.Registry.Broker = "b1"
		c.Segments = []config.Segment{{Interface: "lo", Group: group, Rate: 200e6, Datagram: 1400}}
		if i == n-1 {
			c.Segments[0].Group = other
		}
		for j := range links {
			if i != j && (i == 0 || j == 0) {
				c.Neighbours = append(c.Neighbours, config.Neighbour{ID: fmt.Sprint("b", j+1), Address: links[j]})
			}
		}
		if i == 0 {
			c.Players = []config.Player{{Address: robot.Addr(), Robot: "r0"}}
		}
		brokers[i] = startAs(t, bridge.Config{Config: c})
	}
	for deadline := time.Now().Add(patience); ; <-time.After(10 * time.Millisecond) {
		by, why := 0, ""
		for _, one := range neighboursOf(t, brokers[0], "b1") {
			if one.Segment != nil && one.Segment.Multicast && one.Segment.Group == group && one.Segment.Since > 0 {
				by++
			} else if one.ID == "b5" && one.Segment != nil {
				why = one.Segment.Why
			}
		}
		if by == n-2 && why == "no segment in common" {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d neighbours by multicast; %+v", by, neighboursOf(t, brokers[0], "b1"))
		}
	}
	var clients []*callboard.Client
	for i := 1; i < n; i++ {
		c := attach(t, brokers[i])
		subscribe(t, c, protocol.Subscription{ID: "a", Condition: "laser.min >= 0"})
		clients = append(clients, c)
	}
	for _, c := range clients {
		last := uint64(0)
		for range 50 {
			got := notified(t, c)
			if got.Seq != last+1+got.Skipped || got.Robot != "r0" {
				t.Fatalf("%+v after %d", got.Notify, last)
			}
			last = got.Seq
		}
	}
	families := scrape(t, brokers[0])
	if datagrams, saved, members := sum(families, "callboard_segment_datagrams_total"), sum(families, "callboard_segment_saved_bytes_total"), sum(families, "callboard_segment_members"); datagrams < 30 || saved < 1000 || members != n-2 {
		t.Errorf("%v datagrams saved %v bytes, %v members", datagrams, saved, members)
	}
	if n := sum(scrape(t, brokers[1]), "callboard_segment_received_datagrams_total"); n < 30 {
		t.Errorf("a member has received %v datagrams", n)
	}
}
