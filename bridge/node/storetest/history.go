package storetest

import (
	"github.com/google/go-cmp/cmp"

	"callboard/bridge/overlay"
)

// history is what a broker gave to its store over its lives.
type history struct {
	t       TB
	records []overlay.Record
	ends    []end           // of the batches of this life, in front the one before
	warm    *overlay.Broker // restores each record as it comes
}

// end is where a batch ends.
type end struct {
	batch   uint64
	records int
}

// begin starts a broker with what the store has.
func (h *history) begin(life *Life, now overlay.Instant) *Rig {
	kept, err := life.Kept()
	if err != nil {
		h.t.Fatalf("a store that begins refuses: %v", err)
	}
	h.ends = []end{{kept, len(h.records)}}
	h.warm = newBroker(h.t)
	for _, r := range h.records {
		h.warm.Step(now, &overlay.Restore{Records: Clone([]overlay.Record{r})})
	}
	return Begin(h.t, now, life.Records, false, func(records []overlay.Record) {
		before := h.ends[len(h.ends)-1]
		batch := life.Append(records)
		if batch != before.batch+1 && (batch != before.batch || len(records) > 0) {
			h.t.Fatalf("batch %d of %d records follows batch %d", batch, len(records), before.batch)
		}
		for _, r := range Clone(records) {
			h.warm.Step(now, &overlay.Restore{Records: Clone([]overlay.Record{r})})
			h.records = append(h.records, r)
		}
		h.ends = append(h.ends, end{batch, len(h.records)})
	})
}

// crash kills the store, holds what it has then against the records, and goes on
// with a new broker.
func (h *history) crash(life *Life, r *Rig) (*Life, *Rig) {
	h.t.Helper()
	kept, err := life.Kept()
	if err != nil {
		h.t.Fatalf("it refuses: %v", err)
	}
	life = life.Crash(h.t)
	if life.Lost {
		h.t.Fatalf("it says that records may be lost")
	}
	got := Finds(h.t, r.now, life.Records, false)
	if diff := cmp.Diff(Finds(h.t, r.now, h.records, false), finds(start(h.warm, r.now, false, func([]overlay.Record) {}))); diff != "" {
		h.t.Fatalf("a broker that has followed differs (-restored at once +followed):\n%s", diff)
	}
	for i := len(h.ends) - 1; ; i-- {
		diff := cmp.Diff(Finds(h.t, r.now, h.records[:h.ends[i].records], false), got)
		if diff == "" {
			h.records = h.records[:h.ends[i].records]
			return life, h.begin(life, r.now)
		}
		if h.ends[i].batch <= kept {
			h.t.Fatalf("restored differs (-records that were kept +store):\n%s", diff)
		}
	}
}
