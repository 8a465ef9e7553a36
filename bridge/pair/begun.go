package pair

import (
	"errors"
	"slices"

	"callboard/bridge/overlay"
	"callboard/bridge/standby"
)

// ErrStopped says why nothing more of a broker is kept.
var ErrStopped = errors.New("this side of the pair is not active any more")

// Begun is the time in which a side is active. For its broker it is the store
// (node.Store, node.Terms).
type Begun struct {
	StoreLost bool   // for the broker's Start
	First     uint64 // the term with which it begins

	pair    *Pair
	changed chan struct{}

	// Under the pair's lock:
	ended bool
	kept  uint64
	full  bool
	terms []announced // by index
}

// announced is a term of which connections are to be told with what a batch puts
// out, and before what later ones do.
type announced struct {
	index uint64
	term  uint64
}

func newBegun(p *Pair, o *standby.Begin) *Begun {
	return &Begun{StoreLost: o.StoreLost, First: uint64(o.Term), pair: p, changed: make(chan struct{}, 1)}
}

// Append implements node.Store: the batch is written here and sent to the standby.
func (b *Begun) Append(records []overlay.Record) (batch uint64) { return b.AppendBeside(records, nil) }

// AppendBeside implements node.Terms.
func (b *Begun) AppendBeside(records []overlay.Record, beside []byte) (batch uint64) {
	p := b.pair
	own := make([]overlay.Record, len(records))
	bytes := 16 + len(beside)
	for i, r := range records {
		own[i] = r
		bytes += recordBytes
		if g, is := r.(*overlay.GivenRecord); is { // valid until this returns
			own[i] = &overlay.GivenRecord{Reading: g.Reading, At: g.At, Hits: slices.Clone(g.Hits)}
			bytes += len(g.Reading.JSON) + len(g.Reading.Messages) + hitBytes*len(g.Hits)
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if b.ended || p.stops() {
		return p.m.Last().Index + 1 // which is never kept here
	}
	p.step(&standby.Append{Records: own, Beside: beside, Bytes: bytes})
	return p.m.Last().Index
}

// What records, and keys of them, take in a message, in bytes, about.
const (
	recordBytes = 64
	hitBytes    = 12
)

// Kept implements node.Store.
func (b *Begun) Kept() (batch uint64, refused error) {
	b.pair.mu.Lock()
	defer b.pair.mu.Unlock()
	if b.ended {
		return b.kept, ErrStopped
	}
	return b.kept, nil
}

// Changed implements node.Store.
func (b *Begun) Changed() <-chan struct{} { return b.changed }

// Term implements node.Terms.
func (b *Begun) Term(batch uint64) (term uint64) {
	b.pair.mu.Lock()
	defer b.pair.mu.Unlock()
	upTo := 0
	for i, a := range b.terms {
		if a.index < batch {
			upTo = i
		}
	}
	b.terms = b.terms[upTo:] // batches are asked for in order
	if len(b.terms) == 0 {
		return 0
	}
	return b.terms[0].term
}

// Followed implements node.Terms.
func (b *Begun) Followed() bool {
	b.pair.mu.Lock()
	defer b.pair.mu.Unlock()
	return !b.ended && b.pair.m.Stands == standby.Both
}

// Full implements node.Terms.
func (b *Begun) Full() bool {
	b.pair.mu.Lock()
	defer b.pair.mu.Unlock()
	return b.full && !b.ended
}

// Served implements node.Terms.
func (b *Begun) Served(term uint64) bool {
	b.pair.mu.Lock()
	defer b.pair.mu.Unlock()
	return b.pair.m.Served(standby.Term(term))
}

// Newer reports whether a term is above all that this side knows.
func (b *Begun) Newer(term uint64) bool {
	b.pair.mu.Lock()
	defer b.pair.mu.Unlock()
	return standby.Term(term) > b.pair.m.Term
}

func (b *Begun) announce(o *standby.Announce) {
	b.terms = append(b.terms, announced{o.Index, uint64(o.Term)})
	b.signal()
}

// released says up to which batch outputs may go.
func (b *Begun) released(to uint64, full bool) {
	if to != b.kept || full != b.full {
		b.kept, b.full = to, full
		b.signal()
	}
}

// end lets nothing more go.
func (b *Begun) end() {
	b.ended = true
	b.signal()
}

func (b *Begun) signal() {
	select {
	case b.changed <- struct{}{}:
	default:
	}
}
