package bench

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"slices"
	"sync"
	"time"

	"callboard/bridge/benchtest"
)

// warmUpTime is how long the systems run before they are measured: until the
// broker's heap has once grown to where it is collected. Before that it touches
// new memory with each reading, afterwards, for the rest of its days, none.
const warmUpTime = 6 * time.Second

// system is what carries readings of robots to subscribers.
type system interface {
	// publish sends one reading of a robot, whose time is when it was written.
	publish(robot int) error
	// stop ends it, waits for its parts and returns what went wrong before.
	stop() error
}

// delays are those of one system's messages.
type delays struct {
	mu      sync.Mutex
	arrived []time.Duration // from the write to the arrival at the subscriber's socket
	read    []time.Duration // to when the subscriber had it
}

// take takes a message, which tells when it was written, off a connection of
// benchtest.DialStamped.
func (d *delays) take(c clock, conn net.Conn, message []byte) {
	now := time.Now()
	written, ok := benchtest.Time(message)
	if !ok {
		return
	}
	arrived := benchtest.Arrived(conn, now)
	d.mu.Lock()
	d.arrived = append(d.arrived, arrived.Sub(c.start)-written)
	d.read = append(d.read, now.Sub(c.start)-written)
	d.mu.Unlock()
}

func (d *delays) forget() {
	d.mu.Lock()
	d.arrived, d.read = d.arrived[:0], d.read[:0]
	d.mu.Unlock()
}

func (d *delays) count() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.read)
}

// latencies are the quantiles that are reported.
var latencies = []struct {
	name string
	q    float64
	read bool
}{
	{"latency p50", 0.5, false}, {"latency p90", 0.9, false}, {"latency p99", 0.99, false},
	{"latency p50, read", 0.5, true}, {"latency p90, read", 0.9, true}, {"latency p99, read", 0.99, true},
}

// quantile returns the delay that the share q of the messages stays below.
func (d *delays) quantile(q float64, read bool) time.Duration {
	d.mu.Lock()
	defer d.mu.Unlock()
	all := d.arrived
	if read {
		all = d.read
	}
	return quantile(slices.Sorted(slices.Values(all)), q)
}

// clock is the time that all delays are measured by.
type clock struct{ start time.Time }

// seconds returns a time as Player does. It is exact to the nanosecond.
func (c clock) seconds() float64 { return float64(time.Since(c.start)) / float64(time.Second) }

// crowding is who sends to whom.
type crowding struct{ robots, subscribers, beams int }

func runLatency(ctx context.Context, v Values, report func(Result)) error {
	return measureLatency(ctx, v, servingBroker, report)
}

// startBroker starts a broker that reads Player servers, with its data in dir.
type startBroker func(ctx context.Context, dir string, players []string) (url string, stop func() error, err error)

// measured is a system and what it was seen to do.
type measured struct {
	name string
	system
	delays
}

// besides are the ways in which mosquitto does the same.
var besides = []struct {
	name       string
	webSockets bool
}{
	{"mosquitto", true},
	{"mosquitto without WebSocket", false},
}

// measureLatency measures a broker, and mosquitto in turn with it.
func measureLatency(ctx context.Context, v Values, start startBroker, report func(Result)) (err error) {
	dir, err := os.MkdirTemp("", "callboard-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	c := crowding{v.Int("latency-robots"), v.Int("latency-subscribers"), v.Int("beams")}
	time0 := clock{time.Now()}
	ours := &measured{name: "callboard"}
	first, err := newCallboard(ctx, c, v.Switch("lasting"), dir, start, time0, &ours.delays)
	if err != nil {
		return err
	}
	ours.system = first
	all := []*measured{ours}
	defer func() {
		for _, s := range all {
			err = errors.Join(err, s.stop())
		}
	}()
	if path := findMosquitto(); path != "" {
		template, err := first.sample(ctx)
		if err != nil {
			return err
		}
		for _, beside := range besides {
			theirs := &measured{name: beside.name}
			if theirs.system, err = newMosquitto(ctx, c, path, dir, beside.webSockets, template, time0, &theirs.delays); err != nil {
				return err
			}
			all = append(all, theirs)
		}
	}
	warm := min(warmUpTime, v.Duration("latency-time"))
	if _, err := interleave(ctx, all, c.robots, v.Float("rate"), warm); err != nil {
		return err
	}
	time.Sleep(200 * time.Millisecond) // for the warm-up's last messages
	for _, s := range all {
		s.forget()
	}
	sent, err := interleave(ctx, all, c.robots, v.Float("rate"), v.Duration("latency-time"))
	if err != nil {
		return err
	}
	if err := await(ctx, all, sent*c.subscribers); err != nil {
		return err
	}
	reportLatency(v, c, all, report)
	return nil
}

// interleave has all robots publish on the systems in turn, evenly spread, and
// tells how many readings each system got. Each turn has an order of its own:
// what disturbs the machine every so many milliseconds would otherwise meet the
// same system all the time.
func interleave(ctx context.Context, systems []*measured, robots int, rate float64, length time.Duration) (int, error) {
	step := time.Duration(float64(time.Second) / rate / float64(robots) / float64(len(systems)))
	tick := time.NewTicker(max(step, 1))
	defer tick.Stop()
	n := int(length/max(step, 1)) / len(systems)
	order, random := slices.Clone(systems), rand.New(rand.NewPCG(1, 2))
	for i := range n {
		random.Shuffle(len(order), func(a, b int) { order[a], order[b] = order[b], order[a] })
		for _, s := range order {
			select {
			case <-tick.C:
			case <-ctx.Done():
				return 0, ctx.Err()
			}
			if err := s.publish(i % robots); err != nil {
				return 0, err
			}
		}
	}
	return n, nil
}

// await waits until all have come.
func await(ctx context.Context, all []*measured, each int) error {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	for _, s := range all {
		for s.count() < each {
			select {
			case <-time.After(10 * time.Millisecond):
			case <-ctx.Done():
				return fmt.Errorf("%d of %d messages came: %w", s.count(), each, ctx.Err())
			}
		}
	}
	return nil
}

func reportLatency(v Values, c crowding, all []*measured, report func(Result)) {
	at := fmt.Sprintf(", %d robots, %v Hz, %d subscribers", c.robots, v.Float("rate"), c.subscribers)
	for _, s := range all {
		report(Result{Case: s.name + at, Metric: "messages received", Value: float64(s.count()), Unit: "1"})
		for _, m := range latencies {
			report(Result{Case: s.name + at, Metric: m.name, Value: s.quantile(m.q, m.read).Seconds() * 1e6, Unit: "us"})
		}
	}
	if len(all) == 1 {
		report(Result{Case: "mosquitto (not found)" + at, Metric: "messages received", Value: 0, Unit: "1"})
	}
	ours := all[0]
	for _, theirs := range all[1:] {
		for _, m := range latencies {
			ratio := float64(ours.quantile(m.q, m.read)) / float64(theirs.quantile(m.q, m.read))
			report(Result{Case: ours.name + " / " + theirs.name + at, Metric: m.name, Value: ratio, Unit: "ratio"})
		}
	}
}
