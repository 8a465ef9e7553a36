package bench

import (
	"context"
	"fmt"
	"runtime"
	"runtime/debug"
	"slices"
	"time"

	"callboard/subscribe"
	"callboard/subscribe/protocol"

	"golang.org/x/sync/errgroup"
)

// match measures the matcher alone: readings against many subscriptions.
func match() Workload {
	return Workload{
		Name:    "match",
		Summary: "a reading against many subscriptions, beside what else could test it",
		About: `Tests laser scans of some robots, with their positions, against many
subscriptions, each a client's. What is measured, in one run, is
what it takes to find all subscriptions that a reading matches:

  indexed      the matcher
  scan         plain expr, every condition, one reused machine (over at most
               100,000 subscriptions, and those that compile in 8 s; more are
               reckoned from these)
  robot-hash   the same, but only conditions that ask for this robot, or for none
  floor        a bare map from robot to an array sorted by the threshold on
               laser.min, of which each match is visited

and of the matcher the live heap for each subscription, and what it takes to
install or to remove one more, without compiling it.

  two predicates   robot == "r7" && laser.min < 1.5
  mixed            three to eight predicates, with or and not; each tenth without
                   a robot
  zipf             two predicates, of which few texts have most subscriptions
  residue          two predicates, but 10 % that no index knows`,
		Examples: []string{
			"callboard bench match",
			`callboard bench match --subscriptions 100000 --workload "two predicates" --selectivity 0.001 --json`,
		},
		Parameters: []Parameter{
			{"subscriptions", "`N` of subscriptions (default 1000, 10000, 100000 and 1000000 in turn)", 0},
			{"workload", "`W`: two predicates, mixed, zipf or residue", "two predicates"},
			{"selectivity", "the `SHARE` of the subscriptions that a reading matches, from 0.00001 to 0.1", 0.001},
		},
		Run: runMatch,
	}
}

func runMatch(ctx context.Context, v Values, report func(Result)) error {
	kind, selectivity := v.Text("workload"), v.Float("selectivity")
	if !slices.Contains(matchKinds, kind) {
		return fmt.Errorf("--workload is %q, expected two predicates, mixed, zipf or residue", kind)
	}
	if !(selectivity >= 1e-5 && selectivity <= 1e-1) {
		return fmt.Errorf("--selectivity is %v, expected 0.00001 to 0.1", selectivity)
	}
	sizes := []int{1_000, 10_000, 100_000, 1_000_000}
	if n := v.Int("subscriptions"); n != 0 {
		if n < 1 {
			return fmt.Errorf("--subscriptions is %d, expected at least 1", n)
		}
		sizes = []int{n}
	}
	for _, n := range sizes {
		r := matchRun{kind: kind, selectivity: selectivity, n: n, report: report}
		if err := r.run(ctx); err != nil {
			return err
		}
	}
	return nil
}

// matchRun measures one size of one workload.
type matchRun struct {
	kind        string
	selectivity float64
	n           int
	report      func(Result)
}

func (r *matchRun) figure(metric string, value float64, unit string) {
	r.report(Result{Case: fmt.Sprintf("%s, selectivity %v", r.kind, r.selectivity), Metric: metric, Value: value, Unit: unit})
}

func (r *matchRun) run(ctx context.Context) error {
	r.figure("subscriptions", float64(r.n), "1")
	// The collector is not what is measured: it runs when there is need.
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(max(2<<30, int64(r.n)*2500)))
	texts := newMatchTexts(r.kind, r.selectivity, r.n)
	before := heap()
	m, err := r.fill(ctx, texts)
	if err != nil {
		return err
	}
	r.figure("bytes", (float64(heap())-float64(before))/float64(r.n), "B")
	if err := r.changes(m, texts); err != nil {
		return err
	}
	if err := r.compare(ctx, m, texts); err != nil {
		return err
	}
	runtime.KeepAlive(m)
	return nil
}

// fill makes a matcher with all subscriptions.
func (r *matchRun) fill(ctx context.Context, texts *matchTexts) (*subscribe.Matcher, error) {
	m, err := subscribe.New(subscribe.Config{})
	if err != nil {
		return nil, err
	}
	// As a broker does after a restart: what clients' connections compile side
	// by side goes in as one change of many sets.
	together := max(1000, r.n/8)
	for from := 0; from < r.n && ctx.Err() == nil; from += together {
		sets := make([]subscribe.Set, min(together, r.n-from))
		if err := compileSets(m, texts, from, sets); err != nil {
			return nil, err
		}
		m.Prepare(sets).Publish()
	}
	return m, ctx.Err()
}

// compileSets compiles a set of one subscription each, from a number on, on all
// processors.
func compileSets(m *subscribe.Matcher, texts *matchTexts, from int, sets []subscribe.Set) error {
	var group errgroup.Group
	workers := runtime.GOMAXPROCS(0)
	for w := range workers {
		group.Go(func() error {
			for i := w; i < len(sets); i += workers {
				sub, problem := m.Compile(protocol.Subscription{ID: "near", Condition: texts.text(from + i)})
				if problem != nil {
					return problem
				}
				sets[i] = subscribe.Set{Key: subscribe.Key(from + i), Subscriptions: []*subscribe.Subscription{sub}}
			}
			return nil
		})
	}
	return group.Wait()
}

// changes measures what one more subscription takes.
func (r *matchRun) changes(m *subscribe.Matcher, texts *matchTexts) error {
	const more = 500
	var sets [][]*subscribe.Subscription
	for i := range more {
		sub, problem := m.Compile(protocol.Subscription{ID: "near", Condition: texts.text(r.n + i)})
		if problem != nil {
			return problem
		}
		sets = append(sets, []*subscribe.Subscription{sub})
	}
	began := time.Now()
	for i, set := range sets {
		m.Install(subscribe.Key(r.n+i), set)
	}
	installed := time.Now()
	for i := range sets {
		m.Remove(subscribe.Key(r.n + i))
	}
	removed := time.Now()
	r.figure("install", float64(installed.Sub(began))/more, "ns")
	r.figure("remove", float64(removed.Sub(installed))/more, "ns")
	return nil
}

// compare measures readings by all methods. Those that are much alike are
// measured in turn, so that noise meets both; and what allocates comes last,
// so that its garbage is collected at its own expense.
func (r *matchRun) compare(ctx context.Context, m *subscribe.Matcher, texts *matchTexts) error {
	readings := texts.readings(256)
	floor, indexed := newFloorMatch(texts, r.n), newIndexedMatch(m, texts)
	matches := 0
	for i := range readings {
		matches += indexed.match(&readings[i])
	}
	r.figure("matches", float64(matches)/float64(len(readings)), "1")
	runtime.GC()
	r.measure(readings, 16, 1, method{"indexed", indexed.match}, method{"floor", floor.match})

	plain, err := newPlainMatch(ctx, texts, min(r.n, maxPlain), plainTime)
	if err != nil {
		return err
	}
	all := float64(r.n) / float64(plain.n)
	r.measure(readings, 1, all, method{"robot-hash", plain.ofRobot})
	r.measure(readings, 1, all, method{"scan", plain.scan})
	return nil
}

// How many conditions plain expr gets, and how long it may take to compile
// them.
const (
	maxPlain  = 100_000
	plainTime = 8 * time.Second
)

type method struct {
	metric string
	match  func(*matchReading) int
}

// measure reports the median of rounds, each of least readings or more.
func (r *matchRun) measure(readings []matchReading, least int, scale float64, methods ...method) {
	const (
		rounds  = 9
		atLeast = 40 * time.Millisecond // a round
	)
	times := make([][]float64, len(methods))
	for round := range rounds {
		for k, w := range methods {
			done, began, took := 0, time.Now(), time.Duration(0)
			for done < least || took < atLeast {
				for range least {
					w.match(&readings[(round*29+done)%len(readings)])
					done++
				}
				took = time.Since(began)
			}
			times[k] = append(times[k], float64(took)/float64(done)*scale)
		}
	}
	for k, w := range methods {
		slices.Sort(times[k])
		r.figure(w.metric, times[k][rounds/2], "ns")
	}
}

// heap is the live memory, in bytes.
func heap() uint64 {
	runtime.GC()
	runtime.GC()
	var s runtime.MemStats
	runtime.ReadMemStats(&s)
	return s.HeapAlloc
}
