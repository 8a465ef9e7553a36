package bench

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"callboard/player"
	"callboard/player/client"
	"callboard/player/iface"
	"callboard/player/playerlog"
	"callboard/player/replay"
	"callboard/player/run"
	"callboard/player/server"

	"golang.org/x/sync/errgroup"
)

// Metrics of the replay benchmark.
const (
	spacingMedian = "spacing error, median"
	spacingP99    = "spacing error, 99 %"
	latenessP99   = "lateness, 99 %"
	replayRate    = "messages per second"
	replayBytes   = "log per second"
	replayLost    = "messages lost"
)

func replaying() Workload {
	return Workload{
		Name:    "replay",
		Summary: "recorded runs as Player servers: spacing and speed",
		About: `Writes a log of messages at random times, replays it over TCP on loopback, and
reads it with a client as a broker does:

  spacing error       how much the time between two messages that follow each
                      other differs from the log's, at real speed
  lateness            how much later a message comes than the log has it, against
                      the one that came earliest
  messages per second a log with scans, as fast as possible, for one client, and
                      with a second one that waits 1 ms after each 100 messages;
                      neither may lose any

On a machine that is busy otherwise, chrt -f 10 callboard bench replay gives what
an idle one would.`,
		Examples: []string{
			"callboard bench replay",
			"callboard bench replay --time 60s --rate 500 --json",
		},
		Parameters: []Parameter{
			{"time", "`SECONDS` at real speed", 10 * time.Second},
			{"rate", "`N` of messages a second, on average, at real speed", 200},
			{"size", "`MEGABYTES` of the log that is replayed as fast as possible", 50},
			{"seed", "`NUMBER` that the log comes from", 1},
		},
		Run: runReplaying,
	}
}

func runReplaying(ctx context.Context, v Values, report func(Result)) error {
	if err := measureSpacing(ctx, v, report); err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "callboard-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	name := filepath.Join(dir, "run.log")
	if _, err := writeQueryLog(ctx, name, int64(v.Int("size"))<<20, int64(v.Int("seed"))); err != nil {
		return err
	}
	file, err := run.Open(name)
	if err != nil {
		return err
	}
	defer file.Close()
	if err := measureSpeed(ctx, "as fast as possible", file, nil, report); err != nil {
		return err
	}
	return measureSpeed(ctx, "beside a slow client", file, func(n int) {
		if n%100 == 0 {
			time.Sleep(time.Millisecond)
		}
	}, report)
}

// randomLog is a log of positions at random times.
func randomLog(length time.Duration, rate, seed int) ([]byte, error) {
	var out bytes.Buffer
	w, err := playerlog.NewWriter(playerlog.WriterConfig{W: &out})
	if err != nil {
		return nil, err
	}
	random := rand.New(rand.NewPCG(uint64(seed), 1))
	for t := 0.0; t < length.Seconds(); t += random.ExpFloat64() / float64(rate) {
		h := player.Header{Addr: player.Addr{Robot: 6665, Interf: player.InterfacePosition2D}, Type: player.Data, Subtype: iface.DataPosition2DState, Timestamp: t}
		if err := w.Write(h, &iface.Position2DData{}); err != nil {
			return nil, err
		}
	}
	return out.Bytes(), nil
}

func measureSpacing(ctx context.Context, v Values, report func(Result)) error {
	text, err := randomLog(v.Duration("time"), v.Int("rate"), v.Int("seed"))
	if err != nil {
		return err
	}
	file, err := run.New(run.Config{R: bytes.NewReader(text), Size: int64(len(text)), Name: "bench.log"})
	if err != nil {
		return err
	}
	r := &arrivals{}
	if err := replayTo(ctx, file, 1, r); err != nil {
		return err
	}
	var spacing, late []float64 // ms
	for i, a := range r.all {
		late = append(late, 1e3*(a.at.Sub(r.all[0].at).Seconds()-(a.time-r.all[0].time)))
		if i > 0 {
			b := r.all[i-1]
			spacing = append(spacing, 1e3*math.Abs(a.at.Sub(b.at).Seconds()-(a.time-b.time)))
		}
	}
	if len(spacing) == 0 {
		return errors.New("the log has no two messages; give a longer --time")
	}
	slices.Sort(spacing)
	slices.Sort(late)
	name := fmt.Sprintf("real speed, %d messages a second", v.Int("rate"))
	report(Result{Case: name, Metric: spacingMedian, Value: quantile(spacing, 0.5), Unit: "ms"})
	report(Result{Case: name, Metric: spacingP99, Value: quantile(spacing, 0.99), Unit: "ms"})
	report(Result{Case: name, Metric: latenessP99, Value: quantile(late, 0.99) - late[0], Unit: "ms"})
	return nil
}

func measureSpeed(ctx context.Context, name string, file *run.File, slow func(int), report func(Result)) error {
	readers := []*arrivals{{count: true}}
	if slow != nil {
		readers = append(readers, &arrivals{count: true, slow: slow})
	}
	if err := replayTo(ctx, file, 0, readers...); err != nil {
		return err
	}
	took := 0.0
	for _, r := range readers {
		took = max(took, r.last.Sub(r.first).Seconds())
	}
	report(Result{Case: name, Metric: replayRate, Value: float64(readers[0].n) / took, Unit: "1/s"})
	report(Result{Case: name, Metric: replayBytes, Value: float64(file.Size()) / 1e6 / took, Unit: "MB/s"})
	lost := 0
	for _, r := range readers {
		lost += r.want - r.n
	}
	report(Result{Case: name, Metric: replayLost, Value: float64(lost), Unit: ""})
	return nil
}

// arrival is a message: when it came, and its time in the log.
type arrival struct {
	at   time.Time
	time float64
}

// arrivals is a client that notes what comes until it has all, or nothing has
// come for a second after the end.
type arrivals struct {
	count bool // only how many
	slow  func(n int)

	mu          sync.Mutex
	n, want     int
	first, last time.Time
	all         []arrival
}

func (a *arrivals) Up([]client.Device)    {}
func (a *arrivals) Changed(client.Device) {}
func (a *arrivals) Round()                {}
func (a *arrivals) Overflow(uint64)       {}
func (a *arrivals) Down(error)            {}
func (a *arrivals) Message(h player.Header, _ any) {
	now := time.Now()
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.n++; a.n == 1 {
		a.first = now
	}
	a.last = now
	if !a.count {
		a.all = append(a.all, arrival{now, h.Timestamp})
	}
	if a.slow != nil {
		a.slow(a.n)
	}
}

func (a *arrivals) complete() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.n >= a.want
}

// replayTo replays a file over TCP until all readers have got all of the first
// server's messages, or no more come.
func replayTo(ctx context.Context, file *run.File, speed float64, readers ...*arrivals) error {
	survey, err := file.Survey(ctx, nil)
	if err != nil {
		return err
	}
	r, err := replay.New(replay.Config{Sources: []replay.Source{{File: file, Survey: survey}}, Speed: speed})
	if err != nil {
		return err
	}
	running, cancel := context.WithCancel(ctx)
	defer cancel()
	group, running := errgroup.WithContext(running)
	var addresses []string
	for _, port := range r.Ports() {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return errors.Join(err, finish(cancel, group))
		}
		s, err := server.New(server.Config{Listener: listener, Drivers: []server.Driver{port}, Clock: port.Clock})
		if err != nil {
			return errors.Join(err, listener.Close(), finish(cancel, group))
		}
		addresses = append(addresses, listener.Addr().String())
		group.Go(func() error { return s.Run(running) })
	}
	group.Go(func() error { return r.Run(running) })
	for i, a := range readers {
		a.want = int(survey.Messages)
		// One reader takes all servers; a second one is a program of its own.
		for _, address := range addresses {
			c, err := client.New(client.Config{Address: address, Handler: a})
			if err != nil {
				return errors.Join(fmt.Errorf("client %d: %w", i+1, err), finish(cancel, group))
			}
			group.Go(func() error {
				if err := c.Run(running); running.Err() == nil {
					return err
				}
				return nil
			})
		}
	}
	return errors.Join(awaited(running, r, readers), finish(cancel, group))
}

// awaited waits for the readers.
func awaited(ctx context.Context, r *replay.Replay, readers []*arrivals) error {
	look := time.NewTicker(50 * time.Millisecond)
	defer look.Stop()
	quiet, before := 0, 0
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-look.C:
		}
		all, n := true, 0
		for _, a := range readers {
			all = a.complete() && all
			a.mu.Lock()
			n += a.n
			a.mu.Unlock()
		}
		if quiet++; n != before || !r.Progress().Ended {
			quiet, before = 0, n
		}
		if all || quiet > 20 {
			return nil
		}
	}
}
