package callboard

import (
	"fmt"
	"time"
)

// sequence follows one source's notifications, whatever connection they come
// over. Each connection counts besides what it has brought (connection.wire),
// beginning behind what its hello told. So what was given already comes again
// after a hand-over, and is dropped.
type sequence struct {
	given   uint64    // last seq that went into the queue
	handled uint64    // last seq that the program has handled
	acked   uint64    // last seq acknowledged, or told in the hello of the connection in use
	bytes   int       // of what was handled and is not acknowledged
	at      time.Time // when given came
	prompt  bool      // only subscriptions that keep the latest wanted the last one: the next waits for its acknowledgement
}

// notify takes a notification's numbers; wire is the last one that came over
// its connection. fresh: it is to be delivered, and passed is how many numbers
// were passed over since the last one that was. A fault says what was expected.
func (s *sequence) notify(wire *uint64, seq, skipped uint64) (fresh bool, passed uint64, fault string) {
	switch {
	case seq <= *wire:
		return false, 0, fmt.Sprintf("notification %d came again, the last one was %d", seq, *wire)
	case skipped >= seq || seq-skipped != *wire+1:
		fault = fmt.Sprintf("notification %d (skipped %d) follows %d, expected %d", seq, skipped, *wire, *wire+1+skipped)
	}
	*wire = seq
	if seq <= s.given {
		return false, 0, fault
	}
	if fault == "" { // some of what it skips may have been given before
		skipped = seq - s.given - 1
	}
	s.given = seq
	return true, skipped, fault
}

// gap takes a gap's numbers and returns the first one that is news. fresh: the
// gap is to be delivered.
func (s *sequence) gap(wire *uint64, from, to uint64) (first uint64, fresh bool, fault string) {
	if from == 0 || to < from {
		return 0, false, fmt.Sprintf("gap from %d to %d", from, to)
	}
	if from != *wire+1 {
		fault = fmt.Sprintf("gap from %d follows %d, expected %d", from, *wire, *wire+1)
	}
	*wire = max(*wire, to)
	if to <= s.given {
		return 0, false, fault
	}
	first = max(from, s.given+1)
	s.given = to
	return first, true, fault
}

// handle counts a seq that the program has handled.
func (s *sequence) handle(seq uint64, bytes int) {
	s.handled = max(s.handled, seq)
	s.bytes += bytes
}

// due is how many handled numbers are not acknowledged, of those up to wire: a
// broker that took over must first have them itself to be told that they are
// handled.
func (s *sequence) due(wire uint64) uint64 {
	if up := min(s.handled, wire); up > s.acked {
		return up - s.acked
	}
	return 0
}

// ack returns the number to acknowledge and counts it as told.
func (s *sequence) ack(wire uint64) uint64 {
	s.acked, s.bytes = min(s.handled, wire), 0
	return s.acked
}
