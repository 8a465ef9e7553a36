package subscribe

import (
	"sync/atomic"

	"callboard/subscribe/view"
)

// Stats are a session's counts since it was made.
type Stats struct {
	Readings uint64            // readings tested (one scan is one)
	Matched  uint64            // of them, those that something matched
	Failures uint64            // expressions that failed while they ran
	Skipped  map[string]uint64 // messages that gave no reading, by reason
}

// counts are kept plain by the session's goroutine and published at the end
// of each call.
type counts struct {
	readings, matched, failures uint64
	err                         error // the last failure

	published [3 + view.NumReasons]atomic.Uint64
}

// count publishes the counts that have changed.
func (s *Session) count() {
	c := &s.counts
	publish := func(i int, n uint64) {
		if c.published[i].Load() != n {
			c.published[i].Store(n)
		}
	}
	publish(0, c.readings)
	publish(1, c.matched)
	publish(2, c.failures)
	for r := range view.NumReasons {
		publish(3+r, s.robot.Skipped(view.Reason(r)))
	}
}

// Stats counts what a session did, for metrics. Safe for concurrent use.
func (s *Session) Stats() Stats {
	p := &s.counts.published
	out := Stats{Readings: p[0].Load(), Matched: p[1].Load(), Failures: p[2].Load(), Skipped: map[string]uint64{}}
	for r := range view.NumReasons {
		if n := p[3+r].Load(); n > 0 {
			out.Skipped[view.Reason(r).String()] = n
		}
	}
	return out
}
