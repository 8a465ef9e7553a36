package client_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"callboard/player"
	"callboard/player/client"
	"callboard/player/iface"
)

// relay is a client.Relay that writes into the events what it is told.
type relay struct{ *events }

func (r relay) Listed(all []client.Device) {
	var names []string
	for _, d := range all {
		names = append(names, d.String()+"/"+d.Driver)
	}
	r.add("listed %s", strings.Join(names, " "))
}

func (r relay) Data(h player.Header, body []byte) { r.add("raw %s: %x", h, body) }
func (r relay) Burst()                            { r.add("burst") }
func (r relay) Down()                             { r.add("relay down") }

// odd is a device of an interface that no table knows.
var odd = addr(777, 3)

// relayed runs a client with a relay that opens nothing but the laser by
// itself, against a fake with all devices.
func relayed(t *testing.T, prepare func(*fake), check func(t *testing.T, f func() *fake, r *running)) {
	t.Helper()
	e := newEvents()
	cfg := client.Config{
		Handler: e, Relay: relay{e}, BackoffMin: time.Second, BackoffMax: time.Second,
		Open: func(a player.Addr) bool { return a.Interf == player.InterfaceLaser },
	}
	synctest.Test(t, func(t *testing.T) {
		var now atomic.Pointer[fake]
		cfg.Dial = pipes(func(conn net.Conn) {
			defer conn.Close()
			n := newFake(t, conn, laser0, robot0, odd)
			if prepare != nil {
				prepare(n)
			}
			now.Store(n)
			n.serve()
		})
		r := start(t, cfg)
		synctest.Wait()
		check(t, now.Load, r)
		r.stop(t)
		synctest.Wait()
	})
}

// accesses are the devices that were opened (+) and closed (-), in order.
func (f *fake) accesses() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	var all []string
	for _, m := range f.got {
		var req iface.DeviceReq
		if m.Interf == player.InterfacePlayer && m.Subtype == player.PlayerDev && iface.Decode(m.Body, &req) == nil {
			all = append(all, map[uint8]string{1: "+", 2: "-"}[req.Access]+req.Addr.String())
		}
	}
	return strings.Join(all, " ")
}

func (f *fake) opens(t *testing.T, want string) {
	t.Helper()
	synctest.Wait()
	if got := f.accesses(); got != want {
		t.Errorf("opened and closed %q, expected %q", got, want)
	}
}

func TestRelayGetsAllAsItCame(t *testing.T) {
	relayed(t, nil, func(t *testing.T, f func() *fake, r *running) {
		expectEvents(t, r, "listed laser:0/fake position2d:0/ 777:3/", "up laser:0")
		if err := r.Open(context.Background(), odd); err != nil {
			t.Fatal(err)
		}
		f().data(laser0, 1, 1, laserScan(1))
		f().data(odd, 9, 2, &iface.Raw{Body: []byte{1, 2, 3, 4}})
		f().data(robot0, 1, 3, &iface.Position2DData{}) // is not open
		synctest.Wait()
		all := r.events.all()
		all = slices.DeleteFunc(all[2:], func(s string) bool { return s == "burst" || strings.HasPrefix(s, "listed") || s == "round" })
		scan, _ := iface.Append(nil, laserScan(1))
		want := []string{fmt.Sprintf("raw DATA 1 of laser:0: %x", scan), "DATA 1 of laser:0 at 1", "raw DATA 9 of 777:3: 01020304"}
		if !slices.Equal(all, want) {
			t.Errorf("got %q\nexpected %q", all, want)
		}
	})
}

func TestOpenOnDemand(t *testing.T) {
	relayed(t, nil, func(t *testing.T, f func() *fake, r *running) {
		ctx := context.Background()
		f().opens(t, "+laser:0")
		for range 2 {
			if err := r.Open(ctx, robot0); err != nil {
				t.Fatal(err)
			}
		}
		if err := r.Open(ctx, laser0); err != nil { // open already
			t.Fatal(err)
		}
		f().opens(t, "+laser:0 +position2d:0")
		r.Close(robot0)
		r.Close(laser0) // the session's own stays
		f().opens(t, "+laser:0 +position2d:0")
		r.Close(robot0)
		r.Close(robot0) // once too often
		f().opens(t, "+laser:0 +position2d:0 -position2d:0")
		if err := r.Open(ctx, robot0); err != nil {
			t.Fatal(err)
		}
		f().opens(t, "+laser:0 +position2d:0 -position2d:0 +position2d:0")
		if err := r.Open(ctx, sonar0); err == nil || !strings.Contains(err.Error(), "no such device") {
			t.Errorf("a device that is not there: %v", err)
		}

		// A new session opens what is wanted by then.
		first := f()
		first.conn.Close()
		time.Sleep(2 * time.Second)
		if f() == first {
			t.Fatal("no new session")
		}
		f().opens(t, "+laser:0 +position2d:0")
	})
}

func TestOpenWithoutSession(t *testing.T) {
	relayed(t, nil, func(t *testing.T, f func() *fake, r *running) {
		f().conn.Close()
		synctest.Wait()
		if err := r.Open(context.Background(), robot0); !errors.Is(err, client.ErrAway) {
			t.Errorf("Open: %v", err)
		}
		if err := r.Pass(player.Header{Addr: robot0, Type: player.Request, Subtype: 1}, nil, nil); !errors.Is(err, client.ErrAway) {
			t.Errorf("Pass: %v", err)
		}
		time.Sleep(2 * time.Second)
		f().opens(t, "+laser:0") // nobody waits for position2d
	})
}

// What is refused is refused to who asked, and not tried again; who does not
// wait long enough leaves nothing open.
func TestOpenRefusedOrLate(t *testing.T) {
	var held []player.Message
	prepare := func(f *fake) {
		f.on = func(f *fake, m player.Message) bool {
			var req iface.DeviceReq
			if m.Interf != player.InterfacePlayer || m.Subtype != player.PlayerDev || iface.Decode(m.Body, &req) != nil || req.Access != player.AccessOpen {
				return false
			}
			switch id := (player.Addr{Interf: req.Addr.Interf, Index: req.Addr.Index}); id {
			case player.Addr{Interf: odd.Interf, Index: odd.Index}:
				req.Access = player.AccessError
				f.ack(m, &req)
				return true
			case player.Addr{Interf: player.InterfacePosition2D}:
				held = append(held, m)
				return true
			}
			return false
		}
	}
	relayed(t, prepare, func(t *testing.T, f func() *fake, r *running) {
		if err := r.Open(context.Background(), odd); err == nil || !strings.Contains(err.Error(), "could not open it") {
			t.Errorf("Open: %v", err)
		}
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		if err := r.Open(ctx, robot0); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Open: %v", err)
		}
		time.Sleep(time.Hour)
		f().opens(t, "+laser:0 +777:3 +position2d:0")
		f().ack(held[0], &iface.DeviceReq{Addr: robot0, Access: player.AccessOpen, DriverName: "late\x00"})
		f().opens(t, "+laser:0 +777:3 +position2d:0 -position2d:0")
	})
}

// The answer to a session that ends while somebody waits is that it has.
func TestSessionEndsWhileOpening(t *testing.T) {
	prepare := func(f *fake) {
		f.on = func(f *fake, m player.Message) bool {
			var req iface.DeviceReq
			if m.Interf == player.InterfacePlayer && m.Subtype == player.PlayerDev && iface.Decode(m.Body, &req) == nil && req.Addr.Interf == player.InterfacePosition2D {
				f.conn.Close()
				return true
			}
			return m.Type == player.Request && m.Interf == odd.Interf // never answered
		}
	}
	relayed(t, prepare, func(t *testing.T, f func() *fake, r *running) {
		var passed error
		if err := r.Pass(player.Header{Addr: odd, Type: player.Request, Subtype: 1}, nil, func(_ player.Header, _ []byte, err error) { passed = err }); err != nil {
			t.Fatal(err)
		}
		if err := r.Open(context.Background(), robot0); !errors.Is(err, client.ErrAway) {
			t.Errorf("Open: %v", err)
		}
		synctest.Wait()
		if !errors.Is(passed, client.ErrAway) {
			t.Errorf("Pass: %v", passed)
		}
	})
}

func TestPass(t *testing.T) {
	prepare := func(f *fake) {
		f.on = func(f *fake, m player.Message) bool {
			switch {
			case m.Interf == odd.Interf && m.Subtype == 8 && m.Type == player.Request:
				f.ack(m, &iface.Raw{Body: append(m.Body, m.Body...)})
			case m.Interf == odd.Interf:
			default:
				return false
			}
			return true
		}
	}
	relayed(t, prepare, func(t *testing.T, f func() *fake, r *running) {
		var mu sync.Mutex
		var got []string
		pass := func(a player.Addr, typ player.Type, subtype uint8, body ...byte) {
			t.Helper()
			h := player.Header{Addr: a, Type: typ, Subtype: subtype, Timestamp: 12, Seq: 34}
			err := r.Pass(h, body, func(h player.Header, body []byte, err error) {
				mu.Lock()
				defer mu.Unlock()
				got = append(got, fmt.Sprintf("%s at %v seq %d: %x %v", h.Type, h.Timestamp, h.Seq, body, err))
			})
			if err != nil {
				t.Error(err)
			}
		}
		pass(odd, player.Request, 8, 1, 2, 3, 4)
		pass(odd, player.Request, 9)
		pass(odd, player.Command, 7, 5, 6, 7, 8)
		pass(robot0, player.Request, 77)
		time.Sleep(7 * time.Second)
		synctest.Wait()
		want := []string{"ACK at 12 seq 34: 0102030401020304 <nil>", "NACK at 12 seq 34:  <nil>", fmt.Sprintf("type 0 at 0 seq 0:  %v", client.ErrTimeout)}
		mu.Lock()
		defer mu.Unlock()
		if !slices.Equal(got, want) {
			t.Errorf("answers %q\nexpected %q", got, want)
		}
		all := f().received()
		last := all[slices.IndexFunc(all, func(m player.Message) bool { return m.Type == player.Command })]
		if last.Host != 0 || last.Robot != 0 || last.Seq != 34 || last.Timestamp != 12 || !slices.Equal(last.Body, []byte{5, 6, 7, 8}) {
			t.Errorf("the command was sent as %+v", last)
		}
	})
}

// What crashes or spoils a real server is not passed to it; to one of ours it
// is.
func TestPassForbids(t *testing.T) {
	prop := func(name string) []byte {
		b, _ := iface.Append(nil, &iface.SimulationPropertyReq{Name: "r0\x00", Prop: name + "\x00"})
		return b
	}
	for _, test := range []struct {
		interf  player.Interface
		typ     player.Type
		subtype uint8
		body    []byte
		ok      bool
	}{
		{player.InterfacePlayer, player.Request, player.PlayerDev, make([]byte, 28), false},
		{player.InterfacePlayer, player.Command, 1, nil, false},
		{player.InterfaceLaser, player.Data, 1, nil, false},
		{player.InterfaceLaser, player.Request, iface.ReqCapabilities, make([]byte, 8), false},
		{player.InterfaceLaser, player.Request, iface.ReqGetIntprop, nil, false},
		{player.InterfaceLaser, player.Request, iface.ReqLaserSetConfig, nil, false},
		{player.InterfaceLaser, player.Request, iface.ReqLaserGetConfig, nil, true},
		{player.InterfaceLimb, player.Request, iface.ReqLimbGeom, nil, true},
		{player.InterfacePosition3D, player.Request, iface.ReqPosition3DResetOdom, nil, true},
		{player.InterfaceAudio, player.Request, 1, nil, true},
		{player.InterfaceMap, player.Request, iface.ReqMapGetData, nil, false},
		{player.InterfaceSimulation, player.Request, iface.ReqSimulationGetPose2D, nil, false},
		{player.InterfaceSimulation, player.Request, iface.ReqSimulationGetProperty, prop("time"), false},
		{player.InterfaceSimulation, player.Request, iface.ReqSimulationGetProperty, prop("color"), true},
		{odd.Interf, player.Request, 200, nil, true},
	} {
		relayed(t, nil, func(t *testing.T, f func() *fake, r *running) {
			h := player.Header{Addr: addr(test.interf, 0), Type: test.typ, Subtype: test.subtype}
			err := r.Pass(h, test.body, func(player.Header, []byte, error) {})
			if ok := err == nil; ok != test.ok || !ok && !errors.Is(err, client.ErrForbidden) {
				t.Errorf("%s with %d bytes: %v, expected that it may be passed: %t", h, len(test.body), err, test.ok)
			}
			synctest.Wait()
		})
	}
}

// A program that changes a device's configuration through the relay changes
// what the session knows of it.
func TestPassedAnswersAreLearned(t *testing.T) {
	relayed(t, nil, func(t *testing.T, f func() *fake, r *running) {
		f().geometry[laser0] = []any{&iface.LaserGeom{Pose: iface.Pose3D{Px: 9}}}
		err := r.Pass(player.Header{Addr: laser0, Type: player.Request, Subtype: iface.ReqLaserGetGeom}, nil, func(player.Header, []byte, error) {})
		if err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if d := r.events.change; len(d) == 0 || d[len(d)-1].Geometry.Pose.X != 9 {
			t.Errorf("changed: %+v", d)
		}
	})
}

// In real Stage a device that is closed may silence others: they are opened
// again, and only they.
func TestSilencedDevicesAreOpenedAgain(t *testing.T) {
	for _, silenced := range []bool{true, false} {
		relayed(t, nil, func(t *testing.T, f func() *fake, r *running) {
			flow := func(n int) {
				for range n {
					f().data(laser0, 1, 1, laserScan(1))
					time.Sleep(100 * time.Millisecond)
				}
			}
			if err := r.Open(context.Background(), robot0); err != nil {
				t.Fatal(err)
			}
			if err := r.Open(context.Background(), odd); err != nil { // is never lively
				t.Fatal(err)
			}
			flow(10)
			r.Close(robot0)
			if !silenced {
				flow(25)
			}
			flow(3) // on their way
			time.Sleep(3 * time.Second)
			want := "+laser:0 +position2d:0 +777:3 -position2d:0"
			if silenced {
				want += " -laser:0 +laser:0"
			}
			f().opens(t, want)
			before := len(r.events.all())
			flow(1)
			synctest.Wait()
			if after := r.events.all(); len(after) < before+2 {
				t.Errorf("readings do not arrive any more: %q", after[before:])
			}
			time.Sleep(10 * time.Second)
			f().opens(t, want)
		})
	}
}

// What a device does not tell is asked again and again, but at no other pace
// for having been opened often.
func TestOpeningOftenAsksNoMore(t *testing.T) {
	prepare := func(f *fake) {
		f.on = func(f *fake, m player.Message) bool {
			if m.Interf != player.InterfacePlayer || m.Subtype != player.PlayerDev {
				return false
			}
			var req iface.DeviceReq
			f.decode(m, &req)
			f.ack(m, &req) // and no driver's name
			return true
		}
	}
	relayed(t, prepare, func(t *testing.T, f func() *fake, r *running) {
		asked := func() int { return f().count(player.InterfacePlayer, player.Request, player.PlayerDriverinfo) }
		perMinute := func() int {
			time.Sleep(time.Minute)
			before := asked()
			time.Sleep(time.Minute)
			return asked() - before
		}
		want := perMinute()
		for range 100 {
			if err := r.Open(context.Background(), robot0); err != nil {
				t.Fatal(err)
			}
			r.Close(robot0)
			synctest.Wait()
		}
		if got := perMinute(); got > want+want/4 { // pauses have jitter
			t.Errorf("drivers were asked for %d times a minute after devices had been opened 100 times, %d times before", got, want)
		}
	})
}
