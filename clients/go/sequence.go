package callboard

import "fmt"

// sequence follows one source's notifications. Three numbers: what the wire
// has brought since the last hello, what the program was given, and what it
// has handled. After a resume the wire begins again behind handled, so what
// was given already comes again and is dropped.
type sequence struct {
	wire    uint64 // last seq that came over this connection, or told in hello
	given   uint64 // last seq that went into the queue
	handled uint64 // last seq that the program has handled
	acked   uint64 // last seq acknowledged to the broker
	bytes   int    // of what was handled and is not acknowledged
}

// notify takes a notification's numbers. fresh: it is to be delivered. A
// fault says what was expected.
func (s *sequence) notify(seq, skipped uint64) (fresh bool, fault string) {
	switch {
	case seq <= s.wire:
		return false, fmt.Sprintf("notification %d came again, the last one was %d", seq, s.wire)
	case skipped >= seq || seq-skipped != s.wire+1:
		fault = fmt.Sprintf("notification %d (skipped %d) follows %d, expected %d", seq, skipped, s.wire, s.wire+1+skipped)
	}
	s.wire = seq
	if seq <= s.given {
		return false, fault
	}
	s.given = seq
	return true, fault
}

// gap takes a gap's numbers and gives the first one that is news. fresh: the
// gap is to be delivered.
func (s *sequence) gap(from, to uint64) (first uint64, fresh bool, fault string) {
	if from == 0 || to < from {
		return 0, false, fmt.Sprintf("gap from %d to %d", from, to)
	}
	if from != s.wire+1 {
		fault = fmt.Sprintf("gap from %d follows %d, expected %d", from, s.wire, s.wire+1)
	}
	if to > s.wire {
		s.wire = to
	}
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

// due is how many handled numbers are not acknowledged.
func (s *sequence) due() uint64 { return s.handled - s.acked }

// ack gives the number to acknowledge and counts it as told.
func (s *sequence) ack() uint64 {
	s.acked, s.bytes = s.handled, 0
	return s.handled
}

// resume begins a connection whose hello tells handled.
func (s *sequence) resume() {
	s.wire = s.handled
	s.acked, s.bytes = s.handled, 0
}
