package bench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"time"
)

// warmUpTime is how long the systems run before they are measured: until the
// broker's heap has once grown to where it is collected. Before that it touches
// new memory with each reading, afterwards, for the rest of its days, none.
const warmUpTime = 6 * time.Second

// system is what carries readings of robots to subscribers.
type system interface {
	// publish sends one reading of a robot, whose time is when it was written.
	publish(robot int) error
	// stop ends it, waits for its parts and tells what went wrong before.
	stop() error
}

// sample is one message's delay.
type sample struct{ written, delay time.Duration }

// samples are the delays of one system's messages.
type samples struct {
	mu  sync.Mutex
	all []sample
}

// take takes a message that was written at a time, both since the clock's start.
func (s *samples) take(written, now time.Duration) {
	s.mu.Lock()
	s.all = append(s.all, sample{written, now - written})
	s.mu.Unlock()
}

func (s *samples) forget() {
	s.mu.Lock()
	s.all = s.all[:0]
	s.mu.Unlock()
}

func (s *samples) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.all)
}

// quantile gives the delay that the share q of the messages stays below.
func (s *samples) quantile(q float64) time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	return quantile(s.all, q)
}

func quantile(all []sample, q float64) time.Duration {
	if len(all) == 0 {
		return 0
	}
	delays := make([]time.Duration, len(all))
	for i, one := range all {
		delays[i] = one.delay
	}
	slices.Sort(delays)
	return delays[min(int(q*float64(len(delays))), len(delays)-1)]
}

// seconds gives the messages by the second in which they were written.
func (s *samples) seconds() map[int][]sample {
	s.mu.Lock()
	defer s.mu.Unlock()
	by := map[int][]sample{}
	for _, one := range s.all {
		second := int(one.written / time.Second)
		by[second] = append(by[second], one)
	}
	return by
}

// medianRatio compares two systems' quantiles second by second and gives the
// median of the ratios: so a second in which the machine was busy with
// something else counts as one.
func medianRatio(a, b *samples, q float64) float64 {
	ours, theirs := a.seconds(), b.seconds()
	var ratios []float64
	for second, some := range ours {
		if other := theirs[second]; 2*len(other) > len(some) && 2*len(some) > len(other) {
			ratios = append(ratios, float64(quantile(some, q))/float64(quantile(other, q)))
		}
	}
	if len(ratios) == 0 {
		return 0
	}
	slices.Sort(ratios)
	return ratios[len(ratios)/2]
}

// clock is the time that all delays are measured by.
type clock struct{ start time.Time }

func (c clock) now() time.Duration { return time.Since(c.start) }

// seconds gives a time as Player does. It is exact to the nanosecond.
func (c clock) seconds() float64 { return float64(c.now()) / float64(time.Second) }

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
	samples
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
	first, err := newCallboard(ctx, c, v.Switch("lasting"), dir, start, time0, &ours.samples)
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
			if theirs.system, err = newMosquitto(ctx, c, path, dir, beside.webSockets, template, time0, &theirs.samples); err != nil {
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
// tells how many readings each system got.
func interleave(ctx context.Context, systems []*measured, robots int, rate float64, length time.Duration) (int, error) {
	step := time.Duration(float64(time.Second) / rate / float64(robots) / float64(len(systems)))
	tick := time.NewTicker(max(step, 1))
	defer tick.Stop()
	n := int(length / max(step, 1))
	for i := range n - n%len(systems) {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return 0, ctx.Err()
		}
		if err := systems[i%len(systems)].publish(i / len(systems) % robots); err != nil {
			return 0, err
		}
	}
	return n / len(systems), nil
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
	quantiles := []struct {
		name string
		q    float64
	}{{"p50", 0.5}, {"p90", 0.9}, {"p99", 0.99}}
	for _, s := range all {
		report(Result{Case: s.name + at, Metric: "messages received", Value: float64(s.count()), Unit: "1"})
		for _, q := range quantiles {
			report(Result{Case: s.name + at, Metric: "latency " + q.name, Value: s.quantile(q.q).Seconds() * 1e6, Unit: "us"})
		}
	}
	if len(all) == 1 {
		report(Result{Case: "mosquitto (not found)" + at, Metric: "messages received", Value: 0, Unit: "1"})
	}
	ours := all[0]
	for _, theirs := range all[1:] {
		name := ours.name + " / " + theirs.name + at
		for _, q := range quantiles {
			ratio := float64(ours.quantile(q.q)) / float64(theirs.quantile(q.q))
			report(Result{Case: name, Metric: "latency " + q.name, Value: ratio, Unit: "ratio"})
			report(Result{Case: name, Metric: "latency " + q.name + ", median of the seconds", Value: medianRatio(&ours.samples, &theirs.samples, q.q), Unit: "ratio"})
		}
	}
}
