package main

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"os"
	"strings"
	"testing"
	"time"

	"callboard/bridge"
	"callboard/bridge/beacon"
	"callboard/bridge/config"
	callboard "callboard/clients/go"
	"callboard/player/playertest"
)

// TestWatchHearsABroker: a watch that was not told of a broker finds one that
// announces itself on the loopback.
func TestWatchHearsABroker(t *testing.T) {
	if len(beacon.Loopback()) == 0 {
		t.Skip("this machine has no loopback interface")
	}
	port, err := net.ListenPacket("udp4", "127.0.0.1:0") // one that is free
	if err != nil {
		t.Fatal(err)
	}
	port.Close()
	group := fmt.Sprintf("239.255.67.69:%d", port.LocalAddr().(*net.UDPAddr).Port)
	robot := playertest.Fake(t, playertest.Good)
	c := config.Default()
	c.Broker.ID, c.Broker.Listen, c.Broker.Data, c.Broker.Heartbeat, c.Beacon.Group = "b1", "127.0.0.1:0", t.TempDir(), 0.1, group
	c.Players = []config.Player{{Address: robot.Addr(), Robot: "r0"}}
	c.Complete()
	b, err := bridge.New(bridge.Config{Config: c})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- b.Run(ctx) }()
	defer func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}()
	var out, notes strings.Builder
	p := &program{stdout: &out, stderr: &notes, getenv: os.Getenv}
	w := &watcher{
		p: p, subscription: callboard.Subscription{ID: watchID, Condition: "position.x >= 0"}, most: 1, timeout: 30 * time.Second,
		config: callboard.Config{Brokers: []string{"ws://127.0.0.1:1/ws"}}, out: newNotificationPrinter(p, false),
		where: beacon.ListenConfig{Network: beacon.Network{Group: netip.MustParseAddrPort(group), Interfaces: beacon.Loopback()}},
	}
	if err := w.run(ctx); err != nil {
		t.Fatalf("%v; %s", err, notes.String())
	}
	if !strings.HasPrefix(out.String(), "r0 ") || !strings.Contains(notes.String(), "heard one at "+b.WebSocketURL()) {
		t.Errorf("printed %q and %q", out.String(), notes.String())
	}
}
