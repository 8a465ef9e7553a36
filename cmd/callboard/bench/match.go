package bench

import (
	"context"
	"fmt"
	"runtime"
	"time"

	"callboard/player"
	"callboard/player/iface"
	"callboard/subscribe"
	"callboard/subscribe/protocol"
)

// match measures the matcher alone: readings of one robot against many
// subscriptions.
func match() Workload {
	return Workload{
		Name:    "match",
		Summary: "a reading against many subscriptions",
		About: `Tests canned laser scans of one robot against subscriptions of the form
laser.min < C, each C another, of which the given share matches. Reports the
time and the bytes allocated for a reading, and the memory of a subscription.`,
		Examples: []string{"callboard bench match", "callboard bench match --subscriptions 1000 --readings 10000"},
		Parameters: []Parameter{
			{"subscriptions", "`N` of subscriptions, each a client's", 10000},
			{"readings", "`N` of readings tested", 500},
			{"beams", "`N` of ranges of a scan", 181},
			{"matching", "`SHARE` of the subscriptions that a reading matches", 0.001},
		},
		Run: runMatch,
	}
}

func runMatch(ctx context.Context, v Values, report func(Result)) error {
	m, err := subscribe.New(subscribe.Config{})
	if err != nil {
		return err
	}
	n, readings := v.Int("subscriptions"), v.Int("readings")
	before := heap()
	for i := range n {
		if err := ctx.Err(); err != nil {
			return err
		}
		// The scans' nearest range is 5 m.
		limit := 1 + 3*float64(i)/float64(n)
		if float64(i) < v.Float("matching")*float64(n) {
			limit = 6 + float64(i)/float64(n)
		}
		s, problem := m.Compile(protocol.Subscription{ID: "near", Condition: fmt.Sprintf("laser.min < %v", limit)})
		if problem != nil {
			return problem
		}
		m.Install(subscribe.Key(i), []*subscribe.Subscription{s})
	}
	name := fmt.Sprintf("%d subscriptions", n)
	report(Result{Case: name, Metric: "memory per subscription", Value: (float64(heap()) - float64(before)) / float64(n), Unit: "B"})

	matched := 0
	device := &player.Device{Addr: player.Addr{Interf: player.InterfaceLaser}, Robot: "r0"}
	session := m.NewSession(subscribe.SessionConfig{Robot: "r0", Emit: func(got *subscribe.Matched) { matched += len(got.Matches) }})
	session.Up([]*player.Device{device})
	scan := &iface.LaserData{MinAngle: -1.57, MaxAngle: 1.57, Resolution: 0.0175, MaxRange: 8, Ranges: make([]float32, v.Int("beams"))}
	for i := range scan.Ranges {
		scan.Ranges[i] = 5 + float32(i%30)/10
	}
	arrive := func(i int) {
		session.Arrive(player.Reading{Device: device, Subtype: iface.DataLaserScan, Time: float64(i) / 10, Payload: scan})
		session.Flush()
	}
	arrive(0)
	matched = 0
	allocated, began := allocatedBytes(), time.Now()
	for i := range readings {
		if err := ctx.Err(); err != nil {
			return err
		}
		arrive(i + 1)
	}
	took, bytes := time.Since(began), allocatedBytes()-allocated
	report(Result{Case: name, Metric: "time per reading", Value: took.Seconds() / float64(readings) * 1e6, Unit: "us"})
	report(Result{Case: name, Metric: "allocated per reading", Value: float64(bytes) / float64(readings), Unit: "B"})
	report(Result{Case: name, Metric: "matches per reading", Value: float64(matched) / float64(readings), Unit: "1"})
	return nil
}

// heap is the live memory, in bytes.
func heap() uint64 {
	runtime.GC()
	var s runtime.MemStats
	runtime.ReadMemStats(&s)
	return s.HeapAlloc
}

// allocatedBytes is all that was ever allocated.
func allocatedBytes() uint64 {
	var s runtime.MemStats
	runtime.ReadMemStats(&s)
	return s.TotalAlloc
}
