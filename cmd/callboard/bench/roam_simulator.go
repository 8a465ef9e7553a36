package bench

import (
	"context"
	"time"

	"callboard/bridge/link/frame"
	"callboard/bridge/overlay"
	"callboard/bridge/overlay/overlaytest"
)

// simulateRoam runs all cases in the simulator.
func simulateRoam(ctx context.Context, v Values, report func(Result)) error {
	cases := roamCases(v.Int("brokers"))
	for _, c := range cases {
		if err := ctx.Err(); err != nil {
			return err
		}
		r, err := overlaytest.Roam(overlaytest.Roaming{
			Brokers: v.Int("brokers"), Clients: v.Int("programs"), Share: c.share, Distance: c.distance,
			Away: micros(c.away), Hop: micros(v.Duration("delay")), Interval: overlay.Duration(float64(overlay.Second) / v.Float("rate")),
			Until: uint64(max(1, v.Int("simulated")/len(cases))), Seed: uint64(v.Int("seed")), Size: frameSize(), Stop: func() bool { return ctx.Err() != nil },
		})
		if err != nil {
			return err
		}
		reportSimulated("simulator, "+c.name, &r, report)
	}
	return nil
}

func micros(d time.Duration) overlay.Duration { return overlay.Duration(d.Microseconds()) }

func durations(all []overlay.Duration) []time.Duration {
	out := make([]time.Duration, len(all))
	for i, d := range all {
		out[i] = time.Duration(d) * time.Microsecond
	}
	return out
}

// frameSize returns the size of the frames of a session that is not compressed. Names
// that it has told before are short.
func frameSize() func([]overlay.Message) int {
	encoder := frame.NewEncoder()
	var b []byte
	return func(messages []overlay.Message) int {
		var err error
		if b, err = encoder.Append(b[:0], messages); err != nil {
			encoder = frame.NewEncoder()
		}
		return len(b)
	}
}

func reportSimulated(name string, r *overlaytest.Roamed, report func(Result)) {
	moves := float64(max(r.Moves, 1))
	for _, one := range []Result{
		{Metric: "notifications", Value: float64(r.Notifications), Unit: "1"},
		{Metric: "lost, doubled or out of order", Value: 0, Unit: "1"}, // else it is an error
		{Metric: "declared as gaps", Value: float64(r.Gaps), Unit: "1"},
		{Metric: "moves", Value: float64(r.Moves), Unit: "1"},
		{Metric: "messages (hops) of a move", Value: float64(r.Cost.Sum()) / moves, Unit: "1"},
		{Metric: "messages (hops) of a move, at best", Value: float64(r.Optimum.Sum()) / moves, Unit: "1"},
		{Metric: "messages against the optimum", Value: float64(r.Cost.Sum()) / float64(max(r.Optimum.Sum(), 1)), Unit: "ratio"},
		{Metric: "sent again by the source", Value: float64(r.Renewals + r.Resent), Unit: "1"},
		{Metric: "bytes of a move", Value: float64(r.ControlBytes) / moves, Unit: "B"},
		{Metric: "of them replayed notifications", Value: float64(r.ReplayBytes) / moves, Unit: "B"},
		{Metric: "waiting at a broker, at most", Value: float64(r.HighWater), Unit: "1"},
	} {
		one.Case = name
		report(one)
	}
	reportHandOvers(name, durations(r.Silent), durations(r.Complete), r.Trips, report)
}
