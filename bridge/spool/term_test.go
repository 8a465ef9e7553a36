package spool

import (
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"callboard/bridge/node/storetest"
	"callboard/bridge/overlay"
)

// inTerms is a store as a side of a pair uses it: each batch is of a term, which
// is another one now and then.
type inTerms struct {
	*Store
	term uint64
	at   map[uint64]uint64 // terms, by batch
}

func (s *inTerms) Append(records []overlay.Record) uint64 {
	if number := s.Position().Number; number%7 == 3 {
		s.term += 1 + number%3
	}
	number := s.AppendIn(s.term, records)
	s.at[number] = s.term
	return number
}

// sameAs sees that a store has come to where another one had.
func (s *inTerms) sameAs(t storetest.TB, other *Store) {
	t.Helper()
	if diff := cmp.Diff(s.Position(), other.Position()); diff != "" {
		t.Fatalf("position (-before, +after):\n%s", diff)
	}
	if at := s.Position(); at.Number > 0 && s.at[at.Number] != at.Term {
		t.Fatalf("%v is of term %d", at, s.at[at.Number])
	}
	if diff := cmp.Diff(s.Terms(), other.Terms()); diff != "" {
		t.Fatalf("terms (-before, +after):\n%s", diff)
	}
}

// life makes it a store that is tested. next makes, of a life that has ended, the
// store of the next one.
func (s *inTerms) life(t storetest.TB, next func(t storetest.TB, old *Store) *Store) *storetest.Life {
	restored := s.Restored()
	return &storetest.Life{
		Store: s, Records: restored.Records, Lost: restored.Lost,
		Crash: func(t storetest.TB) *storetest.Life {
			after := next(t, s.Store)
			s.sameAs(t, after)
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			return (&inTerms{after, s.term, s.at}).life(t, next)
		},
		Close: func() { s.Close() },
		Rest: func(t storetest.TB) {
			if err := s.commit(); err != nil {
				t.Fatal(err)
			}
		},
	}
}

// TestSide holds the store of a side of a pair against what every store does: as it
// is opened again, and as another one that took its snapshot in the place of what
// it had.
func TestSide(t *testing.T) {
	dirs := 0
	newDir := func() string { dirs++; return filepath.Join(t.TempDir(), "store") }
	first := func(t storetest.TB) *inTerms { return &inTerms{open(t, newDir()), 0, map[uint64]uint64{}} }
	t.Run("opened again", func(t *testing.T) {
		storetest.Test(t, func(t storetest.TB) *storetest.Life {
			return first(t).life(t, func(t storetest.TB, old *Store) *Store {
				dir := newDir()
				copyDir(t, old.cfg.Dir, dir)
				return open(t, dir)
			})
		})
	})
	for _, crash := range []bool{false, true} {
		name := "replaced"
		if crash {
			name = "replaced, then opened again"
		}
		t.Run(name, func(t *testing.T) {
			storetest.Test(t, func(t storetest.TB) *storetest.Life {
				return first(t).life(t, func(t storetest.TB, old *Store) *Store {
					other := open(t, newDir())
					r := storetest.Begin(t, began, nil, false, func(records []overlay.Record) { other.AppendIn(2, records) })
					r.Step(&overlay.Hello{Conn: 1, Client: "z", Subscriptions: []*overlay.Subscription{sub("z", "")}})
					for n := range 3 {
						r.Publish(n, "z")
						if n == 1 {
							other.commit()
						}
					}
					snapshot, err := old.Snapshot()
					if err != nil {
						t.Fatal(err)
					}
					if err := other.Replace(snapshot); err != nil {
						t.Fatal(err)
					}
					if !crash {
						other.restored = Restored{Records: snapshot.Records}
						return other
					}
					dir := newDir()
					copyDir(t, other.cfg.Dir, dir)
					other.Close()
					return open(t, dir)
				})
			})
		})
	}
}

// TestNoPairAnyMore: what a broker without a pair appends is of no term, and no
// history leads to it.
func TestNoPairAnyMore(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "store"))
	defer s.Close()
	s.AppendIn(3, nil)
	s.Append(prelude())
	if at := s.Position(); at != (Position{2, 0}) || len(s.Terms()) > 0 {
		t.Errorf("at %v, terms %v", at, s.Terms())
	}
}
