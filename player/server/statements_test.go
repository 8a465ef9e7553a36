package server_test

import (
	"os"
	"regexp"
	"testing"
	"testing/synctest"

	"callboard/player"
	"callboard/player/iface"
	"callboard/player/server"
)

// In PUSH a full queue drops silently: no SYNCH tells of it.
func Test6OverflowInPushIsSilent(t *testing.T) {
	inBubble(t, func(cfg *server.Config) { cfg.QueueLength = 4 }, func(t *testing.T, r *rig) {
		c := r.client()
		c.mode(player.Pull) // so that nothing is written
		c.open(position)
		for i := range 9 {
			r.driver.at(float64(i))
		}
		c.send(self, player.Request, player.PlayerDatamode, &iface.DeviceDatamodeReq{Mode: player.Push})
		c.expectTimesBeforeAck(0, 1, 2, 3)
		c.quiet()
		if got := r.server.Stats().QueueFull; got != 5 {
			t.Errorf("%d readings counted as dropped, expected 5", got)
		}
	})
}

// expectTimesBeforeAck reads readings and one answer, in whatever order.
func (c *client) expectTimesBeforeAck(want ...float64) {
	c.t.Helper()
	answers := 0
	for range len(want) + 1 {
		m := c.next()
		switch {
		case m.Type == player.Ack:
			answers++
		case len(want) == 0 || m.Timestamp != want[0]:
			c.t.Fatalf("got %s at %v, expected readings at %v", m.Header, m.Timestamp, want)
		default:
			want = want[1:]
		}
	}
	if answers != 1 {
		c.t.Fatalf("%d answers, expected 1", answers)
	}
}

// Other requests may be made inside a round; their answers come in the queue's
// order, and the round ends after them.
func Test6RequestsInsideARound(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, r *rig) {
		c := r.client()
		c.mode(player.Pull)
		c.open(position)
		c.dataRequest()
		c.dataAck()
		c.is(c.request(self, player.PlayerDevlist, nil), player.Ack, self, player.PlayerDevlist)
		c.refused(position, 77, nil)
		c.quiet() // the round has had no reading
		r.driver.at(1)
		c.expectTimes(1)
		c.synch()
	})
}

// A rule that ignores replies swallows them, as in the real server.
func Test7IgnoredRepliesAreSwallowed(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, r *rig) {
		c := r.client()
		c.rule(4, -1, -1, -1, 2)
		c.send(position, player.Request, getGeom, nil)
		c.quiet()
		c.is(c.request(sim, 1, &iface.SimulationPose2DReq{Name: "x\x00"}), player.Nack, sim, 1)
	})
}

// A replaced reading goes to the end of the queue: the order of devices in a
// round changes.
func Test7AReplacedReadingGoesToTheEnd(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, r *rig) {
		c := r.client()
		c.rule(-1, -1, 1, -1, 1)
		c.mode(player.Pull)
		c.open(position)
		c.open(laser)
		r.driver.at(1)
		r.driver.pub.Publish(laser, 1, 2, &iface.LaserData{})
		r.driver.at(3)
		c.dataRequest()
		c.dataAck()
		c.is(c.next(), player.Data, laser, 1)
		c.expectTimes(3)
		c.synch()
	})
}

// One connection's messages are handled in order; a driver may answer requests
// to different devices in another.
func Test8OneConnectionsMessagesAreInOrder(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, r *rig) {
		r.driver.answer = func(*server.Call) {}
		c := r.client()
		for _, a := range []player.Addr{position, laser, position} {
			c.send(a, player.Request, getGeom, nil)
		}
		c.send(position, player.Command, setVel, &iface.Position2DCmdVel{})
		synctest.Wait()
		if got, want := r.driver.noted(), "REQ 1 of position2d:0, REQ 1 of laser:0, REQ 1 of position2d:0, CMD 1 of position2d:0"; got != want {
			t.Errorf("the driver saw %q, expected %q", got, want)
		}
		r.driver.calls[1].Nack(nil)
		r.driver.calls[0].Nack(nil)
		r.driver.calls[2].Nack(nil)
		c.is(c.next(), player.Nack, laser, getGeom)
		c.is(c.next(), player.Nack, position, getGeom)
		c.is(c.next(), player.Nack, position, getGeom)
	})
}

// The same interface and index may be there once on each port.
func Test9EachPortHasItsOwnDevices(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := start(t, func(cfg *server.Config) { cfg.Port = 6665 })
		b := start(t, func(cfg *server.Config) { cfg.Port = 6666 })
		x, y := a.client(), b.client()
		x.open(position)
		y.open(position)
		a.driver.at(1)
		if m := x.next(); m.Robot != 6665 {
			t.Errorf("robot %d", m.Robot)
		}
		y.quiet()
	})
}

// What a stock client does first: PULL, whose ACK it waits for, then rounds.
// Nothing comes between that it does not expect.
func Test10WhatStockClientsDo(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, r *rig) {
		c := r.client()
		c.mode(player.Pull)
		for _, d := range c.devices() { // with a DRIVERINFO for each
			_ = d
		}
		c.open(position)
		for round := range 3 {
			c.dataRequest()
			c.dataAck()
			r.driver.at(float64(round))
			c.expectTimes(float64(round))
			c.synch()
		}
		c.close(position)
		c.quiet()
	})
}

// A Player server that is a client opens with the full address, at once, and
// takes the first message for the answer; it stays in PUSH.
func Test13APlayerServerAsClient(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, r *rig) {
		r.driver.onOpen = func(player.Addr) error {
			r.driver.at(1) // before Open returns
			return nil
		}
		c := r.raw()
		addr := player.Addr{Host: 0x0200007f, Robot: 7777, Interf: position.Interf}
		c.write(encode(t, player.Header{Addr: self, Type: player.Request, Subtype: player.PlayerDev}, &iface.DeviceReq{Addr: addr, Access: player.AccessOpen}))
		c.bytes(player.BannerSize)
		m := c.next()
		c.is(m, player.Ack, self, player.PlayerDev)
		if m.Size >= 472 {
			t.Errorf("the answer has %d bytes", m.Size)
		}
		c.expectTimes(1)
	})
}

// The table of statements in DESIGN.md names tests that are there.
func TestTheStatementsTestsExist(t *testing.T) {
	text, err := os.ReadFile("DESIGN.md")
	if err != nil {
		t.Fatal(err)
	}
	there := map[string]bool{}
	files, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		source, err := os.ReadFile(f.Name())
		if err != nil {
			continue // a folder
		}
		for _, m := range regexp.MustCompile(`(?m)^func (Test\w+)\(`).FindAllSubmatch(source, -1) {
			there[string(m[1])] = true
		}
	}
	named := regexp.MustCompile(`Test\w+`).FindAll(text, -1)
	if len(named) < 40 {
		t.Errorf("DESIGN.md names %d tests only", len(named))
	}
	for _, name := range named {
		if !there[string(name)] {
			t.Errorf("DESIGN.md names %s, which is not there", name)
		}
	}
}
