package client_test

import (
	"fmt"
	"math"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"callboard/player"
	"callboard/player/client"
	"callboard/player/iface"
)

func TestReadingsBeforeUp(t *testing.T) {
	prepare := func(f *fake) {
		f.on = func(f *fake, m player.Message) bool {
			if m.Interf == player.InterfacePlayer && m.Subtype == player.PlayerDev {
				var req iface.DeviceReq
				f.decode(m, &req)
				f.data(req.Addr, 1, float64(len(f.got)), f.payload(req.Addr))
			}
			return false
		}
	}
	one(t, client.Config{}, []player.Addr{laser0, robot0}, prepare, func(t *testing.T, f *fake, r *running) {
		expectEvents(t, r, "up laser:0 position2d:0", "DATA 1 of laser:0 at 3", "DATA 1 of position2d:0 at 4")
	})
}

func (f *fake) payload(a player.Addr) any {
	if a.Interf == player.InterfaceLaser {
		return laserScan(1)
	}
	return &iface.Position2DData{}
}

func TestLateGeometry(t *testing.T) {
	var asked atomic.Int32
	var held []player.Message
	prepare := func(f *fake) {
		f.on = func(f *fake, m player.Message) bool {
			if m.Interf == player.InterfaceLaser && m.Type == player.Request {
				switch asked.Add(1) {
				case 1:
					return true // never answered
				case 2:
					f.nack(m, nil)
					return true
				}
			}
			if m.Interf == player.InterfaceSonar && m.Type == player.Request {
				held = append(held, m)
				return true
			}
			return false
		}
	}
	cfg := client.Config{SetupTimeout: time.Second, RequestTimeout: 3 * time.Second, BackoffMin: time.Second, BackoffMax: 10 * time.Second}
	one(t, cfg, []player.Addr{laser0, robot0, sonar0}, prepare, func(t *testing.T, f *fake, r *running) {
		expectEvents(t, r)
		time.Sleep(time.Second)
		expectEvents(t, r, "up laser:0 position2d:0 sonar:0")
		if g := r.events.ups[0]; g[0].Geometry != nil || g[1].Geometry == nil {
			t.Errorf("geometry at Up: laser %v, position2d %v, expected only the second", g[0].Geometry, g[1].Geometry)
		}
		f.ack(held[0], sonarAt)
		expectEvents(t, r, "up laser:0 position2d:0 sonar:0", "changed sonar:0 geometry true config false")
		time.Sleep(2*time.Second + 2*time.Second) // the first attempt ends at 3 s, a pause of 4 s/2 follows
		synctest.Wait()
		if n := asked.Load(); n != 2 {
			t.Errorf("asked %d times, expected 2", n)
		}
		time.Sleep(4 * time.Second) // 8 s/2
		expectEvents(t, r, "up laser:0 position2d:0 sonar:0", "changed sonar:0 geometry true config false",
			"changed laser:0 geometry true config false")
		time.Sleep(time.Minute)
		synctest.Wait()
		if n := asked.Load(); n != 3 || len(held) != 1 {
			t.Errorf("asked %d and %d times, expected 3 and 1", n, len(held))
		}
		if c := r.Counters(); c.Timeouts != 1 || c.Nacks != 2 {
			t.Errorf("counters %+v, expected 1 timeout and 2 NACKs, one of the laser's probe", c)
		}
	})
}

func TestGeometryFromData(t *testing.T) {
	quiet := func(f *fake) { f.geometry = nil }
	cfg := client.Config{BackoffMin: 10 * time.Second} // asked again after 20 s
	one(t, cfg, []player.Addr{ranger0, sonar0, robot0}, quiet, func(t *testing.T, f *fake, r *running) {
		f.data(ranger0, iface.DataRangerRangestamped, 0, &iface.RangerDataRangestamped{Geom: *rangerAt, Config: *rangerIs})
		f.data(ranger0, iface.DataRangerRangestamped, 1, &iface.RangerDataRangestamped{HaveConfig: 1, Config: *rangerIs})
		f.data(ranger0, iface.DataRangerIntnsstamped, 1, &iface.RangerDataIntnsstamped{HaveGeom: 1, Geom: *rangerAt, HaveConfig: 1, Config: *rangerIs})
		f.data(ranger0, iface.DataRangerRangestamped, 2, &iface.RangerDataRangestamped{HaveGeom: 1, Geom: *rangerAt, HaveConfig: 1, Config: *rangerIs})
		f.data(ranger0, iface.DataRangerGeom, 3, rangerAt)
		moved := *rangerAt
		moved.ElementPoses = []iface.Pose3D{{Px: 0.8}}
		f.data(ranger0, iface.DataRangerGeom, 4, &moved)
		f.data(sonar0, iface.DataSonarGeom, 5, sonarAt)
		f.data(robot0, iface.DataPosition2DGeom, 6, robotAt)
		odd := *rangerIs
		odd.RangeRes = math.NaN() // a field that the driver never sets
		for range 2 {
			f.data(ranger0, iface.DataRangerRangestamped, 7, &iface.RangerDataRangestamped{HaveConfig: 1, Config: odd})
		}
		expectEvents(t, r, "up ranger:0 sonar:0 position2d:0", "DATA 2 of ranger:0 at 0",
			"changed ranger:0 geometry false config true", "DATA 2 of ranger:0 at 1",
			"changed ranger:0 geometry true config true", "DATA 4 of ranger:0 at 1",
			"DATA 2 of ranger:0 at 2", "DATA 5 of ranger:0 at 3",
			"changed ranger:0 geometry true config true", "DATA 5 of ranger:0 at 4",
			"changed sonar:0 geometry true config false", "DATA 2 of sonar:0 at 5",
			"changed position2d:0 geometry true config false", "DATA 2 of position2d:0 at 6",
			"changed ranger:0 geometry true config true", "DATA 2 of ranger:0 at 7", "DATA 2 of ranger:0 at 7")
		time.Sleep(time.Minute)
		synctest.Wait()
		for _, q := range []struct {
			interf  player.Interface
			subtype uint8
		}{{player.InterfaceRanger, iface.ReqRangerGetGeom}, {player.InterfaceRanger, iface.ReqRangerGetConfig},
			{player.InterfaceSonar, 1}, {player.InterfacePosition2D, 1}} {
			if n := f.count(q.interf, player.Request, q.subtype); n != 1 {
				t.Errorf("%s was asked %d times for %d, expected once: it is known from data", q.interf, n, q.subtype)
			}
		}
		if g := r.events.change[2].Geometry; g.Elements[0].X != 0.8 || r.events.change[1].Geometry.Elements[0].X != 0.7 {
			t.Errorf("geometry is %v after %v, expected 0.8 after 0.7", g, r.events.change[1].Geometry)
		}
	})
}

func TestOpenFails(t *testing.T) {
	tries := map[player.Interface]int{}
	prepare := func(f *fake) {
		f.on = func(f *fake, m player.Message) bool {
			if m.Interf != player.InterfacePlayer || m.Subtype != player.PlayerDev {
				return false
			}
			var req iface.DeviceReq
			f.decode(m, &req)
			tries[req.Addr.Interf]++
			if tries[req.Addr.Interf] > 1 {
				return false
			}
			switch req.Addr.Interf {
			case player.InterfaceLaser: // driver's setup failed
				req.Access, req.DriverName = player.AccessError, iface.CString("sick")
				f.ack(m, &req)
			case player.InterfaceSonar: // NACK with body
				req.Access = player.AccessError
				f.nack(m, &req)
			default:
				return false
			}
			return true
		}
	}
	one(t, client.Config{BackoffMin: time.Second}, []player.Addr{laser0, sonar0, robot0}, prepare, func(t *testing.T, f *fake, r *running) {
		f.data(laser0, 1, 1, laserScan(1)) // not open: not delivered
		expectEvents(t, r, "up position2d:0")
		time.Sleep(2 * time.Second)
		expectEvents(t, r, "up position2d:0",
			"changed laser:0 geometry false config false", "changed sonar:0 geometry false config false",
			"changed laser:0 geometry true config false", "changed sonar:0 geometry true config false")
		if c := r.Counters(); c.Stray != 1 || c.Nacks != 1 {
			t.Errorf("counters %+v, expected 1 stray and 1 NACK", c)
		}
	})
}

func TestOpenUnanswered(t *testing.T) {
	var held []player.Message
	prepare := func(f *fake) {
		f.on = func(f *fake, m player.Message) bool {
			if m.Interf == player.InterfacePlayer && m.Subtype == player.PlayerDev {
				held = append(held, m)
				return true
			}
			return false
		}
	}
	one(t, client.Config{}, []player.Addr{laser0}, prepare, func(t *testing.T, f *fake, r *running) {
		time.Sleep(time.Minute)
		synctest.Wait()
		if len(held) != 1 {
			t.Fatalf("%d DEV requests, expected 1", len(held))
		}
		f.data(laser0, 1, 1, laserScan(1)) // its data proves that it is open
		f.ack(held[0], &iface.DeviceReq{Addr: laser0, Access: player.AccessOpen, DriverName: iface.CString("slow")})
		expectEvents(t, r, "up", "changed laser:0 geometry false config false", "DATA 1 of laser:0 at 1",
			"changed laser:0 geometry false config false", "changed laser:0 geometry true config false")
		if d := r.events.change[1].Driver; d != "slow" {
			t.Errorf("driver is %q, expected slow", d)
		}
	})
}

func TestManyDevices(t *testing.T) {
	var devices []player.Addr
	for i := range uint16(300) {
		devices = append(devices, addr(player.InterfaceLaser, i))
	}
	held := make(chan player.Message, len(devices))
	prepare := func(f *fake) {
		for _, d := range devices {
			f.geometry[d] = []any{laserAt}
		}
		f.on = func(f *fake, m player.Message) bool {
			if m.Interf == player.InterfacePlayer && m.Subtype == player.PlayerDev {
				held <- m
				return true
			}
			return false
		}
	}
	one(t, client.Config{}, devices, prepare, func(t *testing.T, f *fake, r *running) {
		if n := len(held); n != 64 {
			t.Errorf("%d devices were asked for at once, expected 64", n)
		}
		for range devices {
			f.answer(<-held)
		}
		synctest.Wait()
		if n := len(r.events.ups[0]); n != 300 || r.events.ups[0][299].Geometry == nil {
			t.Errorf("%d devices are up, expected 300 with geometry", n)
		}
	})
}

func TestAnswersOutOfStep(t *testing.T) {
	prepare := func(f *fake) {
		f.on = func(f *fake, m player.Message) bool {
			if m.Interf == player.InterfacePlayer && m.Subtype == player.PlayerDev {
				f.ack(m, &iface.DeviceReq{Addr: robot0, Access: player.AccessOpen})
				return true
			}
			return false
		}
	}
	one(t, client.Config{}, []player.Addr{laser0}, prepare, func(t *testing.T, f *fake, r *running) {
		if err := r.events.lastDown(); err == nil || !strings.Contains(err.Error(), "out of step: opening laser:0 was answered for position2d:0") {
			t.Errorf("ended with %v", err)
		}
	})
}

func TestDriverInfo(t *testing.T) {
	prepare := func(f *fake) {
		f.on = func(f *fake, m player.Message) bool {
			switch {
			case m.Interf == player.InterfacePlayer && m.Subtype == player.PlayerDev:
				f.ack(m, &iface.DeviceReq{Addr: robot0, Access: player.AccessOpen})
			case m.Interf == player.InterfacePlayer && m.Subtype == player.PlayerDriverinfo:
				var info iface.DeviceDriverinfo
				f.decode(m, &info)
				info.DriverName = "unterminated"
				f.ack(m, &info)
			default:
				return false
			}
			return true
		}
	}
	one(t, client.Config{}, []player.Addr{robot0}, prepare, func(t *testing.T, f *fake, r *running) {
		if len(r.events.ups) != 1 || r.events.ups[0][0].Driver != "unterminated" {
			t.Errorf("up with %+v, expected the driver's name", r.events.ups)
		}
	})
}

func TestFloodBeforeUp(t *testing.T) {
	prepare := func(f *fake) {
		f.on = func(f *fake, m player.Message) bool { return m.Interf == player.InterfaceLaser }
	}
	one(t, client.Config{SetupTimeout: time.Hour}, []player.Addr{laser0}, prepare, func(t *testing.T, f *fake, r *running) {
		big := laserScan(make([]float32, 1<<18)...) // 1 MiB
		want := []string{"up laser:0"}
		for i := range 6 {
			f.data(laser0, 1, float64(i), big)
			want = append(want, fmt.Sprintf("DATA 1 of laser:0 at %d", i))
		}
		expectEvents(t, r, want...)
	})
}
