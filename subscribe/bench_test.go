package subscribe

import (
	"fmt"
	"runtime"
	"testing"

	"callboard/player"
	"callboard/player/iface"
	"callboard/subscribe/protocol"
)

// Bytes that an installed subscription keeps, apart from its own texts.
func BenchmarkMemory(b *testing.B) {
	for _, c := range []struct {
		name      string
		n         int
		condition func(int) string
	}{
		{"identical", 100_000, func(int) string { return "laser.min < 0.5" }},
		{"distinct", 10_000, func(i int) string { return fmt.Sprintf("laser.min < %d.5", i) }},
		{"distinct in expr", 10_000, func(i int) string { return fmt.Sprintf("laser.ranges[0] < %d.5", i) }},
	} {
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				m := newMatcher(b)
				before := heap()
				for i := range c.n {
					m.Install(Key(i), []*Subscription{compile(b, m, protocol.Subscription{ID: "a", Condition: c.condition(i)})})
				}
				b.ReportMetric(float64(heap()-before)/float64(c.n), "B/subscription")
				runtime.KeepAlive(m)
			}
		})
	}
}

func heap() uint64 {
	runtime.GC()
	var s runtime.MemStats
	runtime.ReadMemStats(&s)
	return s.HeapAlloc
}

func BenchmarkReading(b *testing.B) {
	data := &iface.LaserData{MinAngle: -1, MaxAngle: 1, MaxRange: 8, Ranges: make([]float32, 181)}
	for i := range data.Ranges {
		data.Ranges[i] = float32(i)*0.03 + 0.5
	}
	for _, c := range []struct {
		name      string
		condition func(int) string
		robots    []string
	}{
		{"no subscription", nil, nil},
		{"1000 identical, none match", func(int) string { return "laser.min < 0.1" }, nil},
		{"1000 distinct, none match", func(i int) string { return fmt.Sprintf("laser.min < 0.0%d", i) }, nil},
		{"1000 distinct in expr, none match", func(i int) string { return fmt.Sprintf("laser.ranges[0] < 0.0%d", i) }, nil},
		{"1000 of other robots", func(i int) string { return fmt.Sprintf("laser.min < %d", i) }, []string{"r2"}},
		{"1000 identical, all match", func(int) string { return "laser.min < 1" }, nil},
		{"1 matches", func(i int) string { return fmt.Sprintf("laser.min < %g", 0.6-float64(i)) }, nil},
	} {
		b.Run(c.name, func(b *testing.B) {
			m := newMatcher(b)
			if c.condition != nil {
				for i := range 1000 {
					m.Install(Key(i), []*Subscription{compile(b, m, protocol.Subscription{ID: "a", Condition: c.condition(i), Robots: c.robots})})
				}
			}
			s := m.NewSession(SessionConfig{Robot: "r1", Emit: func(*Matched) {}})
			s.Up([]*player.Device{laser0})
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				s.Arrive(player.Reading{Device: laser0, Time: float64(i), Payload: data})
			}
		})
	}
}

func BenchmarkInstall(b *testing.B) {
	m := newMatcher(b)
	for i := range 100_000 {
		m.Install(Key(i), []*Subscription{compile(b, m, protocol.Subscription{ID: "a", Condition: "laser.min < 1"})})
	}
	one := []*Subscription{compile(b, m, protocol.Subscription{ID: "a", Condition: "laser.min < 2"})}
	b.ReportAllocs()
	for b.Loop() {
		m.Install(1<<40, one)
		m.Remove(1 << 40)
	}
}
