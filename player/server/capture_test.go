package server_test

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"

	"callboard/player"
	"callboard/player/iface"
	"callboard/player/playertest"
	"callboard/player/server"
)

const captures = "../../testdata/captures"

func loadCaptures(t testing.TB, pattern string, atLeast int) []*playertest.Capture {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(captures, pattern+".s2c.bin"))
	if err != nil || len(files) < atLeast {
		t.Fatalf("%d captures %s in %s, expected at least %d; %v", len(files), pattern, captures, atLeast, err)
	}
	var all []*playertest.Capture
	for _, f := range files {
		c, err := playertest.Load(captures, strings.TrimSuffix(filepath.Base(f), ".s2c.bin"))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, c)
	}
	return all
}

// Everything that was ever thrown at the real server is thrown at ours: the
// server survives, and a client beside it notices nothing.
func TestSurvivesWhatCrashesTheRealServer(t *testing.T) {
	for _, capture := range loadCaptures(t, "i_raw_*", 20) {
		for _, bytewise := range []bool{false, true} {
			if bytewise && len(capture.C2S) > 400 {
				continue
			}
			inBubble(t, nil, func(t *testing.T, r *rig) {
				other := r.client()
				other.open(position)
				c := r.raw()
				step := len(capture.C2S)
				if bytewise {
					step = 1
				}
				for b := capture.C2S; len(b) > 0; b = b[min(step, len(b)):] {
					c.nc.Write(b[:min(step, len(b))]) // fails once the server has given up
				}
				synctest.Wait()
				r.driver.at(1)
				other.expectTimes(1)
				if got := other.request(self, player.PlayerDevlist, nil); got.Type != player.Ack {
					t.Errorf("%s: the other client got %s", capture.Name, got.Header)
				}
				other.quiet()
			})
		}
	}
}

// recorded is a driver with the devices that a capture's server had. It leaves
// all requests unanswered.
func recorded(c *playertest.Capture) *fake {
	f := &fake{answer: func(*server.Call) {}}
	seen := map[player.Addr]bool{}
	add := func(a player.Addr, driver string) {
		a.Host, a.Robot = 0, 0
		if !seen[a] {
			seen[a] = true
			f.infos = append(f.infos, server.DeviceInfo{Interf: a.Interf, Index: a.Index, Driver: driver})
		}
	}
	for _, m := range c.Server {
		if m.Interf != 1 || m.Type != 4 {
			continue
		}
		var req iface.DeviceReq
		var info iface.DeviceDriverinfo
		switch {
		case m.Subtype == player.PlayerDev && iface.Decode(m.Body, &req) == nil:
			add(req.Addr, iface.GoString(req.DriverName))
		case m.Subtype == player.PlayerDriverinfo && iface.Decode(m.Body, &info) == nil:
			add(info.Addr, iface.GoString(info.DriverName))
		}
	}
	return f
}

// The answers of the player interface are those of the real server, byte for
// byte but for times.
func TestAnswersOfThePlayerInterfaceAreTheRealOnes(t *testing.T) {
	compared := 0
	for _, capture := range loadCaptures(t, "*", 50) {
		answered := map[uint8]bool{} // kinds of requests that the real server survived
		for _, m := range capture.Server {
			answered[m.Subtype] = answered[m.Subtype] || m.Interf == 1 && m.Type != 5
		}
		inBubble(t, func(cfg *server.Config) {
			cfg.Drivers = []server.Driver{recorded(capture)}
			cfg.Port = capture.Port
		}, func(t *testing.T, r *rig) {
			c := r.client()
			var want []playertest.Message
			for _, m := range capture.Server {
				if m.Interf == 1 && (m.Type == 4 || m.Type == 6) {
					want = append(want, m)
				}
			}
			for _, m := range capture.Client {
				if m.Interf != 1 || m.Type == 3 && !answered[m.Subtype] {
					continue
				}
				if m.Subtype == player.PlayerDev && len(m.Body) < 28 {
					continue // kinder: the real server says nothing
				}
				c.write(m.Raw)
				if m.Type == 3 && m.Subtype == player.PlayerDevlist && capture.Name != "a_connect_devlist" {
					c.next() // of more devices than this capture shows
					want = dropFirst(want, m.Subtype)
					continue
				}
				got := c.next()
				if len(want) == 0 {
					t.Fatalf("%s: an answer too much: %s", capture.Name, got.Header)
				}
				w := want[0]
				want = want[1:]
				if got.Subtype != w.Subtype || uint8(got.Type) != w.Type || got.Seq != w.Seq || got.Host != w.Host || got.Robot != w.Robot || !bytes.Equal(got.Body, w.Body) {
					t.Fatalf("%s: answer %s %x\nexpected %s %x", capture.Name, got.Header, got.Body, w, w.Body)
				}
				compared++
			}
			if len(want) > 0 {
				t.Errorf("%s: %d answers are missing", capture.Name, len(want))
			}
		})
	}
	if compared < 200 {
		t.Errorf("compared only %d answers", compared)
	}
}

func dropFirst(m []playertest.Message, subtype uint8) []playertest.Message {
	for i := range m {
		if m[i].Subtype == subtype {
			return append(m[:i:i], m[i+1:]...)
		}
	}
	return m
}

// A recorded run that is decoded and published again reaches the client byte
// for byte.
func TestRecordedReadingsArriveAsTheyWere(t *testing.T) {
	capture := playertest.TwoRobots()
	driver := recorded(capture)
	inBubble(t, func(cfg *server.Config) {
		cfg.Drivers = []server.Driver{driver}
		cfg.Port = capture.Port
	}, func(t *testing.T, r *rig) {
		c := r.client()
		for _, d := range driver.infos {
			c.open(player.Addr{Interf: d.Interf, Index: d.Index})
		}
		for _, m := range capture.Data() {
			known, ok := iface.Lookup(player.Interface(m.Interf), player.Data, m.Subtype)
			if !ok {
				t.Fatalf("no message %s", m)
			}
			payload := known.New()
			if err := iface.Decode(m.Body, payload); err != nil {
				t.Fatalf("%s: %v", m, err)
			}
			driver.pub.Publish(player.Addr{Interf: player.Interface(m.Interf), Index: m.Index}, m.Subtype, m.Timestamp, payload)
			expectBytes(t, c.bytes(len(m.Raw)), m.Raw)
		}
	})
}
