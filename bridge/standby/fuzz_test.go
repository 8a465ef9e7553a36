package standby

import (
	"encoding/binary"
	"testing"

	"callboard/bridge/overlay"
)

// FuzzMachine: whatever the other side and the witness send, a side does not panic,
// its store only grows but for a snapshot, and no more goes out than is stored.
func FuzzMachine(f *testing.F) {
	f.Add([]byte{0, 0})
	for kind := range byte(14) {
		f.Add([]byte{1, kind, 3, 5, 3, 1, 2, 0, 13, 1, 2, 3, 5, 8, 1, 0, 0})
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		r := &random{b}
		m, err := New(Config{Side: Side(r.number() % 2), Life: 1 + r.number()%3, Witness: r.number()%2 == 0, TakeOverAfter: overlay.Duration(r.number() % 3 * 50_000), MaxBatches: 3},
			Left{State: State{Term: Term(r.number()), Stands: Stands(r.number() % 4)}, Last: Position{Index: r.number() % 8}}, 1_000_000)
		if err != nil {
			t.Fatal(err)
		}
		now := overlay.Instant(1_000_000)
		for len(r.left) > 0 {
			now += overlay.Instant(r.number() % 40_000)
			before := m.Last()
			m.Step(now, r.input())
			replaced := false
			for _, o := range m.Outputs() {
				if _, is := o.(*Replace); is {
					replaced = true
				}
			}
			if m.Last().Index < before.Index && !replaced {
				t.Fatalf("the store goes back from %v to %v", before, m.Last())
			}
			if m.Released() > m.Last().Index || m.active.pending < 0 {
				t.Fatalf("released up to %d of %d, %d bytes wait", m.Released(), m.Last().Index, m.active.pending)
			}
		}
	})
}

// random makes inputs of bytes.
type random struct{ left []byte }

// number returns a small number, sometimes a great one.
func (r *random) number() uint64 {
	if len(r.left) == 0 {
		return 0
	}
	n := uint64(r.left[0])
	r.left = r.left[1:]
	if n == 255 && len(r.left) >= 8 {
		n = binary.LittleEndian.Uint64(r.left)
		r.left = r.left[8:]
	}
	return n
}

func (r *random) term() Term { return Term(r.number()) }

func (r *random) position() Position { return Position{r.number(), r.term()} }

func (r *random) terms() []Term {
	all := make([]Term, r.number()%4)
	for i := range all {
		all[i] = r.term()
	}
	return all
}

func (r *random) batches() []Batch {
	all := make([]Batch, r.number()%4)
	for i := range all {
		all[i] = Batch{ID: r.term(), Bytes: int(r.number() % 100)}
	}
	return all
}

func (r *random) input() Input {
	line := Line(r.number() % 2)
	switch r.number() % 15 {
	case 0:
		return &Append{Bytes: int(r.number() % 100)}
	case 1:
		return &Dead{}
	case 2:
		return &Switch{Cancel: r.number()%2 == 0}
	case 3:
		return &FromOther{line, &Beat{Life: r.number(), Number: r.number(), Echo: Echo{r.number(), r.number()}, Status: Status{
			Term: r.term(), Stands: Stands(r.number() % 5), Active: r.number()%2 == 0, Lost: r.number()%2 == 0, Last: r.position(), Floor: r.term(), Outer: r.number()%2 == 0,
		}}}
	case 4:
		return &FromOther{line, &Ask{r.number()}}
	case 5:
		return &FromOther{line, &Batches{r.term(), r.position(), r.batches()}}
	case 6:
		return &FromOther{line, &Acked{r.term(), r.position(), Stands(r.number() % 5)}}
	case 7:
		return &FromOther{line, &Snapshot{Term: r.term(), Last: r.position(), Terms: r.terms()}}
	case 8:
		return &FromOther{line, &Join{r.term(), r.position(), r.batches()}}
	case 9:
		return &FromOther{line, &Claim{Number: r.term(), Kind: Kind(r.number() % 5), Base: r.term(), History: r.terms(), Asked: overlay.Instant(r.number()), Shown: r.term()}}
	case 10:
		return &FromOther{line, &Voice{Number: r.term(), Given: r.number()%2 == 0, Newest: r.term(), Asked: overlay.Instant(1_000_000 + r.number())}}
	case 11:
		return &FromWitness{&Voice{Number: r.term(), Given: r.number()%2 == 0, Newest: r.term(), Asked: overlay.Instant(1_000_000 + r.number())}}
	case 12:
		return &FromWitness{&Lease{overlay.Instant(r.number()), r.term()}}
	}
	return &Tick{}
}
