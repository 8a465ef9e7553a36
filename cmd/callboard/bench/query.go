package bench

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"callboard/bridge/search"
	"callboard/player/run"
	"callboard/subscribe/protocol"
	"callboard/subscribe/query"
)

// queryBench measures conditions over a recorded run.
func queryBench() Workload {
	return Workload{
		Name:    "query",
		Summary: "conditions over a Player log, beside a plain loop",
		About: `Writes a Player log of some robots with lasers, sonars and positions, the same for
a seed, and runs conditions over it, in turn and in one run, by:

  1 core, 2 cores  callboard query, notifications in JSON, on so many processors
  plain            a loop that splits lines, parses with strconv.ParseFloat and
                   runs the same conditions in plain expr, on one processor

  bulk    laser.min < 0.6005 && position.speed > 0.2: most of the log is lasers
  other   position.speed > 0.55: of the log's bulk no condition asks

times-plain is how many times as fast as the plain loop it is. max-rss is the most
memory that the whole process had, log writing and plain loop included. With
--size 5000 the log has 5 GB: it is written to --dir, and removed. --plain=false
leaves the plain loop out.`,
		Examples: []string{
			"callboard bench query",
			"callboard bench query --size 5000 --rounds 1 --plain=false --json",
		},
		Parameters: []Parameter{
			{"size", "the log's size in `MB`", 100},
			{"rounds", "`N` of rounds, of which the median counts", 5},
			{"plain", "run the plain loop, too", true},
			{"seed", "`N` that the log is made of", 1},
			{"dir", "`DIR` for the log (default the system's for temporary files)", ""},
		},
		Run: runQuery,
	}
}

// queryCase is a condition, and the same in the plain loop's words.
type queryCase struct{ name, condition string }

var queryCases = []queryCase{
	{"bulk", "laser.min < 0.6005 && position.speed > 0.2"},
	{"other", "position.speed > 0.55"},
}

func runQuery(ctx context.Context, v Values, report func(Result)) error {
	dir, err := os.MkdirTemp(v.Text("dir"), "callboard-query-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	name := filepath.Join(dir, "run.log")
	lines, err := writeQueryLog(ctx, name, int64(v.Int("size"))*1e6, int64(v.Int("seed")))
	if err != nil {
		return err
	}
	for _, c := range queryCases {
		if err := c.measure(ctx, name, v.Int("rounds"), v.Switch("plain"), lines, report); err != nil {
			return err
		}
	}
	if rss := peakMemoryOf(nil); rss > 0 {
		report(Result{Case: "all", Metric: "max-rss", Value: float64(rss) / 1e6, Unit: "MB"})
	}
	return nil
}

// measure runs a case by all methods, in turn.
func (c queryCase) measure(ctx context.Context, name string, rounds int, plain bool, lines int64, report func(Result)) error {
	info, err := os.Stat(name)
	if err != nil {
		return err
	}
	methods := []struct {
		name string
		run  func() (uint64, error)
	}{
		{"plain", func() (uint64, error) {
			return onProcessors(1, func() (uint64, error) { return plainQuery(ctx, name, c.condition) })
		}},
		{"1 core", func() (uint64, error) {
			return onProcessors(1, func() (uint64, error) { return searchQuery(ctx, name, c.condition) })
		}},
		{"2 cores", func() (uint64, error) {
			return onProcessors(2, func() (uint64, error) { return searchQuery(ctx, name, c.condition) })
		}},
	}
	if !plain {
		methods = methods[1:]
	}
	times, found := make([][]time.Duration, len(methods)), make([]uint64, len(methods))
	for range rounds {
		for i, m := range methods {
			runtime.GC()
			began := time.Now()
			if found[i], err = m.run(); err != nil {
				return err
			}
			times[i] = append(times[i], time.Since(began))
		}
	}
	for i, n := range found {
		if n != found[0] || n == 0 {
			return fmt.Errorf("%s: %s finds %d readings, %s %d", c.name, methods[i].name, n, methods[0].name, found[0])
		}
	}
	figure := func(metric string, value float64, unit string) {
		report(Result{Case: c.name, Metric: metric, Value: value, Unit: unit})
	}
	figure("matches", float64(found[0]), "1")
	for _, took := range times {
		slices.Sort(took)
	}
	first := quantile(times[0], 0.5)
	for i, m := range methods {
		took := quantile(times[i], 0.5)
		figure(m.name, float64(info.Size())/1e6/took.Seconds(), "MB/s")
		figure(m.name, float64(lines)/took.Seconds(), "1/s")
		if plain && i > 0 {
			figure(m.name+", times plain", float64(first)/float64(took), "1")
		}
	}
	return nil
}

// onProcessors runs on so many processors.
func onProcessors(n int, do func() (uint64, error)) (uint64, error) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(n))
	return do()
}

// searchQuery counts the notifications of a condition by a search.
func searchQuery(ctx context.Context, name, condition string) (uint64, error) {
	f, err := run.Open(name)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	q, err := query.New(query.Config{Subscriptions: []protocol.Subscription{{ID: "query", Condition: condition}}})
	if err != nil {
		return 0, err
	}
	bytes := 0
	s, err := search.New(search.Config{
		Sources: []search.Source{{File: f}}, Query: q,
		Format: protocol.AppendNotifyTail,
		Write:  func(_ uint64, text []byte) error { bytes += len(text); return nil },
	})
	if err != nil {
		return 0, err
	}
	result, err := s.Run(ctx)
	if err != nil {
		return 0, err
	}
	if result.Problems+result.Warnings > 0 {
		return 0, fmt.Errorf("%d problems in %s", result.Problems+result.Warnings, strings.TrimPrefix(name, os.TempDir()))
	}
	return result.Notifications, nil
}
