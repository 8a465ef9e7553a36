package replay_test

import (
	"bytes"
	"context"
	"math"
	"math/rand/v2"
	"net"
	"slices"
	"sync"
	"testing"
	"time"

	"callboard/player"
	"callboard/player/client"
	"callboard/player/iface"
	"callboard/player/playerlog"
	"callboard/player/replay"
	"callboard/player/server"
)

// counter is a client that counts messages, and closes done with the last.
type counter struct {
	quiet
	want int
	each func(n int, h player.Header)
	done chan struct{}
	n    int
}

// quiet is a client.Handler that looks at nothing.
type quiet struct{}

func (quiet) Up([]client.Device)    {}
func (quiet) Changed(client.Device) {}
func (quiet) Round()                {}
func (quiet) Overflow(uint64)       {}
func (quiet) Down(error)            {}

func (c *counter) Message(h player.Header, _ any) {
	c.n++
	c.each(c.n, h)
	if c.n == c.want {
		close(c.done)
	}
}

// replayTo replays a log over TCP until each client, with an own connection, has
// all its messages. The log is one port's.
func replayTo(b *testing.B, log []byte, speed float64, each ...func(n int, h player.Header)) {
	b.Helper()
	s := source(b, "bench.log", log)
	r, err := replay.New(replay.Config{Sources: []replay.Source{s}, Speed: speed})
	if err != nil {
		b.Fatal(err)
	}
	ctx, cancel := context.WithCancel(b.Context())
	var running sync.WaitGroup
	defer running.Wait()
	defer cancel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	port := r.Ports()[0]
	served, err := server.New(server.Config{Listener: listener, Drivers: []server.Driver{port}, Clock: port.Clock})
	if err != nil {
		b.Fatal(err)
	}
	running.Go(func() { _ = served.Run(ctx) })
	running.Go(func() { _ = r.Run(ctx) })
	var all []*counter
	for _, f := range each {
		h := &counter{want: int(s.Survey.Messages), each: f, done: make(chan struct{})}
		c, err := client.New(client.Config{Address: listener.Addr().String(), Handler: h})
		if err != nil {
			b.Fatal(err)
		}
		running.Go(func() { _ = c.Run(ctx) })
		all = append(all, h)
	}
	for _, h := range all {
		select {
		case <-h.done:
		case <-time.After(time.Minute):
			b.Fatal("messages are missing after a minute")
		}
	}
}

// BenchmarkSpacing replays messages at random times, 200 a second, at real speed.
// Spacing error is how much the time between two that follow each other differs
// from the log's, lateness how much later than in the log one comes, against the
// one that came earliest.
func BenchmarkSpacing(b *testing.B) {
	random := rand.New(rand.NewPCG(1, 1))
	for b.Loop() {
		var messages []at
		for t := 0.0; t < 3; t += random.ExpFloat64() / 200 {
			messages = append(messages, at{6665, t})
		}
		var came, spacing, late []float64 // s, ms, ms
		var begun time.Time
		replayTo(b, logText(b, messages...), 1, func(n int, h player.Header) {
			if n == 1 {
				begun = time.Now()
			}
			came = append(came, time.Since(begun).Seconds()-h.Timestamp)
		})
		for i, c := range came {
			late = append(late, 1e3*(c-slices.Min(came)))
			if i > 0 {
				spacing = append(spacing, 1e3*math.Abs(c-came[i-1]))
			}
		}
		slices.Sort(spacing)
		slices.Sort(late)
		b.ReportMetric(spacing[len(spacing)/2], "spacing-p50-ms")
		b.ReportMetric(spacing[len(spacing)*99/100], "spacing-p99-ms")
		b.ReportMetric(late[len(late)*99/100], "late-p99-ms")
	}
}

// BenchmarkSpeed replays scans as fast as possible: for a client, and for two of
// which one waits 1 ms after each 100 messages. None of them is lost.
func BenchmarkSpeed(b *testing.B) {
	var log bytes.Buffer
	w, err := playerlog.NewWriter(playerlog.WriterConfig{W: &log})
	if err != nil {
		b.Fatal(err)
	}
	random := rand.New(rand.NewPCG(1, 1))
	scan := &iface.LaserData{MinAngle: -1.5, MaxAngle: 1.5, MaxRange: 8, Ranges: make([]float32, 181), Intensity: make([]uint8, 181)}
	const n = 10_000
	for i := range n {
		for k := range scan.Ranges {
			scan.Ranges[k] = float32(8 * random.Float64())
		}
		h := player.Header{Addr: player.Addr{Robot: 6665, Interf: player.InterfaceLaser}, Type: player.Data, Subtype: iface.DataLaserScan, Timestamp: float64(i)}
		if err := w.Write(h, scan); err != nil {
			b.Fatal(err)
		}
	}
	fast := func(int, player.Header) {}
	slow := func(n int, _ player.Header) {
		if n%100 == 0 {
			time.Sleep(time.Millisecond)
		}
	}
	for _, c := range []struct {
		name    string
		readers []func(int, player.Header)
	}{{"alone", []func(int, player.Header){fast}}, {"beside a slow client", []func(int, player.Header){fast, slow}}} {
		b.Run(c.name, func(b *testing.B) {
			b.SetBytes(int64(log.Len()))
			for b.Loop() {
				replayTo(b, log.Bytes(), 0, c.readers...)
			}
			b.ReportMetric(n*float64(b.N)/b.Elapsed().Seconds(), "messages/s")
		})
	}
}
