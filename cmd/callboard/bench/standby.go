package bench

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"callboard/bridge/benchtest"
	client "callboard/clients/go"
	"callboard/cmd/callboard/bench/twins"
	"callboard/subscribe/protocol"
)

// standbyCases are what can be done to a pair, in the order in which it is.
var standbyCases = []string{"latency", "kill", "switch", "unplug", "inner", "one-way", "join"}

// standby measures pairs of brokers.
func standby() Workload {
	return Workload{
		Name:    "standby",
		Summary: "a pair of brokers that loses its active side",
		About: `Runs the two sides of a broker and a witness as processes, with robots that send all
the time and subscribers that check each reading, and loses the active side. The gap
is from the loss until the last of the subscribers has a reading from the other side.
Nothing may be lost or come twice, undeclared: that is an error at the end.

  latency   from a robot's sending to a subscriber, of one broker alone and of a pair
  kill      the active process is killed, as by kill -9, in the middle of sending
  switch    it is told to have the other go on
  unplug    both its lines are cut (network namespaces: root on Linux, iproute2)
  inner     the line between the two is cut: the longest silence at a subscriber
  one-way   that line carries nothing to the standby
  join      a standby without data joins while an inbox is full: time, longest silence`,
		Examples: []string{
			"callboard bench standby --cases kill,switch --runs 100",
			"callboard bench standby --cases join --state 1000",
		},
		Parameters: []Parameter{
			{"cases", "`LIST` of what is measured", "latency,kill,switch"},
			{"runs", "`N` of losses in each case", 10},
			{"subscribers", "`N` that get every reading", 4},
			{"rate", "readings a second, a `NUMBER`", 500},
			{"heartbeat", "`TIME` T between the sides", 10 * time.Millisecond},
			{"witness", "false: without one", true},
			{"state", "of an absent client that is joined with, in `MB`", 100},
		},
		Run: runStandby,
	}
}

func runStandby(ctx context.Context, v Values, report func(Result)) error {
	cases := strings.Split(v.Text("cases"), ",")
	for _, c := range cases {
		if !slices.Contains(standbyCases, c) {
			return fmt.Errorf("--cases %s: expected some of %s", c, strings.Join(standbyCases, ", "))
		}
	}
	for name, most := range map[string]int{"runs": 1_000_000, "subscribers": 1000, "rate": 100_000, "state": 4000} {
		if n := v.Int(name); n < 1 || n > most {
			return fmt.Errorf("--%s is %d, expected 1 to %d", name, n, most)
		}
	}
	if slices.ContainsFunc(cases, func(c string) bool { return c == "unplug" || c == "inner" || c == "one-way" }) {
		if inside, err := within(ctx); !inside {
			return err
		}
	}
	var bad []error
	for _, c := range standbyCases {
		if slices.Contains(cases, c) {
			if err := measureStandby(ctx, c, v, report); err != nil {
				bad = append(bad, fmt.Errorf("%s: %w", c, err))
			}
		}
	}
	return errors.Join(bad...)
}

// pairRig is a pair with robots and subscribers.
type pairRig struct {
	*twins.Twins
	fleet    *benchtest.Fleet
	lines    *lines // that can be cut; nil: it is on loopback
	programs []*twins.Program
	before   twins.Counts
	report   func(metric string, value float64, unit string)

	mu     sync.Mutex
	sent   []time.Time // by number of the reading
	delays []time.Duration
	stop   func()
}

// standbyCommand makes the process of a side; nil: this program.
var standbyCommand func(config string) (*exec.Cmd, error)

func measureStandby(ctx context.Context, name string, v Values, report func(Result)) error {
	given := func(metric string, value float64, unit string) {
		report(Result{Case: name, Metric: metric, Value: value, Unit: unit})
	}
	if name == "latency" {
		return measurePairLatency(ctx, v, given)
	}
	r, err := newPairRig(ctx, v, false, name)
	if err != nil {
		return err
	}
	defer r.close()
	r.report = given
	if name == "join" {
		return r.join(ctx, v)
	}
	return r.losses(ctx, name, v)
}

// newPairRig starts a pair, or one broker alone, and waits until all goes its way.
func newPairRig(ctx context.Context, v Values, single bool, name string) (r *pairRig, err error) {
	r = &pairRig{}
	dir, err := os.MkdirTemp("", "callboard-bench-")
	if err != nil {
		return nil, err
	}
	host, more := "127.0.0.1", ""
	c := twins.Config{Dir: dir, Heartbeat: v.Duration("heartbeat"), Witness: v.Switch("witness") && !single, Single: single, Command: standbyCommand}
	if name == "unplug" || name == "inner" || name == "one-way" {
		if r.lines, err = newLines(); err != nil {
			return nil, err
		}
		host, c.Places = linesHost, linesPlaces
	}
	beams := 20
	if name == "join" {
		beams = 2000
		more = fmt.Sprintf("[limits]\ninbox = { count = 1_000_000, bytes = %d, seconds = 3600 }\nmemory = \"8GB\"\ndisk = \"16GB\"\n", v.Int("state")<<20)
	}
	c.More = more
	if r.fleet, err = benchtest.NewFleetOn(1, beams, func(int) (net.Listener, error) { return net.Listen("tcp", host+":0") }); err != nil {
		return nil, err
	}
	running, cancel := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- r.fleet.Run(running) }()
	r.stop = func() { cancel(); <-ended; _ = os.RemoveAll(dir) }
	for i, p := range r.fleet.Players() {
		p.Address, p.Robot = r.fleet.Addresses()[i], r.fleet.Robot(i)
		c.Players = append(c.Players, p)
	}
	if r.Twins, err = twins.Start(c); err != nil {
		r.stop()
		return nil, err
	}
	for i := range v.Int("subscribers") {
		p, err := r.NewProgram(ctx, fmt.Sprintf("subscriber-%d", i), 1, protocol.Subscription{ID: "all", Condition: "laser.min < 100"}, r.came)
		if err != nil {
			r.close()
			return nil, err
		}
		r.programs = append(r.programs, p)
	}
	go r.send(running, v.Int("rate"))
	return r, benchtest.Until(ctx, "readings come", func() (bool, error) { return r.counts().Readings > 0, nil })
}

// send has the robot send readings, numbered by their time.
func (r *pairRig) send(ctx context.Context, rate int) {
	ticks := time.NewTicker(time.Second / time.Duration(rate))
	defer ticks.Stop()
	for {
		select {
		case <-ticks.C:
		case <-ctx.Done():
			return
		}
		r.mu.Lock()
		r.sent = append(r.sent, time.Now())
		n := len(r.sent)
		r.mu.Unlock()
		r.fleet.Publish(0, true, float64(n))
	}
}

// came notes how long a reading has taken.
func (r *pairRig) came(n *client.Notification) {
	now := time.Now()
	r.mu.Lock()
	defer r.mu.Unlock()
	if i := int(n.Time) - 1; i >= 0 && i < len(r.sent) {
		r.delays = append(r.delays, now.Sub(r.sent[i]))
	}
}

func (r *pairRig) counts() (c twins.Counts) {
	for _, p := range r.programs {
		n := p.Now()
		c.Readings, c.Lost, c.Doubled, c.Faults, c.Declared = c.Readings+n.Readings, c.Lost+n.Lost, c.Doubled+n.Doubled, c.Faults+n.Faults, c.Declared+n.Declared
	}
	return c
}

func (r *pairRig) close() {
	for _, p := range r.programs {
		p.Close()
	}
	_ = r.Close() // processes are killed
	r.stop()
	if r.lines != nil {
		r.lines.close()
	}
}

// standbyPatience is how long a pair may take until it is whole.
const standbyPatience = time.Minute

// whole waits until the pair is.
func (r *pairRig) whole(ctx context.Context) (active int, err error) {
	ctx, cancel := context.WithTimeout(ctx, standbyPatience)
	defer cancel()
	return r.Whole(ctx)
}

// losses loses the active side again and again.
func (r *pairRig) losses(ctx context.Context, name string, v Values) error {
	var gaps []time.Duration
	for range v.Int("runs") {
		active, err := r.whole(ctx)
		if err != nil {
			return err
		}
		gap, err := r.lose(ctx, name, active)
		if err != nil {
			return err
		}
		gaps = append(gaps, gap)
	}
	slices.Sort(gaps)
	for _, q := range []struct {
		name  string
		share float64
	}{{"gap p50", 0.5}, {"gap p99", 0.99}, {"gap max", 1}} {
		r.report(q.name, float64(quantile(gaps, q.share))/1e6, "ms")
	}
	return r.judge(ctx)
}

// lose loses the active side in a way, and makes it whole again.
func (r *pairRig) lose(ctx context.Context, name string, active int) (gap time.Duration, err error) {
	one, other := r.Sides[active], r.Sides[1-active]
	for _, p := range r.programs {
		p.Mark()
	}
	began := time.Now()
	mend := func() error { return nil }
	switch name {
	case "kill":
		err, mend = one.Kill(), one.Start
	case "switch":
		err = one.Switch()
	case "unplug":
		err, mend = r.lines.cut(active), func() error { return r.lines.mend(active) }
	case "inner", "one-way":
		err, mend = r.lines.cutInner(active, name == "one-way"), func() error { return r.lines.mend(active) }
	}
	if err != nil {
		return 0, err
	}
	within, cancel := context.WithTimeout(ctx, standbyPatience)
	defer cancel()
	for _, p := range r.programs {
		took := time.Duration(0)
		if r.lines != nil && name != "unplug" {
			time.Sleep(20 * time.Millisecond * time.Duration(1+len(r.programs))) // what is looked at is a silence in this time
			took = p.Longest()
		} else if took, err = p.GoesOn(within, other.URL(), began); err != nil {
			how, _ := other.Standing(ctx)
			return 0, fmt.Errorf("%w; that side stands so: %+v", err, how)
		}
		gap = max(gap, took)
	}
	return gap, mend()
}

// judge reports what subscribers have got, and what must not be.
func (r *pairRig) judge(ctx context.Context) error {
	if _, err := r.whole(ctx); err != nil {
		return err
	}
	select { // what is told beside readings may come after them
	case <-time.After(1500 * time.Millisecond):
	case <-ctx.Done():
		return ctx.Err()
	}
	c := r.counts()
	r.report("readings", float64(c.Readings), "")
	r.report("lost", float64(c.Lost), "")
	r.report("doubled", float64(c.Doubled), "")
	r.report("declared", float64(c.Declared), "")
	if c.Bad() > 0 {
		return fmt.Errorf("%d lost, %d doubled, %d faults in %d readings; expected none", c.Lost, c.Doubled, c.Faults, c.Readings)
	}
	return nil
}

// measurePairLatency compares a pair with one broker alone, in turns.
func measurePairLatency(ctx context.Context, v Values, report func(metric string, value float64, unit string)) error {
	var all [2][]time.Duration
	for range 2 {
		for i, single := range []bool{true, false} {
			r, err := newPairRig(ctx, v, single, "latency")
			if err != nil {
				return err
			}
			if !single {
				_, err = r.whole(ctx)
			}
			r.mu.Lock()
			r.delays = nil
			r.mu.Unlock()
			if err == nil {
				err = benchtest.Until(ctx, "readings come", func() (bool, error) {
					r.mu.Lock()
					defer r.mu.Unlock()
					return len(r.delays) >= 4*v.Int("rate"), nil
				})
			}
			r.mu.Lock()
			all[i] = append(all[i], r.delays...)
			r.mu.Unlock()
			r.close()
			if err != nil {
				return err
			}
		}
	}
	for _, d := range all {
		slices.Sort(d)
	}
	for name, q := range map[string]float64{"p50": 0.5, "p99": 0.99} {
		alone, pair := quantile(all[0], q), quantile(all[1], q)
		report("alone "+name, float64(alone)/1e6, "ms")
		report("pair "+name, float64(pair)/1e6, "ms")
		report("ratio "+name, float64(pair)/float64(alone), "")
	}
	return nil
}

// join has the standby come back without anything, while much waits for a client that
// is away.
func (r *pairRig) join(ctx context.Context, v Values) error {
	away, err := r.NewProgram(ctx, "away", 1, protocol.Subscription{ID: "all", Condition: "laser.min < 100"}, nil)
	if err != nil {
		return err
	}
	away.Close()
	active, err := r.whole(ctx)
	if err != nil {
		return err
	}
	one, other := r.Sides[active], r.Sides[1-active]
	want := float64(v.Int("state")<<20) * 0.9
	err = benchtest.Until(ctx, "the inbox fills", func() (bool, error) {
		size := int64(0)
		err := filepath.Walk(one.Data(), func(_ string, f os.FileInfo, err error) error {
			if err == nil {
				size += f.Size()
			}
			return nil
		})
		return float64(size) >= want, err
	})
	if err != nil {
		return err
	}
	if err := errors.Join(other.Kill(), os.RemoveAll(other.Data())); err != nil {
		return err
	}
	for _, p := range r.programs {
		p.Mark()
	}
	began := time.Now()
	if err := other.Start(); err != nil {
		return err
	}
	if _, err := r.whole(ctx); err != nil {
		return err
	}
	r.report("whole after", time.Since(began).Seconds(), "s")
	longest := time.Duration(0)
	for _, p := range r.programs {
		longest = max(longest, p.Longest())
	}
	r.report("longest silence", float64(longest)/1e6, "ms")
	return r.judge(ctx)
}
