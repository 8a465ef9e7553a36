package bench

import (
	"context"
	"fmt"
	"slices"
	"time"
)

// roam measures hand-overs of programs that roam.
func roam() Workload {
	return Workload{
		Name:    "roam",
		Summary: "programs that roam among brokers: what hand-overs cost",
		About: `Measures what happens when programs move from broker to broker along a row, while
the broker at its one end gives readings:

  simulator  the brokers' rules in a simulated network where only links take time:
             messages between brokers (each is one hop) against the least that
             there can be (a replay of more than 64 KiB crosses as several, of
             which the least has one), their bytes, how much waits at a broker,
             and how long hand-overs take; for several shares of programs that
             move within a second, lengths of the moves, and absences
  processes  the same with brokers in processes of their own (callboard serve),
             links over TCP that are slow on purpose, robots on TCP, and programs
             on WebSockets: from Move to the first notification at the new broker
             that is news, and to the first reading that was given after Move
             (then all before it has come: the replay is through)

The bar for a hand-over is 3 round trips of the path: from the new broker to the
old one over the junction, or to the source if that is longer. A loss, a double,
or disorder is an error.`,
		Examples: []string{
			"callboard bench roam",
			"callboard bench roam --only simulator --simulated 10000000 --json",
			"callboard bench roam --only processes --notifications 1000000",
		},
		Parameters: []Parameter{
			{"only", "`PART` to measure: simulator or processes (default both)", ""},
			{"brokers", "`N` of brokers in a row", 6},
			{"programs", "`N` of programs that roam", 10},
			{"delay", "that a link takes each way, in `SECONDS`", 10 * time.Millisecond},
			{"rate", "readings a second of the source, in `HZ`", 100.0},
			{"simulated", "`N` of notifications in the simulator, of all cases together", 400000},
			{"notifications", "`N` of notifications through processes, of all cases together", 70000},
			{"seed", "of the moves, a `NUMBER`", 1},
		},
		Run: runRoam,
	}
}

func runRoam(ctx context.Context, v Values, report func(Result)) error {
	for name, least := range map[string]int{"brokers": 2, "programs": 1, "simulated": 1, "notifications": 1, "seed": 0} {
		if v.Int(name) < least {
			return fmt.Errorf("--%s is %d, expected at least %d", name, v.Int(name), least)
		}
	}
	if v.Float("rate") <= 0 || v.Duration("delay") < 0 {
		return fmt.Errorf("--rate is %v and --delay %s, expected more than 0 and at least 0", v.Float("rate"), v.Duration("delay"))
	}
	only := v.Text("only")
	if !slices.Contains([]string{"", "simulator", "processes"}, only) {
		return fmt.Errorf("--only is %q, expected simulator or processes", only)
	}
	if only != "processes" {
		if err := simulateRoam(ctx, v, report); err != nil {
			return fmt.Errorf("simulator: %w", err)
		}
	}
	if only != "simulator" {
		if err := runRoamProcesses(ctx, v, report); err != nil {
			return fmt.Errorf("processes: %w", err)
		}
	}
	return nil
}

// roamCase is one way to roam.
type roamCase struct {
	name     string
	share    float64 // of the programs that move within a second
	distance int     // hops of each move; 0: any
	away     time.Duration
}

// roamCases are those that both parts measure.
func roamCases(brokers int) []roamCase {
	all := []roamCase{
		{name: "1 % of the programs move each second", share: 0.01},
		{name: "10 % of the programs move each second", share: 0.1},
		{name: "50 % of the programs move each second", share: 0.5},
		{name: "moves of 1 hop", share: 0.3, distance: 1},
	}
	for _, hops := range []int{3, 5} {
		if hops < brokers {
			all = append(all, roamCase{name: fmt.Sprintf("moves of %d hops", hops), share: 0.3, distance: hops})
		}
	}
	return append(all,
		roamCase{name: "absent for 1 s", share: 0.3, away: time.Second},
		roamCase{name: "absent for 10 s", share: 0.1, away: 10 * time.Second},
	)
}

// reportHandOvers reports delays, in milliseconds and in round trips of the path.
func reportHandOvers(name string, silent, complete []time.Duration, trips []float64, report func(Result)) {
	slices.Sort(silent)
	slices.Sort(complete)
	slices.Sort(trips)
	for _, q := range []struct {
		name string
		q    float64
	}{{"p50", 0.5}, {"p99", 0.99}} {
		report(Result{Case: name, Metric: "last at the old to first at the new, " + q.name, Value: quantile(silent, q.q).Seconds() * 1e3, Unit: "ms"})
		report(Result{Case: name, Metric: "move to replay complete, " + q.name, Value: quantile(complete, q.q).Seconds() * 1e3, Unit: "ms"})
		if len(trips) > 0 {
			report(Result{Case: name, Metric: "move to replay complete, " + q.name, Value: quantile(trips, q.q), Unit: "round trips"})
		}
	}
}
