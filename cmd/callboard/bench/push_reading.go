package bench

import (
	"context"
	"errors"
	"fmt"
	"runtime"

	"callboard/bridge/benchtest"
)

// warmUp is how many readings go before those that are measured.
const warmUp = 50

// cost is what one reading allocates.
type cost struct{ bytes, allocations float64 }

// runReading measures what a reading allocates on its whole way.
func runReading(ctx context.Context, v Values, report func(Result)) error {
	crowds := []int{1, 10, 100}
	costs := make([]cost, len(crowds))
	size := 0.0
	for i, n := range crowds {
		var err error
		if costs[i], size, err = readingCost(ctx, v, n, 0); err != nil {
			return err
		}
		name := fmt.Sprintf("reading, %d subscribers", n)
		report(Result{Case: name, Metric: "allocated per reading", Value: costs[i].bytes, Unit: "B"})
		report(Result{Case: name, Metric: "allocations per reading", Value: costs[i].allocations, Unit: "1"})
	}
	last := len(crowds) - 1
	more := float64(crowds[last] - crowds[0])
	report(Result{Case: "reading, each further subscriber", Metric: "allocated per reading", Value: (costs[last].bytes - costs[0].bytes) / more, Unit: "B"})
	report(Result{Case: "reading, each further subscriber", Metric: "allocations per reading", Value: (costs[last].allocations - costs[0].allocations) / more, Unit: "1"})
	report(Result{Case: "reading, each further subscriber", Metric: "size of the notification", Value: size, Unit: "B"})

	const far = 9
	with, _, err := readingCost(ctx, v, 1, far)
	if err != nil {
		return err
	}
	report(Result{Case: "reading that matches nobody", Metric: "allocated per reading", Value: max(0, with.bytes-costs[0].bytes) / far, Unit: "B"})
	return nil
}

// readingCost measures rounds of some readings that do not match and one that
// does, and returns a round's cost and a notification's size.
func readingCost(ctx context.Context, v Values, subscribers, far int) (c cost, size float64, err error) {
	fleet, err := benchtest.NewFleet(1, v.Int("beams"))
	if err != nil {
		return c, 0, err
	}
	rounds := v.Int("readings")
	err = withBroker(ctx, fleet, func(b *benchtest.Broker) error {
		crowd, err := b.Crowd(ctx, subscribers, false)
		if err != nil {
			return err
		}
		for range warmUp {
			if err := crowd.Round(ctx, 0, far); err != nil {
				return errors.Join(err, crowd.Close())
			}
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for range rounds {
			if err := crowd.Round(ctx, 0, far); err != nil {
				return errors.Join(err, crowd.Close())
			}
		}
		runtime.ReadMemStats(&after)
		c.bytes = float64(after.TotalAlloc-before.TotalAlloc) / float64(rounds)
		c.allocations = float64(after.Mallocs-before.Mallocs) / float64(rounds)
		size = crowd.Size()
		return crowd.Close()
	})
	return c, size, err
}
