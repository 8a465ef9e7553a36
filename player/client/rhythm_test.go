package client_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"callboard/player"
	"callboard/player/client"
	"callboard/player/iface"
)

// beats are a robot's devices: each tells when it sends next, and at which time
// of its own; 0: never again.
type beats map[player.Addr]func(last time.Duration) (next time.Duration, stamp float64)

// steadily sends every period, at its own time, until end.
func steadily(period, end time.Duration) func(time.Duration) (time.Duration, float64) {
	return func(last time.Duration) (time.Duration, float64) {
		if next := last + period; next < end {
			return next, next.Seconds()
		}
		return 0, 0
	}
}

// listening runs a client against a server whose devices beat for a while. It
// returns what was told of silences, with the time in s.
type listening struct {
	t    *testing.T
	told []string
	fake *fake
}

// listenTo prepares what the server does when a device is opened; n counts.
func listenTo(t *testing.T, cfg client.Config, beating beats, lasts time.Duration, opened func(l *listening, a player.Addr, n int)) *listening {
	t.Helper()
	l := &listening{t: t}
	var devices []player.Addr
	for a := range beating {
		devices = append(devices, a)
	}
	slices.SortFunc(devices, func(a, b player.Addr) int { return strings.Compare(a.String(), b.String()) })
	var began time.Time
	cfg.Silent = func(a player.Addr, silent bool) {
		l.told = append(l.told, fmt.Sprintf("%s %t %.0f", a, silent, time.Since(began).Seconds()))
	}
	counts := map[player.Addr]int{}
	prepare := func(f *fake) {
		l.fake = f
		f.on = func(f *fake, m player.Message) bool {
			var req iface.DeviceReq
			if m.Interf != player.InterfacePlayer || m.Subtype != player.PlayerDev || iface.Decode(m.Body, &req) != nil || req.Access != player.AccessOpen {
				return false
			}
			counts[req.Addr]++
			f.answer(m)
			if opened != nil {
				opened(l, req.Addr, counts[req.Addr])
			}
			return true
		}
	}
	one(t, cfg, devices, prepare, func(t *testing.T, f *fake, r *running) {
		began = time.Now()
		last := map[player.Addr]time.Duration{}
		for {
			var first player.Addr
			var at time.Duration
			var stamp float64
			for _, a := range devices {
				if next, s := beating[a](last[a]); next > 0 && next < lasts && (at == 0 || next < at) {
					first, at, stamp = a, next, s
				}
			}
			if at == 0 {
				break
			}
			time.Sleep(at - time.Since(began))
			l.send(first, stamp)
			last[first] = at
			if cfg.Mode == player.Pull {
				f.synch()
			}
		}
		time.Sleep(lasts - time.Since(began))
		if l.told != nil && r.Counters().Silences == 0 {
			t.Error("silences are not counted")
		}
	})
	return l
}

func (l *listening) send(a player.Addr, stamp float64) {
	switch a.Interf {
	case player.InterfaceLaser:
		l.fake.data(a, iface.DataLaserScan, stamp, laserScan(1))
	case player.InterfacePosition2D:
		l.fake.data(a, iface.DataPosition2DState, stamp, &iface.Position2DData{})
	default:
		l.fake.data(a, iface.DataSonarRanges, stamp, &iface.SonarData{Ranges: []float32{1}})
	}
}

func (l *listening) expect(want ...string) {
	l.t.Helper()
	if !slices.Equal(l.told, want) {
		l.t.Errorf("told %q, expected %q", l.told, want)
	}
}

// A device that falls silent while another of its robot goes on is opened again,
// and told, whatever the data mode.
func TestOneDeviceFallsSilent(t *testing.T) {
	for _, mode := range []uint8{player.Push, player.Pull} {
		l := listenTo(t, client.Config{Mode: mode}, beats{
			laser0: steadily(time.Second/10, 20*time.Second), robot0: steadily(time.Second/10, time.Minute),
		}, time.Minute, func(l *listening, a player.Addr, n int) {
			if a == laser0 && n == 2 {
				l.send(laser0, 23) // it is awake
			}
		})
		// It is awake for one scan only, which is no rhythm.
		l.expect("laser:0 true 22", "laser:0 false 22")
		if got := l.fake.accesses(); got != "+laser:0 +position2d:0 -laser:0 +laser:0" {
			t.Errorf("opened and closed %q", got)
		}
	}
}

// A slow device has ten of its periods.
func TestASlowDeviceFallsSilent(t *testing.T) {
	l := listenTo(t, client.Config{}, beats{
		laser0: steadily(2*time.Second, 100*time.Second), robot0: steadily(time.Second, 10*time.Minute),
	}, 3*time.Minute, nil)
	l.expect("laser:0 true 118")
}

// One that does not wake is opened again with growing pauses.
func TestADeviceStaysSilent(t *testing.T) {
	l := listenTo(t, client.Config{}, beats{
		laser0: steadily(time.Second/10, 20*time.Second), robot0: steadily(time.Second/10, time.Hour),
	}, time.Hour, nil)
	l.expect("laser:0 true 22")
	if n := strings.Count(l.fake.accesses(), "+laser:0"); n < 60 || n > 70 {
		t.Errorf("it was opened %d times in an hour, expected once a minute in the end", n)
	}
}

// What is no single device that has fallen silent is not told.
func TestNoDeviceFallsSilent(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	later := func(mean time.Duration) func(time.Duration) (time.Duration, float64) {
		var next time.Duration
		return func(last time.Duration) (time.Duration, float64) {
			if next <= last {
				next = last + time.Duration(rng.ExpFloat64()*float64(mean)) + time.Millisecond
			}
			return next, next.Seconds()
		}
	}
	slower := func(period, from time.Duration, times int) func(time.Duration) (time.Duration, float64) {
		return func(last time.Duration) (time.Duration, float64) {
			p := period
			if last >= from {
				p *= time.Duration(times)
			}
			next := last + p
			stamp := next
			if next > from {
				stamp = from + (next-from)/time.Duration(times)
			}
			return next, stamp.Seconds()
		}
	}
	for _, test := range []struct {
		name    string
		beating beats
	}{
		{"the robot stops", beats{laser0: steadily(time.Second/10, 20*time.Second), robot0: steadily(time.Second/10, 20*time.Second)}},
		{"it sends when something happens", beats{laser0: later(time.Second / 2), robot0: steadily(time.Second/10, time.Hour)}},
		{"often", beats{laser0: later(20 * time.Second), robot0: steadily(time.Second/10, time.Hour)}},
		{"the simulation slows down", beats{laser0: slower(time.Second, 50*time.Second, 50), robot0: slower(time.Second/100, 50*time.Second, 50)}},
		{"it never sends", beats{laser0: steadily(time.Second, 0), robot0: steadily(time.Second/10, time.Hour)}},
		{"it has sent a little", beats{laser0: steadily(time.Second/10, time.Second), robot0: steadily(time.Second/10, time.Hour)}},
	} {
		t.Run(test.name, func(t *testing.T) {
			listenTo(t, client.Config{}, test.beating, 10*time.Minute, nil).expect()
		})
	}
}

// A device that sends in bursts learns how long it can be silent.
func TestBurstsAreNotToldForLong(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	sent := 0
	burst := func(last time.Duration) (time.Duration, float64) {
		next := last + time.Second/50
		if sent++; sent%40 == 0 {
			next += time.Duration(10+rng.IntN(50)) * time.Second
		}
		return next, next.Seconds()
	}
	var next, was time.Duration
	var stamp float64
	l := listenTo(t, client.Config{}, beats{
		laser0: func(last time.Duration) (time.Duration, float64) {
			if next == 0 || last != was {
				was = last
				next, stamp = burst(last)
			}
			return next, stamp
		},
		robot0: steadily(time.Second/2, 3*time.Hour),
	}, 2*time.Hour, nil)
	if len(l.told) > 8 {
		t.Errorf("told %d times: %q", len(l.told), l.told)
	}
}

// Robots fall silent by themselves; one with a single device is compared with
// the others.
func TestGroupsFallSilent(t *testing.T) {
	const end = 20 * time.Second
	second := addr(player.InterfacePosition2D, 1)
	third := addr(player.InterfacePosition2D, 2)
	cfg := client.Config{Group: func(a player.Addr) string {
		switch {
		case a.Interf == player.InterfacePosition2D && a.Index > 0:
			return fmt.Sprint(a.Index)
		}
		return "0"
	}}
	l := listenTo(t, cfg, beats{
		laser0: steadily(time.Second/10, end), robot0: steadily(time.Second/10, end), // a robot that has stopped
		second: steadily(time.Second/10, end), // the only device of its robot
		third:  steadily(time.Second/10, time.Minute),
	}, time.Minute, nil)
	l.expect("position2d:1 true 22")
}
