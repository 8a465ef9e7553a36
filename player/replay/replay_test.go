package replay_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"callboard/player"
	"callboard/player/client"
	"callboard/player/iface"
	"callboard/player/replay"
	"callboard/player/run"
)

func TestReplayKeepsTheSpacing(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := start(t, replay.Config{Sources: []replay.Source{source(t, "a.log", logText(t, at{6665, 10}, at{6665, 10.5}, at{6665, 10.6}, at{6665, 13}))}, Speed: 1})
		passes(time.Hour) // it begins when a device is opened
		r := g.read(0, nil)
		passes(10 * time.Second)
		r.expect(10, 10.5, 10.6, 13)
		r.spaced(0, 0.5, 0.6, 3)
		if first := r.all()[0].at; first > 150*time.Millisecond {
			t.Errorf("it began after %v, expected a tenth of a second", first)
		}
		if len(r.devices) != 1 || r.devices[0].Geometry == nil || r.devices[0].Geometry.Size.L != 6665 {
			t.Errorf("the devices are %+v, expected position2d:0 with its geometry", r.devices)
		}
		if p := g.replay.Progress(); !p.Ended || p.At != 3*time.Second || p.Length != 3*time.Second || p.Messages != 4 {
			t.Errorf("progress is %+v", p)
		}
	})
}

func TestReplaySpeed(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := start(t, replay.Config{Sources: []replay.Source{source(t, "a.log", logText(t, every(6665, 0, 1, 5)...))}, Speed: 4})
		r := g.read(0, nil)
		passes(5 * time.Second)
		r.spaced(0, 0.25, 0.5, 0.75, 1)
	})
}

// Where time runs back, or is far ahead, the replay goes on at once, and the
// spacing from there on is the recording's.
func TestReplayOfOddTimes(t *testing.T) {
	for name, c := range map[string]struct {
		times  []float64
		spaced []float64
		told   string
	}{
		"runs back":         {[]float64{100, 101, 40, 41, 43}, []float64{0, 1, 1, 2, 4}, ""},
		"a little disorder": {[]float64{100, 100.2, 100.1, 100.3}, []float64{0, 0.2, 0.2, 0.3}, ""},
		"a gap":             {[]float64{0, 1, 601, 602}, []float64{0, 1, 601, 602}, ""},
		"the clock is set":  {[]float64{5, 6, 1795985319, 1795985320}, []float64{0, 1, 1, 2}, "the replay goes on at once"},
		"and set back":      {[]float64{1795985319, 1795985320, 6, 8}, []float64{0, 1, 1, 3}, ""},
		"negative":          {[]float64{-2, -1, 0, 1}, []float64{0, 1, 2, 3}, ""},
		"all at once":       {[]float64{7, 7, 7}, []float64{0, 0, 0}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				var messages []at
				for _, time := range c.times {
					messages = append(messages, at{6665, time})
				}
				g := start(t, replay.Config{Sources: []replay.Source{source(t, "a.log", logText(t, messages...))}, Speed: 1})
				r := g.read(0, nil)
				passes(15 * time.Minute)
				r.expect(c.times...)
				r.spaced(c.spaced...)
				if log := g.log.String(); c.told == "" && log != "" && !strings.Contains(log, "level=INFO") || !strings.Contains(log, c.told) {
					t.Errorf("told %q, expected %q", log, c.told)
				}
			})
		})
	}
}

// Robots whose clocks differ keep the spacing of each.
func TestReplayOfSeveralClocks(t *testing.T) {
	bubble(t, func(t *testing.T) {
		const unix = 1795985319
		var messages []at
		for i := range 5 {
			messages = append(messages, at{6665, float64(i)}, at{6666, unix + float64(i)})
		}
		g := start(t, replay.Config{Sources: []replay.Source{source(t, "a.log", logText(t, messages...))}, Speed: 1})
		a, b := g.read(0, nil), g.read(1, nil)
		passes(10 * time.Second)
		a.spaced(0, 1, 2, 3, 4)
		b.spaced(0, 1, 2, 3, 4)
	})
}

// Two robots lose nothing if they are opened one soon after the other, and
// what is lost otherwise is told.
func TestReplayWaitsForAllServers(t *testing.T) {
	messages := append(every(6665, 0, 0.01, 300), every(6666, 0.005, 0.01, 300)...)
	bubble(t, func(t *testing.T) {
		g := start(t, replay.Config{Sources: []replay.Source{source(t, "a.log", logText(t, messages...))}})
		a := g.read(0, nil)
		passes(500 * time.Millisecond)
		b := g.read(1, nil)
		passes(time.Second)
		if len(a.all()) != 300 || len(b.all()) != 300 || strings.Contains(g.log.String(), "missed") {
			t.Errorf("got %d and %d messages, expected 300 each", len(a.all()), len(b.all()))
		}
	})
	bubble(t, func(t *testing.T) {
		g := start(t, replay.Config{Sources: []replay.Source{source(t, "a.log", logText(t, every(6665, 0, 1, 10)...)), source(t, "b.log", logText(t, every(6666, 0, 1, 10)...))}, Speed: 1})
		a := g.read(0, nil)
		passes(5500 * time.Millisecond)
		b := g.read(1, nil)
		passes(10 * time.Second)
		if len(a.all()) != 10 || len(b.all()) != 5 || !strings.Contains(g.log.String(), "missed=5") {
			t.Errorf("got %d and %d messages, expected 10 and 5; told %q", len(a.all()), len(b.all()), g.log)
		}
	})
}

// As fast as possible loses nothing to a client that is slow.
func TestReplayAtMaxSpeedLosesNothing(t *testing.T) {
	bubble(t, func(t *testing.T) {
		const n = 6000
		g := start(t, replay.Config{Sources: []replay.Source{source(t, "a.log", logText(t, every(6665, 0, 0.1, n)...))}})
		hold := make(chan struct{})
		fast, slow := g.read(0, nil), g.readHeld(0, nil, hold)
		passes(20 * time.Second)
		if got := len(fast.all()); got >= n {
			t.Errorf("the fast client got all %d messages while the slow one took none", got)
		}
		if !strings.Contains(g.log.String(), "the replay waits for clients that do not read") {
			t.Errorf("told %q, expected that clients are waited for", g.log)
		}
		close(hold)
		passes(time.Minute)
		for _, r := range []*reader{fast, slow} {
			times := r.times()
			if len(times) != n {
				t.Fatalf("got %d messages, expected %d", len(times), n)
			}
		}
		for _, s := range g.ports {
			if lost := s.Stats().QueueFull; lost > 0 {
				t.Errorf("%d messages were dropped", lost)
			}
		}
	})
}

func TestReplayFromPastTheEnd(t *testing.T) {
	text := logText(t, every(6665, 100, 1, 10)...)
	for _, from := range []replay.Point{{Set: true, Seconds: 100}, {Set: true, Absolute: true, Seconds: 109.5}} {
		_, err := replay.New(replay.Config{Sources: []replay.Source{source(t, "a.log", text)}, From: from})
		if err == nil || !strings.Contains(err.Error(), "past the end of the run, which takes 9.000 s") {
			t.Errorf("%+v: %v", from, err)
		}
	}
}

func TestReplayFromToLoop(t *testing.T) {
	text := logText(t, every(6665, 100, 1, 10)...)
	sec := func(s float64) replay.Point { return replay.Point{Set: true, Seconds: s} }
	clock := func(s float64) replay.Point { return replay.Point{Set: true, Absolute: true, Seconds: s} }
	for name, c := range map[string]struct {
		from, to replay.Point
		want     []float64
	}{
		"from":    {from: sec(7), want: []float64{107, 108, 109}},
		"to":      {to: sec(2), want: []float64{100, 101, 102}},
		"both":    {from: sec(3.5), to: sec(5), want: []float64{104, 105}},
		"clock":   {from: clock(103), to: clock(104.5), want: []float64{103, 104}},
		"nothing": {from: sec(3.2), to: sec(3.8)},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				g := start(t, replay.Config{Sources: []replay.Source{source(t, "a.log", text)}, Speed: 1, From: c.from, To: c.to})
				r := g.read(0, nil)
				passes(500 * time.Millisecond)
				if got := r.times(); len(c.want) > 0 && (len(got) != 1 || got[0] != c.want[0]) {
					t.Errorf("at first came %v, expected %v at once", got, c.want[0])
				}
				passes(20 * time.Second)
				r.expect(c.want...)
				if r.devices[0].Geometry == nil {
					t.Error("the geometry is not known")
				}
			})
		})
	}
	bubble(t, func(t *testing.T) {
		g := start(t, replay.Config{Sources: []replay.Source{source(t, "a.log", text)}, Speed: 1, From: sec(8), Loop: true})
		r := g.read(0, nil)
		passes(3500 * time.Millisecond)
		r.expect(108, 109, 108, 109, 108, 109, 108)
	})
}

// What the device log:0 does, as in captures of the real reader: the state, to
// stop, to play, to rewind; after the end the state is 0, and rewind and play
// begin anew. What is for a writer is refused.
func TestLogDevice(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := start(t, replay.Config{Sources: []replay.Source{source(t, "a.log", logText(t, every(6665, 0, 1, 4)...))}, Speed: 1})
		r := g.read(0, func(a player.Addr) bool { return true })
		if r.state() != 1 {
			t.Error("at first the state is 0")
		}
		passes(1500 * time.Millisecond)
		r.play(0)
		passes(time.Hour)
		if r.state() != 0 {
			t.Error("stopped, the state is 1")
		}
		r.expect(0, 1)
		r.play(1)
		passes(400 * time.Millisecond)
		r.expect(0, 1)
		passes(200 * time.Millisecond)
		r.expect(0, 1, 2)
		r.rewind()
		passes(1100 * time.Millisecond)
		r.expect(0, 1, 2, 0, 1)
		r.play(0)
		r.rewind()
		passes(time.Hour)
		r.expect(0, 1, 2, 0, 1)
		r.play(1)
		passes(10 * time.Second)
		r.expect(0, 1, 2, 0, 1, 0, 1, 2, 3)
		if r.state() != 0 {
			t.Error("at the end the state is 1")
		}
		r.play(1)
		passes(time.Hour)
		r.expect(0, 1, 2, 0, 1, 0, 1, 2, 3)
		r.rewind()
		passes(500 * time.Millisecond)
		r.expect(0, 1, 2, 0, 1, 0, 1, 2, 3, 0)

		var nack *client.NackError
		for _, refused := range []struct {
			subtype uint8
			req     any
		}{
			{iface.ReqLogSetWriteState, &iface.LogSetWriteState{State: 1}},
			{iface.ReqLogSetFilename, &iface.LogSetFilename{Filename: iface.CString("x.log")}},
			{iface.ReqLogSetReadState, nil},
			{iface.ReqGetDblprop, &iface.DblpropReq{Key: iface.CString("gain")}},
			{iface.ReqSetDblprop, &iface.DblpropReq{Key: iface.CString(replay.SpeedProperty), Value: -1}},
		} {
			if err := r.request(logDev, refused.subtype, refused.req, nil); !errors.As(err, &nack) {
				t.Errorf("request %d was answered with %v, expected a NACK", refused.subtype, err)
			}
		}
	})
}

// A place that is sought shows how things stood there, also while it is paused; from
// there it goes on at its pace, also after the end.
func TestSeek(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := start(t, replay.Config{Sources: []replay.Source{source(t, "a.log", logText(t, every(6665, 100, 0.25, 41)...))}, Speed: 1})
		r := g.read(0, nil)
		passes(400 * time.Millisecond)
		r.expect(100, 100.25)
		g.replay.Play(false)
		g.replay.Seek(5 * time.Second)
		passes(time.Hour)
		r.expect(100, 100.25, 104.5, 104.75)
		if at := g.replay.Progress(); at.At != 5*time.Second || at.Playing || at.Ended {
			t.Errorf("paused at the place that was sought it is %+v", at)
		}
		g.replay.Play(true)
		passes(300 * time.Millisecond)
		r.expect(100, 100.25, 104.5, 104.75, 105, 105.25)
		g.replay.Seek(time.Second)
		passes(300 * time.Millisecond)
		r.expect(100, 100.25, 104.5, 104.75, 105, 105.25, 100.5, 100.75, 101, 101.25)
		g.replay.Seek(0)
		passes(100 * time.Millisecond)
		r.expect(100, 100.25, 104.5, 104.75, 105, 105.25, 100.5, 100.75, 101, 101.25, 100)
		g.replay.Seek(time.Hour) // the end
		passes(time.Hour)
		r.expect(100, 100.25, 104.5, 104.75, 105, 105.25, 100.5, 100.75, 101, 101.25, 100, 109.5, 109.75, 110)
		if at := g.replay.Progress(); at.At != 10*time.Second || !at.Ended {
			t.Errorf("at the end it is %+v", at)
		}
		g.replay.Seek(9 * time.Second)
		g.replay.Play(true)
		if err := g.replay.SetSpeed(10); err != nil {
			t.Fatal(err)
		}
		passes(80 * time.Millisecond)
		all := r.times()
		if got, want := fmt.Sprint(all[14:]), fmt.Sprint([]float64{108.5, 108.75, 109, 109.25, 109.5, 109.75}); got != want {
			t.Errorf("ten times as fast, 80 ms after 9 s, %v have come, expected %v", got, want)
		}
		if err := g.replay.SetSpeed(-1); err == nil {
			t.Error("a speed of -1 was taken")
		}
	})
}

func TestLogProperties(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := start(t, replay.Config{Sources: []replay.Source{source(t, "a.log", logText(t, every(6665, 0, 10, 4)...))}, Speed: 1})
		r := g.read(0, nil)
		passes(6 * time.Second)
		speed := &iface.DblpropReq{Key: iface.CString(replay.SpeedProperty)}
		r.must(logDev, iface.ReqGetDblprop, speed, speed)
		if speed.Value != 1 {
			t.Errorf("the speed is %v, expected 1", speed.Value)
		}
		speed.Value = 20
		r.must(logDev, iface.ReqSetDblprop, speed, nil)
		passes(time.Second)
		if n := len(r.all()); n != 3 {
			t.Errorf("%d messages have come, expected 3: the second 0.2 s later, the third 0.5 s after it", n)
		}
		speed.Value = 0
		r.must(logDev, iface.ReqSetDblprop, speed, nil)
		passes(time.Millisecond)
		r.expect(0, 10, 20, 30)
		name := &iface.StrpropReq{Key: iface.CString(replay.FilenameProperty)}
		r.must(logDev, iface.ReqGetStrprop, name, name)
		if got := iface.GoString(name.Value); got != "a.log" {
			t.Errorf("the file name is %q", got)
		}
	})
}

// When all devices are closed and one is opened again, it begins anew.
func TestReplayBeginsAnew(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := start(t, replay.Config{Sources: []replay.Source{source(t, "a.log", logText(t, every(6665, 0, 1, 4)...))}, Speed: 1})
		r := g.read(0, nil)
		passes(1500 * time.Millisecond)
		r.play(0)
		r.stop()
		passes(time.Minute)
		again := g.read(0, nil)
		passes(time.Minute)
		again.expect(0, 1, 2, 3)
		again.stop()
		passes(time.Minute)
		third := g.read(0, nil)
		passes(1500 * time.Millisecond)
		third.expect(0, 1)
	})
}

func TestReplayOfSeveralFiles(t *testing.T) {
	two := func(t *testing.T, a, b []byte, name string) (*replay.Replay, error) {
		s := []replay.Source{source(t, "a.log", a), source(t, "b.log", b)}
		s[1].Name = name
		return replay.New(replay.Config{Sources: s, Speed: 1})
	}
	t.Run("side by side", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			g := start(t, replay.Config{Speed: 1, Sources: []replay.Source{
				source(t, "a.log", logText(t, every(6665, 10, 1, 3)...)), source(t, "b.log", logText(t, every(6666, 11.5, 1, 3)...)),
			}})
			a, b := g.read(0, nil), g.read(1, nil)
			passes(10 * time.Second)
			a.expect(10, 11, 12)
			b.expect(11.5, 12.5, 13.5)
			if d := b.begun.Add(b.all()[0].at).Sub(a.begun.Add(a.all()[0].at)); d != 1500*time.Millisecond {
				t.Errorf("the second robot began %v after the first, expected 1.5 s", d)
			}
		})
	})
	t.Run("parts of one recording", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			g := start(t, replay.Config{Speed: 1, Sources: []replay.Source{
				source(t, "2.log", logText(t, every(6665, 13, 1, 3)...)), source(t, "1.log", logText(t, every(6665, 10, 1, 3)...)),
			}})
			if n := len(g.pipes); n != 1 {
				t.Fatalf("there are %d ports, expected 1", n)
			}
			r := g.read(0, nil)
			passes(10 * time.Second)
			r.expect(10, 11, 12, 13, 14, 15)
			r.spaced(0, 1, 2, 3, 4, 5)
		})
	})
	t.Run("clash", func(t *testing.T) {
		_, err := two(t, logText(t, every(6665, 10, 1, 3)...), logText(t, every(6665, 11, 1, 3)...), "")
		if want := "robot port-6665 is in a.log and, at the same time, in b.log; give one of them another name: NAME=b.log"; err == nil || err.Error() != want {
			t.Errorf("got  %v\nwant %s", err, want)
		}
	})
	t.Run("named", func(t *testing.T) {
		r, err := two(t, logText(t, every(6665, 10, 1, 3)...), logText(t, append(every(6665, 11, 1, 3), every(6666, 11, 1, 3)...)...), "b")
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, p := range r.Ports() {
			names = append(names, fmt.Sprint(p.Recorded, " ", p.Robots))
		}
		if got := strings.Join(names, " "); got != "6665 [port-6665] 6665 [b-port-6665] 6666 [b-port-6666]" {
			t.Errorf("the ports are %s", got)
		}
	})
}

// A fault in one run is told with its line, and the rest goes on.
func TestReplayOfBrokenRuns(t *testing.T) {
	good := logText(t, every(6666, 0, 1, 5)...)
	t.Run("a line", func(t *testing.T) {
		text := logText(t, every(6665, 0, 1, 5)...)
		lines := bytes.SplitAfter(text, []byte("\n"))
		lines[7] = []byte("0000000002.000 0 6665 position2d 00 001 001 +0x.000\n")
		bubble(t, func(t *testing.T) {
			g := start(t, replay.Config{Sources: []replay.Source{source(t, "a.log", bytes.Join(lines, nil)), source(t, "b.log", good)}, Speed: 1})
			a, b := g.read(0, nil), g.read(1, nil)
			passes(10 * time.Second)
			a.expect(0, 1, 3, 4)
			b.expect(0, 1, 2, 3, 4)
			if !strings.Contains(g.log.String(), "a.log:8:") {
				t.Errorf("told %q, expected a.log:8", g.log)
			}
		})
	})
	t.Run("cut", func(t *testing.T) {
		var zipped bytes.Buffer
		z := gzip.NewWriter(&zipped)
		z.Write(logText(t, every(6665, 0, 0.001, 5000)...))
		z.Close()
		text := zipped.Bytes()
		s := source(t, "a.log.gz", text)
		short := text[:len(text)/2]
		cut, err := run.New(run.Config{R: bytes.NewReader(short), Size: int64(len(short)), Name: "a.log.gz"})
		if err != nil {
			t.Fatal(err)
		}
		s.File = cut // as if it had become shorter since it was looked at
		bubble(t, func(t *testing.T) {
			g := start(t, replay.Config{Sources: []replay.Source{s, source(t, "b.log", good)}, Speed: 1})
			g.read(0, nil)
			b := g.read(1, nil)
			passes(10 * time.Second)
			b.expect(0, 1, 2, 3, 4)
			if !strings.Contains(g.log.String(), "a recorded run ends early; what was written before is replayed") {
				t.Errorf("told %q", g.log)
			}
		})
	})
}

func TestNewRefuses(t *testing.T) {
	s := source(t, "a.log", logText(t, every(6665, 0, 1, 3)...))
	for want, cfg := range map[string]replay.Config{
		"no recorded run given": {},
		"speed -1":              {Sources: []replay.Source{s}, Speed: -1},
		"no file or survey":     {Sources: []replay.Source{{File: s.File}}},
		"holds no messages":     {Sources: []replay.Source{{File: s.File, Survey: &run.Survey{}}}},
	} {
		if _, err := replay.New(cfg); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, expected %q", err, want)
		}
	}
}

// What the recording answers of other interfaces is answered, too.
func TestReplayAnswers(t *testing.T) {
	const text = `0000000001.000 0 6665 fiducial 00 004 001 +01.000 +02.000 +00.000 +00.000 +00.000 +00.500 +00.100 +00.200 +00.300 +00.050 +00.060
0000000001.000 0 6665 fiducial 00 001 001 0
0000000002.000 0 6665 fiducial 00 001 001 0
0000000003.000 0 6665 fiducial 01 001 001 0
0000000090.000 0 6665 fiducial 01 004 001 +02.000 +02.000 +00.000 +00.000 +00.000 +00.500 +00.100 +00.200 +00.300 +00.050 +00.060
`
	bubble(t, func(t *testing.T) {
		g := start(t, replay.Config{Sources: []replay.Source{source(t, "a.log", []byte(text))}, Speed: 1})
		synctest.Wait() // it has read ahead
		fiducial := player.Addr{Interf: player.InterfaceFiducial}
		r := g.read(0, func(a player.Addr) bool { return a.Interf == player.InterfaceFiducial })
		var geom iface.FiducialGeom
		r.must(fiducial, iface.ReqFiducialGetGeom, nil, &geom)
		if geom.Pose.Px != 1 || geom.Pose.Pyaw != 0.5 {
			t.Errorf("the geometry is %+v", geom)
		}
		// Also if it stands at the end of the recording.
		r.must(player.Addr{Interf: player.InterfaceFiducial, Index: 1}, iface.ReqFiducialGetGeom, nil, &geom)
		if geom.Pose.Px != 2 {
			t.Errorf("the geometry is %+v", geom)
		}
		var nack *client.NackError
		if err := r.request(fiducial, iface.ReqFiducialGetFov, nil, nil); !errors.As(err, &nack) {
			t.Errorf("what the log does not tell was answered with %v, expected a NACK", err)
		}
	})
}

// endsWhenRead ends another context when files ask for it.
type endsWhenRead struct {
	context.Context
	cancel context.CancelFunc
}

func (e endsWhenRead) Err() error {
	e.cancel()
	return e.Context.Err()
}

// A replay that is stopped while it opens its files ends well, also if it has heard
// of the stop by the files alone.
func TestReplayStoppedWhileItReads(t *testing.T) {
	var packed bytes.Buffer // as with MCAP, something is read before the first message
	z := gzip.NewWriter(&packed)
	if _, err := z.Write(logText(t, every(6665, 0, 1, 3)...)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	from := source(t, "a.log.gz", packed.Bytes())
	ctx, cancel := context.WithCancel(t.Context())
	from.File.Until(endsWhenRead{ctx, cancel})
	for _, running := range []context.Context{ctx, t.Context()} {
		r, err := replay.New(replay.Config{Sources: []replay.Source{from}, Speed: 1})
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Run(running); err != nil {
			t.Error(err)
		}
	}
}
