package bench

import (
	"context"
	"fmt"
	"time"

	"callboard/bridge/multicast/multicasttest"
)

// multicast measures the multicast of a segment.
func multicast() Workload {
	return Workload{
		Name:    "multicast",
		Summary: "multicast between brokers of a segment, simulated",
		About: `Measures the rules by which brokers of a segment multicast to each other and repair
what is lost, in virtual time: the real code seals, sends, asks and merges, and
only the network is simulated (1 Gbit/s, 200 ± 100 µs each way, in order). Loss is
of each receiver alone, or of all at once. From message to delivery, what was
repaired included:

  delay            of each delivery
  NACKs            for each datagram that was lost
  bytes            on the sender's and the members' wires, for each message, with
                   the heads of Ethernet, IP and UDP

A loss, a double, or disorder is an error.`,
		Examples: []string{
			"callboard bench multicast",
			"callboard bench multicast --deliveries 30000000 --json",
		},
		Parameters: []Parameter{
			{"deliveries", "`N` of deliveries in each case", 100000},
			{"bytes", "of a message, a `NUMBER`", 256},
			{"seed", "of the losses, a `NUMBER`", 1},
		},
		Run: runMulticast,
	}
}

func runMulticast(ctx context.Context, v Values, report func(Result)) error {
	for name, least := range map[string]int{"deliveries": 100, "bytes": 1, "seed": 0} {
		if v.Int(name) < least {
			return fmt.Errorf("--%s is %d, expected at least %d", name, v.Int(name), least)
		}
	}
	if v.Int("bytes") > 500_000 {
		return fmt.Errorf("--bytes is %d, expected up to 500000", v.Int("bytes"))
	}
	for _, c := range multicastCases() {
		c.Seed, c.Bytes, c.Messages = uint64(v.Int("seed")), v.Int("bytes"), max(1, v.Int("deliveries")/c.Members)
		c.Stop = func() bool { return ctx.Err() != nil }
		f, err := multicasttest.Measure(c)
		if err != nil {
			return err
		}
		reportMulticast(c, f, report)
	}
	return nil
}

// multicastCases are the loads that are measured.
func multicastCases() (all []multicasttest.Load) {
	for _, members := range []int{2, 5, 15, 50} {
		for _, loss := range []float64{0, 0.0001, 0.001, 0.01, 0.05} {
			all = append(all, multicasttest.Load{Members: members, Rate: 1000, Loss: loss})
		}
	}
	return append(all,
		multicasttest.Load{Members: 15, Rate: 1000, Shared: 0.01},
		multicasttest.Load{Members: 2, Rate: 20_000, Loss: 0.0001},
		multicasttest.Load{Members: 15, Rate: 20_000, Loss: 0.0001},
		multicasttest.Load{Members: 15, Rate: 20_000, Loss: 0.001, Shared: 0.0001},
	)
}

func reportMulticast(c multicasttest.Load, f *multicasttest.Figures, report func(Result)) {
	name := fmt.Sprintf("%d members, %d messages/s, %g %% lost", c.Members, c.Rate, 100*c.Loss)
	if c.Shared > 0 {
		name += fmt.Sprintf(", %g %% by all", 100*c.Shared)
	}
	all := []Result{
		{Metric: "deliveries", Value: float64(f.Delivered), Unit: "1"},
		{Metric: "lost, doubled or out of order", Value: 0, Unit: "1"}, // else it is an error
	}
	for _, q := range []struct {
		name string
		q    float64
	}{{"p50", 0.5}, {"p99", 0.99}, {"p99.9", 0.999}, {"p99.99", 0.9999}} {
		all = append(all, Result{Metric: "delay, " + q.name, Value: float64(f.Delays.Quantile(q.q)) / float64(time.Millisecond), Unit: "ms"})
	}
	if f.Losses > 0 {
		all = append(all, Result{Metric: "NACKs for each loss", Value: f.Each(), Unit: "1"})
	}
	all = append(all, Result{Metric: "bytes for each message", Value: f.Wire, Unit: "B"})
	for _, one := range all {
		one.Case = name
		report(one)
	}
}
