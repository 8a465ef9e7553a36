package callboard

import (
	"context"
	"testing"

	"pgregory.net/rapid"
)

// A source keeps what is not acknowledged and sends it again after each
// resume, conflating at will and telling gaps for what it dropped. However
// connections break, the client gives everything that was not passed over
// once, in order, and no gap or number makes a fault.
func TestSequenceOverResumes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var s sequence
		last := rapid.Uint64Range(1, 60).Draw(t, "last")
		covered := uint64(0) // all numbers up to it were given, passed over, or told as a gap
		var waiting []uint64 // given, not handled
		for connection := 0; covered < last || len(waiting) > 0; connection++ {
			wire := s.handled
			at := wire
			for steps := rapid.IntRange(1, 20).Draw(t, "steps"); steps > 0; steps-- {
				if len(waiting) > 0 && rapid.Bool().Draw(t, "handle") {
					s.handle(waiting[0], 1)
					waiting = waiting[1:]
				}
				if at == last {
					continue
				}
				span := rapid.Uint64Range(1, min(4, last-at)).Draw(t, "span")
				before, to := at, at+span
				at = to
				var fresh bool
				var fault string
				if rapid.IntRange(0, 3).Draw(t, "gap") == 0 {
					var first uint64
					first, fresh, fault = s.gap(&wire, before+1, to)
					if fresh && first != covered+1 {
						t.Fatalf("gap told from %d, expected %d", first, covered+1)
					}
				} else {
					var passed uint64
					fresh, passed, fault = s.notify(&wire, to, span-1)
					if fresh && to != covered+1+passed {
						t.Fatalf("%d after %d, %d skipped", to, covered, passed)
					}
				}
				if fault != "" {
					t.Fatalf("fault: %s", fault)
				}
				if fresh != (to > covered) {
					t.Fatalf("%d: fresh %v, covered up to %d", to, fresh, covered)
				}
				if fresh {
					covered = to
					waiting = append(waiting, to)
				}
			}
			if s.handled > covered {
				t.Fatalf("handled %d, covered %d", s.handled, covered)
			}
			if connection > 10000 {
				t.Fatal("no end")
			}
		}
	})
}

func TestSequenceFaults(t *testing.T) {
	for name, c := range map[string]struct {
		step  func(*sequence, *uint64) (bool, string)
		fresh bool
	}{
		"missing":           {func(s *sequence, w *uint64) (bool, string) { f, _, e := s.notify(w, 7, 0); return f, e }, true},
		"skipped too few":   {func(s *sequence, w *uint64) (bool, string) { f, _, e := s.notify(w, 8, 1); return f, e }, true},
		"skipped too many":  {func(s *sequence, w *uint64) (bool, string) { f, _, e := s.notify(w, 6, 1); return f, e }, true},
		"skipped above all": {func(s *sequence, w *uint64) (bool, string) { f, _, e := s.notify(w, 6, 1<<63); return f, e }, true},
		"again":             {func(s *sequence, w *uint64) (bool, string) { f, _, e := s.notify(w, 5, 0); return f, e }, false},
		"older":             {func(s *sequence, w *uint64) (bool, string) { f, _, e := s.notify(w, 1, 0); return f, e }, false},
		"gap later":         {func(s *sequence, w *uint64) (bool, string) { _, f, e := s.gap(w, 7, 9); return f, e }, true},
		"gap earlier":       {func(s *sequence, w *uint64) (bool, string) { _, f, e := s.gap(w, 3, 9); return f, e }, true},
		"gap backwards":     {func(s *sequence, w *uint64) (bool, string) { _, f, e := s.gap(w, 6, 5); return f, e }, false},
		"gap from nothing":  {func(s *sequence, w *uint64) (bool, string) { _, f, e := s.gap(w, 0, 6); return f, e }, false},
	} {
		s, wire := sequence{given: 5}, uint64(5)
		fresh, fault := c.step(&s, &wire)
		if fault == "" || fresh != c.fresh {
			t.Errorf("%s: fresh %v, fault %q", name, fresh, fault)
		}
	}
}

func TestQueueLimits(t *testing.T) {
	q := newQueue(3, 100)
	if !q.push(item{bytes: 200}) { // one is always taken
		t.Error("the first item was refused")
	}
	if q.push(item{bytes: 1}) {
		t.Error("an item beyond the bytes was taken")
	}
	if len(q.take(t.Context(), nil, 9)) != 1 {
		t.Fatal("not the one that is there")
	}
	for range 3 {
		if !q.push(item{}) {
			t.Error("an item was refused")
		}
	}
	if q.push(item{}) {
		t.Error("an item beyond the count was taken")
	}
	q.force(item{})
	q.close()
	for _, n := range []int{1, 3, 0} {
		if got := len(q.take(t.Context(), nil, max(n, 1))); got != n {
			t.Errorf("%d items, expected %d", got, n)
		}
	}
	q.force(item{})
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if len(q.take(ended, nil, 1)) > 0 {
		t.Error("an item after the end")
	}
	// The memory follows what waits.
	q = newQueue(1<<20, 1<<20)
	var taken []item
	for range 100000 {
		q.push(item{})
		q.push(item{})
		taken = q.take(t.Context(), taken, 1)
		taken = q.take(t.Context(), taken, 1)
	}
	if cap(q.items) > 1024 {
		t.Errorf("room for %d items", cap(q.items))
	}
}
