package bench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"sync"
	"time"

	"callboard/bridge/benchtest"
	client "callboard/clients/go"
	"callboard/cmd/callboard/bench/network"
	"callboard/subscribe/protocol"
)

// sources is how many robots there are, one of each of benchtest.Kinds.
const sources = 3

// first measures how long it takes until a subscribe has an effect.
func first() Workload {
	return Workload{
		Name:    "first",
		Summary: "from a subscribe to the first event that matches",
		About: `Measures how long it takes from a subscribe to the first notification that it
brings. Three robots of three kinds (a laser, a sonar, a position) hang on three
brokers of their own, in a row with a fourth: processes of their own (callboard
serve), links over TCP, programs on WebSockets. To the fourth n programs for each
robot attach, subscribe at the same time, and leave when their first notification
has come; and again; for n from 1 on.

It does so with the registry at one broker, at the other end of the row, and at
every broker. The robots give readings so often that hardly any time is waiting
for the next one.`,
		Examples: []string{
			"callboard bench first",
			"callboard bench first --most 3 --samples 3000 --json",
		},
		Parameters: []Parameter{
			{"only", "`MODE` of the registry to measure: one or every (default both)", ""},
			{"most", "programs for each robot, up to `N`", 10},
			{"samples", "`N` of times that are measured for each number of programs, at least", 600},
			{"rate", "readings a second of each robot, in `HZ`", 1000.0},
		},
		Run: func(ctx context.Context, v Values, report func(Result)) error { return runFirst(ctx, v, nil, report) },
	}
}

// runFirst measures with brokers in processes that command makes; nil: this program.
func runFirst(ctx context.Context, v Values, command func(config string) (*exec.Cmd, error), report func(Result)) error {
	if v.Int("most") < 1 || v.Int("samples") < 1 || v.Float("rate") <= 0 {
		return fmt.Errorf("--most is %d, --samples %d and --rate %v, expected at least 1, 1 and more than 0", v.Int("most"), v.Int("samples"), v.Float("rate"))
	}
	only := v.Text("only")
	if !slices.Contains([]string{"", "one", "every"}, only) {
		return fmt.Errorf("--only is %q, expected one or every", only)
	}
	for _, mode := range []string{"one", "every"} {
		if only != "" && mode != only {
			continue
		}
		if err := firstIn(ctx, v, mode == "every", command, report); err != nil {
			return fmt.Errorf("the registry at %s: %w", mode, err)
		}
	}
	return nil
}

func firstIn(ctx context.Context, v Values, every bool, command func(config string) (*exec.Cmd, error), report func(Result)) (err error) {
	dir, err := os.MkdirTemp("", "callboard-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	n, err := network.Start(ctx, network.Config{Dir: dir, Brokers: sources + 1, Sources: []int{0, 1, 2}, Mixed: true, Every: every, Command: command})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, n.Close()) }()
	streaming, stop := context.WithCancel(ctx)
	var stream sync.WaitGroup
	defer stream.Wait()
	defer stop()
	stream.Go(func() { n.Robots.Stream(streaming, sources*v.Float("rate")) })
	where := "registry at one broker"
	if every {
		where = "registry at every broker"
	}
	if err := awaitRobots(ctx, n); err != nil {
		return err
	}
	for each := range v.Int("most") {
		programs := sources * (each + 1)
		var took []time.Duration
		for len(took) < v.Int("samples") {
			some, err := subscribeTogether(ctx, n, programs)
			if err != nil {
				return err
			}
			took = append(took, some...)
		}
		slices.Sort(took)
		name := fmt.Sprintf("%s, %d programs", where, programs)
		for _, q := range []struct {
			name string
			q    float64
		}{{"p50", 0.5}, {"p99", 0.99}} {
			report(Result{Case: name, Metric: "subscribe to first event, " + q.name, Value: quantile(took, q.q).Seconds() * 1e3, Unit: "ms"})
		}
	}
	return nil
}

// awaitRobots waits until the fourth broker knows all robots.
func awaitRobots(ctx context.Context, n *network.Network) error {
	within, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	_, err := subscribeTogether(within, n, sources)
	return err
}

// subscribeTogether has programs attach to the fourth broker and subscribe at the
// same time. It returns how long each took to its first event.
func subscribeTogether(ctx context.Context, n *network.Network, programs int) ([]time.Duration, error) {
	all := make([]*newcomer, programs)
	took, failed := make([]time.Duration, programs), make([]error, programs)
	var attaching sync.WaitGroup
	for i := range all {
		attaching.Go(func() { all[i], failed[i] = newNewcomer(ctx, n.URLs()[sources], i%sources) })
	}
	attaching.Wait()
	var measuring sync.WaitGroup
	for i, p := range all {
		if p == nil {
			continue
		}
		defer p.Close()
		if errors.Join(failed...) == nil {
			measuring.Go(func() { took[i], failed[i] = p.subscribe(ctx) })
		}
	}
	measuring.Wait()
	return took, errors.Join(failed...)
}

// newcomer is a program that has just attached.
type newcomer struct {
	*client.Client
	robot int
	once  sync.Once
	came  chan time.Time // when its first event came
}

func newNewcomer(ctx context.Context, url string, robot int) (p *newcomer, err error) {
	p = &newcomer{robot: robot, came: make(chan time.Time, 1)}
	if p.Client, err = client.Dial(ctx, client.Config{Brokers: []string{url}, Anonymous: true, Handle: p.take}); err != nil {
		return nil, err
	}
	return p, nil
}

func (p *newcomer) take(e client.Event) {
	if _, is := e.(*client.Notification); is {
		p.once.Do(func() { p.came <- time.Now() })
	}
}

// subscribe returns how long it takes from the subscribe to the first event.
func (p *newcomer) subscribe(ctx context.Context) (time.Duration, error) {
	began := time.Now()
	if _, err := p.Subscribe(ctx, protocol.Subscription{ID: "first", Condition: benchtest.Kinds[p.robot], Robots: []string{network.RobotName(p.robot)}}); err != nil {
		return 0, err
	}
	select {
	case came := <-p.came:
		return came.Sub(began), nil
	case <-ctx.Done():
		return 0, ctx.Err()
	}
}
