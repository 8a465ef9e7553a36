package server_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"callboard/player"
	"callboard/player/iface"
	"callboard/player/server"
)

// through is a fake that is a server.Relay, too.
type through struct{ *fake }

func (through) Relays() bool { return true }

func (c *client) devices() []string {
	c.t.Helper()
	var list iface.DeviceDevlist
	c.decode(c.ask(player.PlayerDevlist, nil), &list)
	var names []string
	for _, d := range list.Devices {
		var info iface.DeviceDriverinfo
		c.decode(c.ask(player.PlayerDriverinfo, &iface.DeviceDriverinfo{Addr: d}), &info)
		names = append(names, d.String()+"/"+iface.GoString(info.DriverName))
	}
	return names
}

func TestProvideChangesTheListOfDevices(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, r *rig) {
		provide := func(infos ...server.DeviceInfo) {
			t.Helper()
			if err := server.Provide(r.driver.pub, infos); err != nil {
				t.Fatal(err)
			}
		}
		base := server.DeviceInfo{Interf: player.InterfacePosition2D, Driver: "new"}
		map0 := server.DeviceInfo{Interf: player.InterfaceMap, Driver: "mapfile"}
		c := r.client()
		c.open(position)
		provide(base, map0)
		if got := c.devices(); !slices.Equal(got, []string{"position2d:0/new", "map:0/mapfile"}) {
			t.Errorf("devices %q", got)
		}
		c.open(player.Addr{Interf: player.InterfaceMap})
		if h, _ := c.access(laser, player.AccessOpen); h.Type != player.Nack {
			t.Errorf("a device that is gone was opened: %s", h)
		}

		// What is gone stays with those who have it open, and only with them.
		provide(map0)
		r.driver.at(1)
		c.expectTimes(1)
		other := r.client()
		if h, answer := other.access(position, player.AccessOpen); h.Type != player.Nack || answer.Access != player.AccessError {
			t.Errorf("a device that is gone was opened: %s", h)
		}
		provide(map0, base)
		other.open(position)
		r.driver.at(2)
		c.expectTimes(2)
		other.expectTimes(2)
		provide(map0)
		c.close(position)
		other.close(position)
		provide(map0)
		if h, _ := c.access(position, player.AccessClose); h.Type != player.Nack {
			t.Errorf("a device that is gone for good is still known: %s", h)
		}
		if got := r.driver.noted(); got != "open position2d:0, open map:0, close position2d:0" {
			t.Errorf("the driver saw %q", got)
		}
	})
}

func TestProvideRefusesWhatCannotBeServed(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, r *rig) {
		c := r.client()
		before := c.devices()
		for _, test := range []struct {
			infos []server.DeviceInfo
			want  string
		}{
			{[]server.DeviceInfo{{Interf: 6, Driver: "a"}, {Interf: 6, Driver: "b"}}, `laser:0 is provided by driver "a" and by "b"`},
			{[]server.DeviceInfo{{Interf: 1, Driver: "a"}}, "the server itself"},
			{[]server.DeviceInfo{{Interf: 6, Driver: strings.Repeat("x", 63)}}, "at most 62"},
		} {
			if err := server.Provide(r.driver.pub, test.infos); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, expected an error with %q", err, test.want)
			}
		}
		if after := c.devices(); !slices.Equal(before, after) {
			t.Errorf("devices were %q, are %q", before, after)
		}
	})
}

// More devices than a list can tell are served.
func TestProvideManyDevices(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, r *rig) {
		infos := make([]server.DeviceInfo, player.MaxDevices+100)
		for i := range infos {
			infos[i] = server.DeviceInfo{Interf: player.InterfacePosition2D, Index: uint16(i), Driver: "d"}
		}
		if err := server.Provide(r.driver.pub, infos); err != nil {
			t.Fatal(err)
		}
		c := r.client()
		var list iface.DeviceDevlist
		c.decode(c.ask(player.PlayerDevlist, nil), &list)
		if len(list.Devices) != player.MaxDevices {
			t.Errorf("%d devices are listed", len(list.Devices))
		}
		last := player.Addr{Interf: player.InterfacePosition2D, Index: player.MaxDevices + 99}
		c.open(last)
		r.driver.pub.PublishBody(last, stateData, 1, make([]byte, 52))
		c.is(c.next(), player.Data, last, stateData)
	})
}

// A relay gets bodies as they are, of messages that no table has, too; what
// does not fit the table is refused before it gets there.
func TestRelayGetsBodiesAsTheyAre(t *testing.T) {
	f := newFake()
	f.infos = append(f.infos, server.DeviceInfo{Interf: 777, Driver: "odd"})
	var got []string
	f.answer = func(c *server.Call) {
		got = append(got, fmt.Sprintf("%s %x %v", c.Header, c.Body, c.Payload))
		h := player.Header{Type: player.Ack, Timestamp: 99, Seq: 5}
		switch {
		case c.Header.Subtype == 3:
			h.Type = player.Nack
			c.Reply(h, c.Body)
		case c.Header.Subtype == 4:
			c.Reply(h, nil)
		default:
			c.Reply(h, append(c.Body, c.Body...))
		}
	}
	inBubble(t, func(cfg *server.Config) { cfg.Drivers = []server.Driver{through{f}} }, func(t *testing.T, r *rig) {
		c := r.client()
		odd := player.Addr{Interf: 777}
		m := c.request(odd, 1, []byte{1, 2, 3, 4})
		if m.Type != player.Ack || m.Timestamp != 99 || m.Seq != 5 || !slices.Equal(m.Body, []byte{1, 2, 3, 4, 1, 2, 3, 4}) {
			t.Errorf("answer %+v", m)
		}
		if m := c.request(odd, 3, []byte{1, 2, 3, 4}); m.Type != player.Nack || len(m.Body) != 4 {
			t.Errorf("answer %+v", m)
		}
		c.send(odd, player.Command, 7, []byte{9, 9, 9, 9})
		c.refused(position, 1, []byte{1, 2, 3, 4})                   // GET_GEOM is longer
		c.send(position, player.Command, setVel, []byte{1, 2, 3, 4}) // so is VEL
		c.refused(ranger, 4, nil)                                    // an ACK without the body that clients read
		want := []string{"REQ 1 of 777:0 01020304 <nil>", "REQ 3 of 777:0 01020304 <nil>", "CMD 7 of 777:0 09090909 <nil>", "REQ 4 of ranger:0  <nil>"}
		if !slices.Equal(got, want) {
			t.Errorf("the relay got %q\nexpected %q", got, want)
		}
		if s := r.server.Stats(); s.Undecodable != 2 || s.MissingBodies != 1 {
			t.Errorf("counted %+v", s)
		}
	})
}
