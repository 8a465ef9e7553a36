package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	processes "callboard/cmd/callboard/bench/network"
	"callboard/subscribe/protocol"

	"golang.org/x/sync/errgroup"
)

// soak says how hard a network is tried.
type soak struct {
	length   time.Duration
	programs int
	rate     float64 // readings a second, of all robots
	robots   int
	each     int // robots that a program asks for
	inbox    int // notifications that an inbox holds
	seed     uint64
}

// soakSettings returns the short form, which every test run has, or the one that
// CALLBOARD_SOAK_NETWORK asks for: "5m" (50 programs, 1,000 readings/s), or
// "5m,50,1000,SEED". CALLBOARD_SOAK_TROUBLE lists kinds of trouble, if not all
// are wanted: "kill,cut".
func soakSettings(t *testing.T) soak {
	s := soak{length: 6 * time.Second, programs: 12, rate: 200, robots: 6, each: 1, inbox: 350, seed: uint64(time.Now().UnixNano()) % 1_000_000}
	text := os.Getenv("CALLBOARD_SOAK_NETWORK")
	if text == "" {
		return s
	}
	s.programs, s.rate, s.robots, s.each = 50, 1000, 20, 2
	parts := strings.Split(text, ",")
	var err error
	if s.length, err = time.ParseDuration(parts[0]); err != nil {
		t.Fatalf("CALLBOARD_SOAK_NETWORK: %v", err)
	}
	for i, to := range []func(float64){
		func(v float64) { s.programs = int(v) }, func(v float64) { s.rate = v }, func(v float64) { s.seed = uint64(v) },
	} {
		if len(parts) > i+1 {
			v, err := strconv.ParseFloat(parts[i+1], 64)
			if err != nil {
				t.Fatalf("CALLBOARD_SOAK_NETWORK: %v", err)
			}
			to(v)
		}
	}
	s.inbox = int(min(10_000, s.rate*s.length.Seconds()/12)) // a fourth of what comes of each of three source brokers
	return s
}

// TestNetworkSoak has programs roam at random among six brokers in processes
// of their own, while brokers are killed and stopped and links cut and
// stalled. What one program got, all got that asked for it: once, in order.
func TestNetworkSoak(t *testing.T) {
	if testing.Short() {
		t.Skip("-short")
	}
	t.Run("registry at one broker", func(t *testing.T) { testNetworkSoak(t, false) })
	t.Run("registry at every broker", func(t *testing.T) { testNetworkSoak(t, true) })
}

func testNetworkSoak(t *testing.T, every bool) {
	s := soakSettings(t)
	t.Logf("seed %d", s.seed)
	rng := rand.New(rand.NewPCG(s.seed, 1))
	sources := make([]int, s.robots)
	for i := range sources {
		sources[i] = []int{1, 3, 5}[i%3]
	}
	ctx, cancel := context.WithTimeout(t.Context(), s.length+15*time.Minute)
	defer cancel()
	var mu sync.Mutex
	began := time.Now()
	logf := func(format string, args ...any) {
		mu.Lock()
		defer mu.Unlock()
		t.Logf("%7.3f "+format, append([]any{time.Since(began).Seconds()}, args...)...)
	}
	n, err := processes.Start(ctx, processes.Config{
		Dir: t.TempDir(), Brokers: 6, Registry: 2, Every: every, Sources: sources, Heartbeat: 500 * time.Millisecond,
		Inbox: processes.Inbox{Count: s.inbox},
		Links: [][2]int{{0, 1}, {1, 2}, {2, 3}, {3, 4}, {4, 5}, {0, 5}, {1, 4}},
		Log: func(broker, line string) {
			if !strings.Contains(line, "level=WARN") && !strings.Contains(line, "WARN ") {
				logf("%s says %s", broker, line)
			}
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := n.Close(); err != nil {
			t.Error(err)
		}
	}()
	programs := startPrograms(ctx, t, n, s, rng)
	all := make([]int, s.robots)
	for i := range all {
		all[i] = i
	}
	absent, err := n.NewProgram(ctx, "absent", rng.IntN(6), all, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer absent.Close()
	awaitFirst(ctx, t, n, append(programs, absent))
	n.Begin()
	readings, stopReadings := context.WithCancel(ctx)
	var streaming sync.WaitGroup
	streaming.Go(func() { n.Robots.Stream(readings, s.rate) })
	run, stop := context.WithTimeout(ctx, s.length)
	defer stop()
	var roaming sync.WaitGroup
	for i, p := range programs {
		roaming.Go(func() { roam(run, p, rand.New(rand.NewPCG(s.seed, uint64(i)+2)), 6) })
	}
	absent.Leave(s.length, rng.IntN(6)) // what it asked for waits for it, and most of it will be a gap
	var kinds []string
	if text := os.Getenv("CALLBOARD_SOAK_TROUBLE"); text != "" {
		kinds = strings.Split(text, ",")
	}
	some := &trouble{seed: s.seed, kinds: kinds, every: time.Second, longest: 4 * time.Second, log: logf}
	happened, err := some.run(run, n)
	if err != nil {
		t.Error(err)
	}
	roaming.Wait()
	stopReadings()
	streaming.Wait()
	settleAndJudge(ctx, t, n, programs, absent, happened, s)
}

func startPrograms(ctx context.Context, t *testing.T, n *processes.Network, s soak, rng *rand.Rand) []*processes.Program {
	t.Helper()
	programs := make([]*processes.Program, s.programs)
	var starting errgroup.Group
	for i := range programs {
		at, first := rng.IntN(6), rng.IntN(s.robots)
		var robots []int // each robot has several programs
		for j := range s.each {
			robots = append(robots, (i+j*first)%s.robots)
		}
		slices.Sort(robots)
		robots = slices.Compact(robots)
		starting.Go(func() error {
			p, err := n.NewProgram(ctx, fmt.Sprint("program-", i), at, robots, nil)
			programs[i] = p
			return err
		})
	}
	err := starting.Wait()
	t.Cleanup(func() {
		for _, p := range programs {
			if p != nil {
				p.Close()
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	return programs
}

// awaitFirst waits until all programs get readings of all robots that they
// have asked for.
func awaitFirst(ctx context.Context, t *testing.T, n *processes.Network, programs []*processes.Program) {
	t.Helper()
	waitFor(ctx, t, "the first readings come", func() bool {
		for r := range n.Robots.Len() {
			n.Robots.Publish(r)
		}
		for _, p := range programs {
			for _, r := range p.Robots {
				if p.Last(r) == 0 {
					return false
				}
			}
		}
		return true
	})
}

// waitFor looks until something is so.
func waitFor(ctx context.Context, t *testing.T, what string, ok func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(ctx, 90*time.Second)
	defer cancel()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for !ok() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			t.Errorf("waited in vain: %s", what)
			return
		}
	}
}

// roam has a program move at random, and be away at times.
func roam(ctx context.Context, p *processes.Program, rng *rand.Rand, brokers int) {
	for ctx.Err() == nil {
		pause := time.Duration(rng.Int64N(int64(2 * time.Second)))
		switch rng.IntN(10) {
		case 0: // there and back at once
			pause = time.Duration(rng.Int64N(int64(20 * time.Millisecond)))
		case 1, 2:
			change(ctx, p, rng)
		case 3:
			p.Leave(time.Duration(rng.Int64N(int64(4*time.Second))), rng.IntN(brokers))
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return
		}
		moving, cancel := context.WithTimeout(ctx, 3*time.Second)
		_ = p.Move(moving, rng.IntN(brokers)) // it may be dead, or late
		cancel()
	}
}

// change makes, updates or ends a second subscription to the same readings:
// that changes what notifications name, and nothing else.
func change(ctx context.Context, p *processes.Program, rng *rand.Rand) {
	ctx, cancel := context.WithTimeout(ctx, 3*time.Second)
	defer cancel()
	sub := protocol.Subscription{ID: "also", Condition: fmt.Sprintf("laser.min < %v", 0.6+rng.Float64())}
	for _, r := range p.Robots {
		sub.Robots = append(sub.Robots, processes.RobotName(r))
	}
	// What fails (it has one already, or none; the broker is dead) fails.
	switch rng.IntN(3) {
	case 0:
		_, _ = p.Client.Subscribe(ctx, sub)
	case 1:
		_, _ = p.Client.Update(ctx, protocol.Update{ID: sub.ID, Condition: &sub.Condition})
	default:
		_ = p.Client.Unsubscribe(ctx, sub.ID)
	}
}

// settle waits until the last readings have come to all. What was given while
// a source broker was dead nobody gets: robots give one more reading now and
// then, until one comes to all. A busy machine may take long to bring what is
// under way: a program is stuck once nothing has come to it for 90 s.
func settle(ctx context.Context, t *testing.T, n *processes.Network, programs []*processes.Program) {
	t.Helper()
	const patience = 90 * time.Second
	type progress struct {
		came  uint64
		since time.Time
	}
	seen := map[*processes.Program]progress{}
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for looked := 0; ; looked++ {
		if looked%40 == 0 {
			for r := range n.Robots.Len() {
				n.Robots.Publish(r)
			}
		}
		waiting, stuck := 0, ""
		for _, p := range programs {
			if !slices.ContainsFunc(p.Robots, func(r int) bool { return p.Last(r) < n.Robots.Given(r) }) {
				delete(seen, p)
				continue
			}
			waiting++
			counts := p.Counts()
			came, last := counts.Notifications+counts.Declared, seen[p]
			switch {
			case last.since.IsZero() || came != last.came:
				seen[p] = progress{came, time.Now()}
			case time.Since(last.since) > patience:
				stuck += " " + p.Name
			}
		}
		switch {
		case waiting == 0:
			return
		case stuck != "":
			t.Errorf("%d programs wait for the last readings, and for %v nothing has come to%s", waiting, patience, stuck)
			return
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			t.Errorf("no time is left: %d programs still wait for the last readings", waiting)
			return
		}
	}
}

// settleAndJudge waits until all have come to rest, and looks what they got.
func settleAndJudge(ctx context.Context, t *testing.T, n *processes.Network, programs []*processes.Program, absent *processes.Program, happened map[string]int, s soak) {
	t.Helper()
	settle(ctx, t, n, append(programs, absent))
	waitFor(ctx, t, "all know that the robots are up", func() bool {
		for _, p := range append(programs, absent) {
			if slices.ContainsFunc(p.Robots, func(r int) bool { return p.State(r) == protocol.RobotAway }) {
				return false
			}
		}
		return true
	})
	v := n.Judge(append(programs, absent))
	t.Logf("%s, %d programs, %v readings/s: %+v; before all %d; trouble %v", s.length, s.programs, s.rate, v.Counts, v.BeforeAll, happened)
	for _, b := range n.Brokers() {
		text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", b.Pid()))
		t.Logf("%s: memory, now and at most in this life: %q", b.Name, regexp.MustCompile(`Vm(RSS|HWM).*`).FindAllString(string(text), -1))
	}
	for _, f := range v.Faults {
		t.Error(f)
	}
	away := absent.Counts()
	t.Logf("absent: %d came, %d were declared lost", away.Notifications, away.Declared)
	v.Counts.Declared -= away.Declared                 // nobody else was away for so long
	if away.Declared == 0 && s.length >= time.Minute { // in the short form little comes while sources are dead
		t.Error("nothing was declared to the one that was absent: its inboxes did not fill")
	}
	if v.Counts.Declared+v.Counts.Ended+v.Counts.Doubled+v.Counts.Disordered+v.Counts.Missing+v.Counts.Faults > 0 {
		t.Errorf("seed %d: %+v", s.seed, v.Counts)
	}
}
