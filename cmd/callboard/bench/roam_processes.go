package bench

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"time"

	"callboard/bridge/benchtest"
	client "callboard/clients/go"
	"callboard/cmd/callboard/bench/network"
)

// runRoamProcesses runs cases through brokers in processes.
func runRoamProcesses(ctx context.Context, v Values, report func(Result)) error {
	return roamThrough(ctx, v, nil, roamCases(v.Int("brokers"))[1:], report) // the first takes long, and many programs
}

// roamThrough runs cases through processes that command makes; nil: this program.
func roamThrough(ctx context.Context, v Values, command func(config string) (*exec.Cmd, error), cases []roamCase, report func(Result)) (err error) {
	dir, err := os.MkdirTemp("", "callboard-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	n, err := network.Start(ctx, network.Config{
		Dir: dir, Brokers: v.Int("brokers"), Sources: []int{0, 0}, Delay: v.Duration("delay"), Command: command,
		ConnectTimeout: 30 * time.Second, // longer than any absence: no pause delays a hand-over
	})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, n.Close()) }()
	streaming, stop := context.WithCancel(ctx)
	defer stop()
	var stream sync.WaitGroup
	defer stream.Wait()
	defer stop()
	stream.Go(func() { n.Robots.Stream(streaming, v.Float("rate")) })
	r := &roamers{Values: v, network: n, rng: rand.New(rand.NewPCG(uint64(v.Int("seed")), 1))}
	defer r.close()
	if err := r.start(ctx); err != nil {
		return err
	}
	for _, c := range cases {
		if err := r.run(ctx, c, uint64(max(1, v.Int("notifications")/len(cases))), report); err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
	}
	return r.judge(ctx, stop, report)
}

// roamers are programs that roam.
type roamers struct {
	Values
	network *network.Network
	rng     *rand.Rand
	all     []*roamer
}

// roamer is one of them.
type roamer struct {
	*network.Program
	at int // where it is, or goes

	mu       sync.Mutex
	began    time.Time // of the move under way; zero: none
	hops     int
	welcome  bool
	got      time.Time // the last notification
	first    bool
	silent   []time.Duration
	complete []time.Duration
	trips    []float64 // complete, in round trips of the path
	delay    time.Duration
}

func (r *roamers) start(ctx context.Context) error {
	for i := range r.Int("programs") {
		one := &roamer{at: r.rng.IntN(r.Int("brokers")), delay: r.Duration("delay")}
		p, err := r.network.NewProgram(ctx, fmt.Sprint("program-", i), one.at, []int{0, 1}, one.take)
		if err != nil {
			return err
		}
		one.Program = p
		r.all = append(r.all, one)
	}
	err := benchtest.Until(ctx, "readings come to all programs", func() (bool, error) {
		for _, one := range r.all {
			if one.Last(0) == 0 || one.Last(1) == 0 {
				return false, nil
			}
		}
		return true, nil
	})
	r.network.Begin()
	return err
}

func (r *roamers) close() {
	for _, one := range r.all {
		one.Close()
	}
}

// take looks whether an event ends a hand-over.
func (o *roamer) take(e client.Event, now time.Time) {
	o.mu.Lock()
	defer o.mu.Unlock()
	switch e := e.(type) {
	case *client.Attached:
		o.welcome = true
	case *client.Notification:
		if o.began.IsZero() || !o.welcome {
			o.got = now
			return
		}
		if !o.first {
			o.first = true
			o.silent = append(o.silent, now.Sub(o.got))
		}
		o.got = now
		robot, err := strconv.Atoi(strings.TrimPrefix(e.Robot, "r"))
		if err != nil || o.Program == nil || !o.Given(robot, int(e.Time)).After(o.began) {
			return
		}
		took := now.Sub(o.began)
		o.complete = append(o.complete, took)
		if o.hops > 0 && o.delay > 0 {
			o.trips = append(o.trips, float64(took)/float64(2*time.Duration(o.hops)*o.delay))
		}
		o.began = time.Time{}
	}
}

// begin notes that a move begins. It is false if one is under way.
func (o *roamer) begin(to int, at time.Time) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.began.IsZero() || to == o.at {
		return false
	}
	o.began, o.hops = at, max(to-o.at, o.at-to, to) // the source is at broker 0
	o.welcome, o.first = false, false
	o.at = to
	return true
}

// run has programs move until so many notifications have come.
func (r *roamers) run(ctx context.Context, c roamCase, notifications uint64, report func(Result)) error {
	before, costs := r.counts(), r.costs()
	for _, one := range r.all {
		one.mu.Lock()
		one.silent, one.complete, one.trips = nil, nil, nil
		one.mu.Unlock()
	}
	pause := time.Duration(float64(time.Second) / (c.share * float64(len(r.all))))
	var moving sync.WaitGroup
	defer moving.Wait()
	for r.counts().Notifications-before.Notifications < notifications {
		select {
		case <-time.After(pause/2 + time.Duration(r.rng.Int64N(int64(pause)))):
		case <-ctx.Done():
			return ctx.Err()
		}
		one := r.all[r.rng.IntN(len(r.all))]
		to := r.destination(one.at, c.distance)
		now := time.Now()
		if !one.begin(to, now.Add(c.away)) {
			continue
		}
		if c.away > 0 {
			one.Leave(c.away, to)
			continue
		}
		moving.Go(func() { _ = one.Move(ctx, to) })
	}
	moving.Wait()
	if err := benchtest.Until(ctx, "all hand-overs end", func() (bool, error) { return r.settled(), nil }); err != nil {
		return err
	}
	r.report("processes, "+c.name, before, costs, report)
	return nil
}

// destination chooses where a program at a broker goes.
func (r *roamers) destination(at, distance int) int {
	n := r.Int("brokers")
	if distance == 0 {
		return r.rng.IntN(n)
	}
	to := at + distance
	if to >= n || at >= distance && r.rng.IntN(2) == 0 {
		to = at - distance
	}
	if to < 0 || to >= n { // from the middle no such move leads anywhere
		return at - at%distance
	}
	return to
}

func (r *roamers) settled() bool {
	for _, one := range r.all {
		one.mu.Lock()
		under := !one.began.IsZero()
		one.mu.Unlock()
		if under {
			return false
		}
	}
	return true
}

func (r *roamers) counts() (sum network.Counts) {
	for _, one := range r.all {
		sum.Add(one.Counts())
	}
	return sum
}

// costs are messages between brokers, from their metrics.
func (r *roamers) costs() (all [4]float64) {
	for i, name := range []string{"subscribes", "fetch_messages", "replays", "resent"} {
		v, err := r.network.Metric("callboard_overlay_" + name + "_total")
		if err == nil {
			all[i] = v
		}
	}
	return all
}

func (r *roamers) report(name string, before network.Counts, costs [4]float64, report func(Result)) {
	after, now := r.counts(), r.costs()
	moves := float64(after.Moves - before.Moves)
	var silent, complete []time.Duration
	var trips []float64
	for _, one := range r.all {
		one.mu.Lock()
		silent, complete, trips = append(silent, one.silent...), append(complete, one.complete...), append(trips, one.trips...)
		one.mu.Unlock()
	}
	messages := now[0] + now[1] + now[2] - costs[0] - costs[1] - costs[2]
	for _, one := range []Result{
		{Metric: "notifications", Value: float64(after.Notifications - before.Notifications), Unit: "1"},
		{Metric: "declared as gaps", Value: float64(after.Declared - before.Declared), Unit: "1"},
		{Metric: "moves", Value: moves, Unit: "1"},
		{Metric: "messages (hops) of a move", Value: messages / max(moves, 1), Unit: "1"},
		{Metric: "sent again by the source", Value: now[3] - costs[3], Unit: "1"},
	} {
		one.Case = name
		report(one)
	}
	reportHandOvers(name, silent, complete, trips, report)
}

// judge lets all come to rest, and looks whether anything was lost, doubled or
// out of order.
func (r *roamers) judge(ctx context.Context, stop func(), report func(Result)) error {
	stop()
	err := benchtest.Until(ctx, "the last readings come", func() (bool, error) {
		for _, one := range r.all {
			for robot := range 2 {
				if one.Last(robot) < r.network.Robots.Given(robot) {
					return false, nil
				}
			}
		}
		return true, nil
	})
	var programs []*network.Program
	for _, one := range r.all {
		programs = append(programs, one.Program)
	}
	v := r.network.Judge(programs)
	for _, one := range []Result{
		{Metric: "notifications", Value: float64(v.Counts.Notifications), Unit: "1"},
		{Metric: "lost", Value: float64(v.Counts.Missing + v.BeforeAll), Unit: "1"},
		{Metric: "doubled", Value: float64(v.Counts.Doubled), Unit: "1"},
		{Metric: "out of order", Value: float64(v.Counts.Disordered), Unit: "1"},
	} {
		one.Case = "processes, all"
		report(one)
	}
	if wrong := v.Counts.Missing + v.BeforeAll + v.Counts.Doubled + v.Counts.Disordered + v.Counts.Faults; wrong > 0 {
		err = errors.Join(err, fmt.Errorf("%d notifications were lost, doubled, out of order or otherwise wrong: %s", wrong, strings.Join(v.Faults, "; ")))
	}
	return err
}
