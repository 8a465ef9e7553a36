package spool

import (
	"path/filepath"
	"testing"

	"callboard/bridge/node/storetest"
	"callboard/bridge/overlay"
	"callboard/subscribe/protocol"
)

// TestStates: what a subscription's state is after a restart does not follow from
// the notifications that are left. A broker that starts gives one more, which says
// false, exactly if the state was true.
func TestStates(t *testing.T) {
	given := func(seq uint64, state bool) overlay.Record {
		return &overlay.GivenRecord{
			Reading: &overlay.Reading{Robot: "r0", Interface: "laser", JSON: []byte("{}")},
			Hits:    []overlay.GivenHit{{Handle: 1, Seq: seq, Revision: 1, Names: []protocol.Matched{{ID: "a", State: &state}}}},
		}
	}
	for _, test := range []struct {
		name    string
		records []overlay.Record
		last    uint64 // number given once the broker has started
	}{
		{"true", []overlay.Record{given(1, true)}, 2},
		{"true and acknowledged", []overlay.Record{given(1, true), &overlay.AckedRecord{Handle: 1, Num: 1}}, 2},
		{"false since", []overlay.Record{given(1, true), given(2, false)}, 2},
		{"false since, which is acknowledged", []overlay.Record{given(1, true), given(2, false), &overlay.AckedRecord{Handle: 1, Num: 2}}, 2},
		{"false since, which is a gap", []overlay.Record{given(1, true), given(2, false), &overlay.GapRecord{Handle: 1, From: 2, To: 2, New: 2, Why: overlay.WhyOverflow}}, 2},
		{"false since, which is passed over", []overlay.Record{given(1, true), given(2, false), &overlay.PassedRecord{Handle: 1, From: 2, To: 2}}, 2},
		{"ended since", []overlay.Record{given(1, true), &overlay.StatesEnded{Handle: 1, ID: "a"}}, 1},
		{"another ended since", []overlay.Record{given(1, true), &overlay.StatesEnded{Handle: 1, ID: "b"}}, 2},
		{"ended and true again, which is a gap", []overlay.Record{given(1, true), &overlay.StatesEnded{Handle: 1, ID: "a"}, given(2, true), &overlay.GapRecord{Handle: 1, From: 2, To: 2, New: 2, Why: overlay.WhyOverflow}}, 3},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := t.TempDir()
			s := open(t, filepath.Join(dir, "0"))
			defer s.Close()
			records := append(prelude(), test.records...)
			s.Append(records)
			check := func(what string, records []overlay.Record) {
				t.Helper()
				r := storetest.Begin(t, now, records, false, func([]overlay.Record) {})
				if last := r.Broker.Clients()[0].Sources[0].Last; last != test.last {
					t.Errorf("%s: the last number is %d, expected %d", what, last, test.last)
				}
			}
			check("all records", records)
			for n, what := range []string{"the tail", "the database"} {
				to := filepath.Join(dir, what)
				copyDir(t, s.cfg.Dir, to)
				c := open(t, to)
				check(what, c.Restored().Records)
				c.Close()
				if n == 0 {
					if err := s.commit(); err != nil {
						t.Fatal(err)
					}
				}
			}
		})
	}
}

// prelude makes a session with one key, number 1.
func prelude() []overlay.Record {
	key := overlay.Key{Client: "x", Session: overlay.Session{Attachment: 1, Edge: "b1", Revision: 1}, Source: "b1", Stamp: 7}
	return []overlay.Record{
		&overlay.StampRecord{Stamp: 7},
		&overlay.SessionRecord{Client: "x", Session: key.Session, Epoch: overlay.Epoch(key.Session)},
		&overlay.SubscriptionRecord{Client: "x", Born: 1, Subscription: sub("a", "")},
		&overlay.EntryRecord{Handle: 1, Key: key, Epoch: overlay.Epoch(key.Session), Set: 1, Next: 1},
	}
}
