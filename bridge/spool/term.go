package spool

import (
	"encoding/binary"
	"errors"
	"slices"
)

// Position is where the store of one side of a pair has come to: the number of its
// last batch, and the term in which that was appended. Term 0: by a broker that
// was none of a pair.
type Position struct{ Number, Term uint64 }

// maxTerms is how many terms a store remembers; of more it keeps the newest half.
const maxTerms = 4096

// Position returns where the store has come to.
func (s *Store) Position() Position {
	s.mu.Lock()
	defer s.mu.Unlock()
	return Position{s.batch, s.term()}
}

// Terms returns the terms that the store leads through, in order.
func (s *Store) Terms() []uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.terms)
}

// term is that of the last batch.
func (s *Store) term() uint64 {
	if n := len(s.terms); n > 0 {
		return s.terms[n-1]
	}
	return 0
}

// begins says that the next batch is of another term. 0: what comes is of no pair,
// and leads nobody from the terms that were.
func (s *Store) begins(term uint64) {
	switch {
	case term == 0:
		s.terms = nil
	case len(s.terms) >= maxTerms:
		s.terms = append(slices.Clone(s.terms[maxTerms/2:]), term)
	default:
		s.terms = append(s.terms, term)
	}
	s.termsDirty = true
}

// appendTerms writes terms as distances.
func appendTerms(b []byte, all []uint64) []byte {
	before := uint64(0)
	for _, t := range all {
		b = binary.AppendUvarint(b, t-before)
		before = t
	}
	return b
}

func parseTerms(b []byte) (all []uint64, err error) {
	d := &decoder{b: b}
	last := uint64(0)
	for len(d.b) > 0 {
		t := last + d.uvarint()
		if d.err == nil && t <= last {
			d.fail(errors.New("its terms do not grow"))
		}
		all, last = append(all, t), t
	}
	return all, d.err
}
