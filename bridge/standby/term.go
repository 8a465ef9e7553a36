package standby

import (
	"fmt"
	"slices"
)

// Side is one of the two machines of a pair. Neither is preferred.
type Side uint8

// The sides.
const (
	A Side = iota
	B
)

// String returns the letter of the configuration.
func (s Side) String() string { return string(rune('A' + s)) }

// Other returns the side beside s.
func (s Side) Other() Side { return 1 - s }

// Term is a stretch in which one side is active in one way: with a standby in
// step, or alone. Numbers grow. A's are odd and B's are even, so no two terms have
// the same. 0 is none.
type Term uint64

// Of reports whether the term is of side s.
func (t Term) Of(s Side) bool { return t != 0 && t&1 == Term(1-s) }

// after returns the lowest term of side s above t.
func (t Term) after(s Side) Term {
	if t++; !t.Of(s) {
		t++
	}
	return t
}

// Stands is how a side stands in the newest term that it knows.
type Stands uint8

// How a side can stand. All but Out have all that was promised in the term.
const (
	Out   Stands = iota // what it has may lack something
	Both                // it is or was active, with a standby in step
	Alone               // it is or was active, without
	In                  // it is the standby, in step
)

// String returns the word that metrics have.
func (s Stands) String() string {
	switch s {
	case Out:
		return "out"
	case Both:
		return "both"
	case Alone:
		return "alone"
	case In:
		return "in"
	}
	return fmt.Sprintf("stands %d", uint8(s))
}

// maxHistory is how many terms a side remembers of those that its store leads
// through: a client that was served longer ago is told of a gap. maxShown of them
// go into messages.
const (
	maxHistory = 4096
	maxShown   = 64
)

// history are the terms that a store leads through, in order.
type history []Term

func (h history) has(t Term) bool {
	_, found := slices.BinarySearch(h, t)
	return found
}

// with returns the history that t goes on.
func (h history) with(t Term) history {
	if len(h) >= maxHistory {
		h = slices.Clone(h[len(h)-maxHistory/2:])
	}
	return append(h, t)
}

// shown returns the newest terms, as messages carry them.
func (h history) shown() []Term { return slices.Clone(h[max(0, len(h)-maxShown):]) }
