package bench

import (
	"context"
	"fmt"
	"slices"
	"time"

	"callboard/bridge/overlay"
	"callboard/bridge/overlay/overlaytest"
)

// adhoc measures brokers that move.
func adhoc() Workload {
	return Workload{
		Name:    "adhoc",
		Summary: "brokers that all move: what arrives, when, and what it costs",
		About: `Measures networks without a configured link, in simulated time: robots wander
(random waypoint), each with a broker that reads it and a program there that
subscribes to other robots. The brokers' real rules run, and their beacons; a
beacon arrives the less often the farther it has to go, and a frame takes as many
sendings. Beside them are flooding, which sends every reading over every link, and an
oracle, which knows all links at any time. Figures:

  live     delay of readings given while a path of links had existed for two periods
           (2 s), and what they would have taken on the oracle's path
  steady   the same while the oracle's path had been the same for two periods: what
           is promised
  stretch  what routes cost against the oracle's paths
  control  bytes of all but readings, beacons included, against what flooding spends

In the end all robots meet. A loss, a double, or disorder is an error; what nobody
could reach for longer than it is kept is declared as a gap.`,
		Examples: []string{
			"callboard bench adhoc",
			"callboard bench adhoc --brokers 100 --degree 8 --life 10 --json",
			"callboard bench adhoc --notifications 10000000",
		},
		Parameters: []Parameter{
			{"brokers", "`N` of them (default 20, 50 and 100)", 0},
			{"degree", "brokers in range of one on average, a `NUMBER` (default 2, 4 and 8)", 0.0},
			{"life", "of a link on average, in `SECONDS` (default 3, 15 and 60)", time.Duration(0)},
			{"wants", "`N` of robots that each program subscribes to", 4},
			{"rate", "readings a second of each robot, in `HZ`", 10.0},
			{"bytes", "of a reading on a link, a `NUMBER`", 1167},
			{"delay", "of one sending over a link, in `SECONDS`", 5 * time.Millisecond},
			{"notifications", "`N` of them in all cases together", 270000},
			{"seed", "of the moves, a `NUMBER`", 1},
		},
		Run: runAdhoc,
	}
}

func runAdhoc(ctx context.Context, v Values, report func(Result)) error {
	for name, least := range map[string]int{"brokers": 0, "wants": 1, "bytes": 1, "notifications": 1, "seed": 0} {
		if v.Int(name) < least {
			return fmt.Errorf("--%s is %d, expected at least %d", name, v.Int(name), least)
		}
	}
	if v.Int("brokers") == 1 || v.Int("brokers") > 500 {
		return fmt.Errorf("--brokers is %d, expected 2 to 500", v.Int("brokers"))
	}
	if v.Float("rate") <= 0 || v.Float("degree") < 0 || v.Duration("life") < 0 || v.Duration("delay") <= 0 {
		return fmt.Errorf("--rate, --degree, --life and --delay have to be more than 0")
	}
	cases := adhocCases(v)
	for _, c := range cases {
		if err := ctx.Err(); err != nil {
			return err
		}
		c.Wants, c.Interval, c.Reading = v.Int("wants"), overlay.Duration(float64(overlay.Second)/v.Float("rate")), v.Int("bytes")
		c.Hop, c.Until, c.Seed = micros(v.Duration("delay")), uint64(max(1, v.Int("notifications")/len(cases))), uint64(v.Int("seed"))
		c.Size, c.Stop = frameSize, func() bool { return ctx.Err() != nil }
		name := fmt.Sprintf("%d brokers, degree %.3g, links live %.3g s", c.Brokers, c.Degree, float64(c.Life)/float64(overlay.Second))
		r, err := overlaytest.Wander(c)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		reportAdhoc(name, &r, report)
	}
	return nil
}

func adhocCases(v Values) (all []overlaytest.Field) {
	brokers, degrees, lives := []int{20, 50, 100}, []float64{2, 4, 8}, []time.Duration{3 * time.Second, 15 * time.Second, time.Minute}
	if n := v.Int("brokers"); n > 0 {
		brokers = []int{n}
	}
	if d := v.Float("degree"); d > 0 {
		degrees = []float64{d}
	}
	if l := v.Duration("life"); l > 0 {
		lives = []time.Duration{l}
	}
	for _, n := range brokers {
		for _, d := range degrees {
			for _, l := range lives {
				all = append(all, overlaytest.Field{Brokers: n, Degree: d, Life: micros(l)})
			}
		}
	}
	return all
}

func reportAdhoc(name string, r *overlaytest.Wandered, report func(Result)) {
	rest := []Result{
		{Metric: "notifications", Value: float64(r.Notifications), Unit: "1"},
		{Metric: "lost, doubled or out of order", Value: 0, Unit: "1"}, // else it is an error
		{Metric: "declared as gaps", Value: float64(r.Gaps), Unit: "1"},
		{Metric: "simulated", Value: r.Seconds, Unit: "s"},
		{Metric: "degree", Value: r.Degree, Unit: "1"},
		{Metric: "life of links", Value: r.Life, Unit: "s"},
		{Metric: "pairs with a path", Value: r.Reach, Unit: "ratio"},
	}
	for _, d := range []struct {
		name       string
		took, best []overlay.Duration
	}{{"live", r.Live, r.LiveBest}, {"steady", r.Steady, r.SteadyBest}} {
		slices.Sort(d.took)
		slices.Sort(d.best)
		for _, q := range []struct {
			name string
			q    float64
		}{{"p50", 0.5}, {"p99", 0.99}} {
			took, best := quantile(d.took, q.q), quantile(d.best, q.q)
			rest = append(rest, Result{Metric: d.name + ", " + q.name, Value: float64(took) / 1000, Unit: "ms"},
				Result{Metric: d.name + ", " + q.name + " of the oracle", Value: float64(best) / 1000, Unit: "ms"})
			if best > 0 {
				rest = append(rest, Result{Metric: d.name + ", " + q.name + " against the oracle", Value: float64(took) / float64(best), Unit: "ratio"})
			}
		}
	}
	rest = append(rest,
		Result{Metric: "stretch", Value: r.Stretch, Unit: "ratio"},
		Result{Metric: "stretch, steady", Value: r.SteadyStretch, Unit: "ratio"},
		Result{Metric: "control", Value: float64(r.Control) / r.Seconds, Unit: "B/s"},
		Result{Metric: "of them beacons", Value: float64(r.Beacons) / r.Seconds, Unit: "B/s"},
		Result{Metric: "readings", Value: float64(r.Data) / r.Seconds, Unit: "B/s"},
		Result{Metric: "flooding", Value: float64(r.Flooding) / r.Seconds, Unit: "B/s"},
		Result{Metric: "control against flooding", Value: float64(r.Control) / float64(max(r.Flooding, 1)), Unit: "ratio"},
		Result{Metric: "keys that moved to a better path", Value: float64(r.Improved), Unit: "1"},
		Result{Metric: "renewals", Value: float64(r.Renewals), Unit: "1"},
	)
	for _, one := range rest {
		one.Case = name
		if one.Value == one.Value { // nobody was in range: there is no such figure
			report(one)
		}
	}
}
