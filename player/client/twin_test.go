package client_test

import (
	"testing"

	"callboard/player"
	"callboard/player/client"
)

// TestTwins: what shows a device that is opened once more is left closed, unless
// it is asked for by name; whatever the driver's answer, all that is opened is
// opened at a time, as a recorded run begins with the first.
func TestTwins(t *testing.T) {
	ranger1 := addr(player.InterfaceRanger, 1)
	only := func(list ...player.Addr) func(player.Addr) bool {
		return func(a player.Addr) bool {
			for _, w := range list {
				if w.Interf == a.Interf && w.Index == a.Index {
					return true
				}
			}
			return false
		}
	}
	all := []player.Addr{laser0, robot0, ranger0, sonar0}
	for _, c := range []struct {
		name    string
		devices []player.Addr
		drivers map[player.Addr]string
		open    func(player.Addr) bool
		twin    func(player.Addr) bool
		up      string
	}{
		{"twins", all, map[player.Addr]string{laser0: player.TwinDriver(ranger0), sonar0: player.TwinDriver(ranger0)}, nil, nil, "up position2d:0 ranger:0"},
		{"one twin", all, map[player.Addr]string{laser0: player.TwinDriver(ranger0), sonar0: "p2os"}, nil, nil, "up position2d:0 ranger:0 sonar:0"},
		{"named", all, map[player.Addr]string{laser0: player.TwinDriver(ranger0), sonar0: player.TwinDriver(ranger0)}, nil, only(laser0), "up laser:0 position2d:0 ranger:0"},
		{"of what is not opened", all, map[player.Addr]string{laser0: player.TwinDriver(ranger0)}, only(laser0, robot0), nil, "up laser:0 position2d:0"},
		{"of what is not there", all, map[player.Addr]string{laser0: player.TwinDriver(ranger1), sonar0: player.TwinDriver(ranger0)}, nil, nil, "up laser:0 position2d:0 ranger:0"},
		{"others", all, map[player.Addr]string{laser0: "rangertolaser", sonar0: "stage"}, nil, nil, "up laser:0 position2d:0 ranger:0 sonar:0"},
		{"drivers unknown", all, nil, nil, nil, "up laser:0 position2d:0 ranger:0 sonar:0"},
		{"no ranger", []player.Addr{laser0, sonar0}, map[player.Addr]string{laser0: player.TwinDriver(ranger0)}, nil, nil, "up laser:0 sonar:0"},
	} {
		t.Run(c.name, func(t *testing.T) {
			one(t, client.Config{Open: c.open, Twin: c.twin}, c.devices, func(f *fake) { f.drivers = c.drivers }, func(t *testing.T, f *fake, r *running) {
				expectEvents(t, r, c.up)
				begun := false
				for _, m := range f.received() {
					switch {
					case m.Interf != player.InterfacePlayer:
					case m.Subtype == player.PlayerDev:
						begun = true
					case m.Subtype == player.PlayerDriverinfo && begun:
						t.Error("a driver is asked for after a device was opened")
					}
				}
			})
		})
	}
}
