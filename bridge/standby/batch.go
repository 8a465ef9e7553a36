package standby

import (
	"slices"

	"callboard/bridge/overlay"
)

// Position is where a store has come to: the index of its last batch, and its id.
// The id of a batch is the term that it was stored in. In one term only one side
// stores, one batch an index; so two stores that have the same position have the
// same batches up to there.
type Position struct {
	Index uint64
	ID    Term
}

// Batch is what one step of the broker wants stored, perhaps nothing. A batch
// whose id is not that of the batch before begins its term.
type Batch struct {
	ID      Term
	Records []overlay.Record
	Beside  []byte // what the active has tested, for the standby's robots (R2): it is not stored
	Bytes   int    // that it takes in a message, about
}

// window are the newest batches of a store: what another side may still lack.
type window struct {
	before  Position // of the batch before the first
	batches []Batch
	bytes   int
	most    int // batches
	heavy   int // bytes
}

func (w *window) last() Position {
	if n := len(w.batches); n > 0 {
		return Position{w.before.Index + uint64(n), w.batches[n-1].ID}
	}
	return w.before
}

// has reports whether the batches up to a position are those of this store, and
// those behind it are here. What is of no term may be anybody's.
func (w *window) has(p Position) bool {
	if p.Index > 0 && p.ID == 0 || p.Index < w.before.Index || p.Index > w.last().Index {
		return false
	}
	return w.at(p.Index) == p
}

// at returns the position with an index that is not before the window.
func (w *window) at(index uint64) Position {
	if index == w.before.Index {
		return w.before
	}
	return Position{index, w.batches[index-w.before.Index-1].ID}
}

// batch returns the batch with an index that is in the window.
func (w *window) batch(index uint64) *Batch { return &w.batches[index-w.before.Index-1] }

// behind returns up to n batches behind an index.
func (w *window) behind(index uint64, n int) []Batch {
	all := w.batches[index-w.before.Index:]
	return slices.Clone(all[:min(len(all), n)]) // the window lets go of its own
}

// put appends a batch, and lets go of the oldest as far as the bounds ask for it,
// but of none behind keep.
func (w *window) put(b Batch, keep uint64) {
	w.batches = append(w.batches, b)
	w.bytes += b.Bytes
	for (len(w.batches) > w.most || w.bytes > w.heavy) && w.before.Index < keep {
		w.before = Position{w.before.Index + 1, w.batches[0].ID}
		w.bytes -= w.batches[0].Bytes
		w.batches[0] = Batch{}
		w.batches = w.batches[1:]
	}
}

// replace empties the window: the store has come to a position by a snapshot.
func (w *window) replace(p Position) { w.before, w.batches, w.bytes = p, nil, 0 }
