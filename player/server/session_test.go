package server_test

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"callboard/player"
	"callboard/player/iface"
	"callboard/player/server"
)

// The tests of this file are named after the sections of the Player protocol
// reference whose statements they check. "Kinder" marks where the real server
// crashes, hangs or says nothing.

func Test1BannerIsOneWriteOf32Bytes(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, r *rig) {
		c := r.raw()
		b := make([]byte, 100)
		n, err := c.nc.Read(b) // one read, as libplayerc does
		if err != nil || n != player.BannerSize {
			t.Fatalf("read %d bytes, %v; expected the banner's 32", n, err)
		}
		want := "Player v.3.1.1-callboard" + strings.Repeat("\x00", 8)
		if string(b[:n]) != want {
			t.Errorf("banner %q, expected %q", b[:n], want)
		}
		c.quiet()
	})
}

func Test1RequestBeforeTheBannerIsRead(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, r *rig) {
		c := r.raw()
		c.send(self, player.Request, player.PlayerDatamode, &iface.DeviceDatamodeReq{Mode: player.Pull})
		c.bytes(player.BannerSize)
		c.is(c.next(), player.Ack, self, player.PlayerDatamode)
	})
}

func Test1NewConnectionsPush(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, r *rig) {
		c := r.client()
		c.open(position)
		r.driver.at(1)
		c.expectTimes(1)
	})
}

func Test1TheConnectionsEndClosesItsDevices(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, r *rig) {
		c := r.client()
		c.open(position)
		c.open(position)
		c.nc.Close()
		synctest.Wait()
		if got, want := r.driver.noted(), "open position2d:0, close position2d:0"; got != want {
			t.Errorf("driver saw %q, expected %q", got, want)
		}
		if r.driver.pub.Opened(position) {
			t.Error("the device is still open")
		}
	})
}

// Kinder: a client that half-closes gets the answers to all that it sent.
func Test1HalfClosedClientGetsItsAnswers(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, r *rig) {
		c := r.client()
		c.open(position)
		r.driver.answer = func(*server.Call) {} // later
		c.send(position, player.Request, getGeom, nil)
		c.send(position, player.Command, setVel, &iface.Position2DCmdVel{})
		c.send(self, player.Request, player.PlayerDevlist, nil)
		c.nc.(interface{ CloseWrite() error }).CloseWrite()
		c.is(c.next(), player.Ack, self, player.PlayerDevlist)
		synctest.Wait()
		r.driver.calls[0].Ack(&iface.Position2DGeom{})
		c.is(c.next(), player.Ack, position, getGeom)
		c.ended()
		if got, want := r.driver.noted(), "open position2d:0, REQ 1 of position2d:0, CMD 1 of position2d:0, close position2d:0"; got != want {
			t.Errorf("driver saw %q, expected %q", got, want)
		}
	})
}

func Test2RepliesOfTheServerEchoTheSequenceNumberDevicesGive0(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, r *rig) {
		c := r.client()
		c.write(encode(t, player.Header{Addr: self, Type: player.Request, Subtype: player.PlayerDevlist, Seq: 77}, nil))
		if m := c.next(); m.Seq != 77 {
			t.Errorf("seq of the server's reply is %d, expected 77", m.Seq)
		}
		c.write(encode(t, player.Header{Addr: position, Type: player.Request, Subtype: getGeom, Seq: 78}, nil))
		if m := c.next(); m.Seq != 0 {
			t.Errorf("seq of the device's reply is %d, expected 0", m.Seq)
		}
	})
}

func Test2HostAndRobotOfTheClientAreIgnored(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, r *rig) {
		c := r.client()
		m := c.request(player.Addr{Host: 5, Robot: 9, Interf: 1}, player.PlayerDevlist, nil)
		if m.Host != 0x0100007f || m.Robot != 6665 {
			t.Errorf("reply comes from host %x, robot %d, expected 100007f, 6665", m.Host, m.Robot)
		}
		c.send(player.Addr{Host: 5, Robot: 9, Interf: 4}, player.Command, setVel, &iface.Position2DCmdVel{})
		synctest.Wait()
		if got := r.driver.calls[0].Header; got.Host != 0x0100007f || got.Robot != 6665 {
			t.Errorf("the driver saw host %x, robot %d, expected 100007f, 6665", got.Host, got.Robot)
		}
	})
}

func Test2HighBitsOfNarrowFieldsAreCut(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, r *rig) {
		c := r.client()
		b := encode(t, player.Header{Addr: position, Type: player.Request, Subtype: getGeom}, nil)
		b[9] = 1  // interface 0x00010004
		b[18] = 1 // type 0x0103
		c.write(b)
		c.is(c.next(), player.Nack, position, getGeom)
		if got, want := r.driver.noted(), "REQ 1 of position2d:0"; got != want {
			t.Errorf("driver saw %q, expected %q", got, want)
		}
	})
}

func Test3LongBodiesLoseTheirEnd(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, r *rig) {
		c := r.client()
		c.ask(player.PlayerDatamode, append([]byte{0, 0, 0, player.Pull}, make([]byte, 5000)...))
		c.open(position)
		r.driver.at(1)
		c.quiet() // PULL it is
		c.send(position, player.Command, setVel, make([]byte, 40))
		synctest.Wait()
		if got, want := r.driver.noted(), "open position2d:0, CMD 1 of position2d:0"; got != want {
			t.Errorf("driver saw %q, expected %q", got, want)
		}
	})
}

func Test5Devlist(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, r *rig) {
		c := r.client()
		m := c.ask(player.PlayerDevlist, nil)
		want := unhex(t, `00000005 00000005
			0100007f 00001a09 00000004 00000000
			0100007f 00001a09 00000006 00000000
			0100007f 00001a09 0000003e 00000000
			0100007f 00001a09 0000003e 00000001
			0100007f 00001a09 0000001f 00000000`)
		expectBytes(t, m.Body, want)
		if m.Timestamp != 12.5 {
			t.Errorf("timestamp %v, expected the clock's 12.5", m.Timestamp)
		}
	})
}

func Test5TheIndexOfThePlayerInterfaceIsEchoed(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, r *rig) {
		m := r.client().request(player.Addr{Interf: 1, Index: 3}, player.PlayerDevlist, nil)
		if m.Type != player.Ack || m.Index != 3 {
			t.Errorf("got %s, expected an ACK of player:3", m.Header)
		}
	})
}

func Test5Driverinfo(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, r *rig) {
		c := r.client()
		var info iface.DeviceDriverinfo
		c.decode(c.ask(player.PlayerDriverinfo, &iface.DeviceDriverinfo{Addr: laser}), &info)
		want := iface.DeviceDriverinfo{Addr: player.Addr{Host: 0x0100007f, Robot: 6665, Interf: 6}, DriverName: "dummy\x00"}
		if diff := cmp.Diff(want, info); diff != "" {
			t.Error(diff)
		}
		c.refused(self, player.PlayerDriverinfo, &iface.DeviceDriverinfo{Addr: player.Addr{Interf: 6, Index: 1}})
	})
}

func Test5OtherDatamodesChangeNothing(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, r *rig) {
		c := r.client()
		c.mode(player.Pull)
		c.mode(77)
		c.open(position)
		r.driver.at(1)
		c.quiet()
	})
}

func Test5WhatIsNotServedIsRefused(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, r *rig) {
		c := r.client()
		c.refused(self, player.PlayerAuth, &iface.DeviceAuthReq{AuthKey: []byte("rightkey")})
		c.refused(self, player.PlayerNameservice, &iface.DeviceNameserviceReq{Name: []byte("r0")})
		for _, subtype := range []uint8{0, 6, 9, 11, 99, 254, 255} {
			c.refused(self, subtype, nil)
		}
		c.open(position) // without any authentication
		r.driver.at(1)
		c.expectTimes(1)
	})
}

func Test5OtherTypesAreAnsweredWithNacks(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, r *rig) {
		c := r.client()
		for _, typ := range []player.Type{player.Data, player.Command, player.Ack, player.Synch, 99, 0} {
			c.write(encode(t, player.Header{Addr: self, Type: typ, Subtype: 1, Seq: 4}, nil))
			m := c.next()
			c.is(m, player.Nack, self, 1)
			if m.Seq != 4 {
				t.Errorf("%s: seq %d, expected 4", typ, m.Seq)
			}
		}
		c.send(self, player.Nack, 1, nil) // not bounced
		c.quiet()
	})
}

// Kinder: these crash the real server.
func Test5EmptyBodiesAreRefused(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, r *rig) {
		c := r.client()
		for _, subtype := range []uint8{player.PlayerDev, player.PlayerDriverinfo, player.PlayerDatamode, player.PlayerAddReplaceRule} {
			c.refused(self, subtype, nil)
		}
		c.ask(player.PlayerDevlist, nil)
	})
}

// Kinder: the real server drops these without a word.
func Test5BodiesThatDoNotFitAreRefused(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, r *rig) {
		c := r.client()
		c.refused(self, player.PlayerDev, make([]byte, 8))
		c.refused(self, player.PlayerData, make([]byte, 4))
		c.ask(player.PlayerDevlist, nil)
		if got := r.server.Stats().Undecodable; got != 2 {
			t.Errorf("%d undecodable, expected 2", got)
		}
	})
}

func Test51OpenAndClose(t *testing.T) {
	inBubble(t, func(cfg *server.Config) {
		cfg.Drivers = append(cfg.Drivers, &fake{
			infos:  []server.DeviceInfo{{Interf: player.InterfaceSonar, Driver: "broken"}},
			onOpen: func(player.Addr) error { return errors.New("no such hardware") },
		})
	}, func(t *testing.T, r *rig) {
		c := r.client()
		sonar, absent := player.Addr{Interf: player.InterfaceSonar}, player.Addr{Interf: 6, Index: 9}
		const open, shut, bad = player.AccessOpen, player.AccessClose, player.AccessError
		for _, step := range []struct {
			what   string
			addr   player.Addr
			access uint8

			typ    player.Type
			answer uint8
			driver string
		}{
			{"open works", laser, open, player.Ack, open, "dummy\x00"},
			{"open again", laser, open, player.Ack, open, "dummy\x00"},
			{"close works", laser, shut, player.Ack, shut, "dummy\x00"},
			{"the second open needs a close, too", laser, shut, player.Ack, shut, "dummy\x00"},
			{"close of what is not open", laser, shut, player.Ack, bad, "dummy\x00"},
			{"access mode 5", laser, 5, player.Ack, bad, "dummy\x00"},
			{"unknown device", absent, open, player.Nack, bad, ""},
			{"close of an unknown device", absent, shut, player.Nack, bad, ""},
			{"kinder: a driver's failure is a NACK", sonar, open, player.Nack, bad, "broken\x00"},
			{"and the device is not open", sonar, shut, player.Ack, bad, "broken\x00"},
		} {
			h, answer := c.access(step.addr, step.access)
			step.addr.Host, step.addr.Robot = 0x0100007f, 6665
			want := iface.DeviceReq{Addr: step.addr, Access: step.answer, DriverName: step.driver}
			if diff := cmp.Diff(want, answer); diff != "" || h.Type != step.typ {
				t.Errorf("%s: %s, expected %s; %s", step.what, h, step.typ, diff)
			}
		}
	})
}

func Test51DoubleOpenDoublesTheReadings(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, r *rig) {
		c := r.client()
		c.open(position)
		r.driver.at(1)
		c.expectTimes(1)
		c.open(position)
		r.driver.at(2)
		c.expectTimes(2, 2)
		c.close(position)
		r.driver.at(3)
		c.expectTimes(3)
		c.close(position)
		r.driver.at(4)
		c.quiet()
	})
}

// As often as a device is opened it brings its readings, as far as the queue
// has room; what has none is told.
func Test51OpenedThousandsOfTimes(t *testing.T) {
	const opens = 3 * player.QueueLength
	inBubble(t, nil, func(t *testing.T, r *rig) {
		c := r.client()
		c.mode(player.Pull)
		for range opens {
			c.open(position)
		}
		r.driver.at(1)
		c.ask(player.PlayerData, nil)
		for range player.QueueLength {
			c.expectTimes(1)
		}
		m := c.next()
		c.is(m, player.Synch, self, player.SynchOverflow)
		var lost iface.Uint32
		if c.decode(m, &lost); lost.Value != opens-player.QueueLength {
			t.Errorf("%d readings are told as lost, expected %d", lost.Value, opens-player.QueueLength)
		}
		for range opens {
			c.close(position)
		}
		if _, answer := c.access(position, player.AccessClose); answer.Access != player.AccessError {
			t.Errorf("one more close has access %d, expected %d", answer.Access, player.AccessError)
		}
	})
}

func Test51TheFirstOpenStartsADeviceTheLastCloseStopsIt(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, r *rig) {
		a, b := r.client(), r.client()
		a.open(laser)
		b.open(laser)
		a.close(laser)
		if got, want := r.driver.noted(), "open laser:0"; got != want {
			t.Errorf("driver saw %q, expected %q", got, want)
		}
		b.close(laser)
		b.open(laser)
		if got, want := r.driver.noted(), "open laser:0, close laser:0, open laser:0"; got != want {
			t.Errorf("driver saw %q, expected %q", got, want)
		}
	})
}

// What a driver publishes while it is opened is not lost, and stands behind
// the acknowledgement.
func Test51TheAcknowledgementComesBeforeTheReadings(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, r *rig) {
		r.driver.onOpen = func(player.Addr) error {
			r.driver.at(1)
			r.driver.at(2)
			return nil
		}
		c := r.client()
		c.open(position) // fails unless the ACK is next
		c.expectTimes(1, 2)
		r.driver.at(3)
		c.expectTimes(3)
	})
}

func Test51ReadingsOfAFailedOpenAreDropped(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, r *rig) {
		r.driver.onOpen = func(player.Addr) error {
			r.driver.at(1)
			return errors.New("broken")
		}
		c := r.client()
		if h, _ := c.access(position, player.AccessOpen); h.Type != player.Nack {
			t.Fatalf("got %s, expected a NACK", h)
		}
		r.driver.at(2)
		c.quiet()
	})
}

// Kinder: the real server still delivers what was queued, and stock clients
// stumble over it.
func Test51CloseDropsWhatIsQueuedOfTheDevice(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, r *rig) {
		c := r.client()
		c.mode(player.Pull)
		c.open(laser)
		c.open(position)
		r.driver.at(1)
		r.driver.pub.Publish(laser, stateData, 2, &iface.LaserData{})
		r.driver.at(3)
		c.send(self, player.Request, player.PlayerDev, &iface.DeviceReq{Addr: position, Access: player.AccessClose})
		c.is(c.next(), player.Data, laser, stateData)
		c.is(c.next(), player.Ack, self, player.PlayerDev)
		if got := r.server.Stats().Closed; got != 2 {
			t.Errorf("%d readings counted as closed, expected 2", got)
		}
	})
}

func Test9PortOfTheListenerIsTheRobot(t *testing.T) {
	pipe := server.NewPipeListener("x", 0)
	s, err := server.New(server.Config{Listener: pipe, Port: 7001})
	if err != nil || s.Port() != 7001 {
		t.Errorf("port %d, %v, expected 7001", s.Port(), err)
	}
}

func Test8ADeviceListOf4096(t *testing.T) {
	inBubble(t, func(cfg *server.Config) {
		f := cfg.Drivers[0].(*fake)
		f.infos = nil
		for i := range player.MaxDevices {
			f.infos = append(f.infos, server.DeviceInfo{Interf: player.InterfaceLaser, Index: uint16(i), Driver: "stage"})
		}
	}, func(t *testing.T, r *rig) {
		c := r.client()
		var list iface.DeviceDevlist
		c.decode(c.ask(player.PlayerDevlist, nil), &list)
		if len(list.Devices) != player.MaxDevices || list.Devices[4095].Index != 4095 {
			t.Errorf("%d devices listed, expected 4096", len(list.Devices))
		}
		last := player.Addr{Interf: player.InterfaceLaser, Index: 4095}
		c.open(last)
		r.driver.pub.Publish(last, 1, 1, &iface.LaserData{})
		c.is(c.next(), player.Data, last, 1)
	})
}
