package spool

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"callboard/bridge/node/storetest"
	"callboard/bridge/overlay"
	"callboard/subscribe/protocol"
)

// TestSegments: what is written of an entry's numbers comes back.
func TestSegments(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		after := rapid.Uint64Range(0, 1<<40).Draw(t, "after")
		want, at := []segment{}, after
		for range rapid.IntRange(0, 5).Draw(t, "segments") {
			s := segment{from: at + 1 + rapid.Uint64Range(0, 3).Draw(t, "passed"), why: overlay.Why(rapid.IntRange(0, 3).Draw(t, "why"))}
			s.to = s.from + rapid.Uint64Range(0, 1<<30).Draw(t, "length")
			want, at = append(want, s), s.to
		}
		d := &decoder{b: appendSegments(nil, after, want)}
		if diff := cmp.Diff(want, d.segments(after), cmp.AllowUnexported(segment{})); diff != "" || d.err != nil || len(d.b) > 0 {
			t.Fatalf("%v, %d bytes left: %s", d.err, len(d.b), diff)
		}
	})
}

// TestHandleAgain: a handle that is used again has nothing of what the key that
// had it before was given, though the reading is still there for another.
func TestHandleAgain(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	entry := func(h overlay.Handle, client string) *overlay.EntryRecord {
		return &overlay.EntryRecord{Handle: h, Key: overlay.Key{Client: client, Source: "b1", Stamp: 1}, Next: 1, Own: true}
	}
	given := &overlay.GivenRecord{Reading: &overlay.Reading{Robot: "r0", JSON: []byte("{}")}, Hits: []overlay.GivenHit{{Handle: 1, Seq: 1}, {Handle: 2, Seq: 1}}}
	s.Append([]overlay.Record{&overlay.StampRecord{Stamp: 1}, entry(1, "a"), entry(2, "b"), given})
	if err := s.commit(); err != nil {
		t.Fatal(err)
	}
	s.Append([]overlay.Record{&overlay.EntryEnded{Handle: 2}, entry(2, "c")})
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = open(t, dir)
	defer s.Close()
	var hits []overlay.GivenHit
	for _, r := range s.Restored().Records {
		if g, ok := r.(*overlay.GivenRecord); ok {
			hits = append(hits, g.Hits...)
		}
	}
	if diff := cmp.Diff([]overlay.GivenHit{{Handle: 1, Seq: 1}}, hits); diff != "" {
		t.Error(diff)
	}
	checkIndex(t, s)
}

// TestMissing: a database that lacks a reading that an entry retains is damaged.
func TestMissing(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	s.Append(prelude())
	s.Append([]overlay.Record{&overlay.GivenRecord{Reading: &overlay.Reading{Robot: "r0", JSON: []byte("{}")}, Hits: []overlay.GivenHit{{Handle: 1, Seq: 1}}}})
	if err := s.commit(); err != nil {
		t.Fatal(err)
	}
	s.Append([]overlay.Record{&overlay.AckedRecord{Handle: 1, Num: 0}, prelude()[3]}) // the entry is written with its numbers
	s.index.deletedIDs = append(s.index.deletedIDs, 1)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = open(t, dir)
	defer s.Close()
	if !s.Restored().Lost {
		t.Error("nothing is said to be lost")
	}
}

// TestEnded: after a restart no client gets what names a subscription that ended
// before, though the notification is there for the sake of another one, or was of
// that one alone.
func TestEnded(t *testing.T) {
	given := func(seq uint64, ids ...string) overlay.Record {
		hit := overlay.GivenHit{Handle: 1, Seq: seq, Revision: 1}
		for _, id := range ids {
			hit.Names = append(hit.Names, protocol.Matched{ID: id})
		}
		return &overlay.GivenRecord{Reading: &overlay.Reading{Robot: "r0", Interface: "laser", JSON: []byte("{}")}, Hits: []overlay.GivenHit{hit}}
	}
	dir := t.TempDir()
	s := open(t, dir)
	s.Append(append(prelude(), &overlay.SubscriptionRecord{Client: "x", Born: 1, Subscription: sub("b", "")},
		given(1, "a", "b"), given(2, "b"), given(3, "a"), &overlay.SubscriptionEnded{Client: "x", ID: "b"}))
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = open(t, dir)
	defer s.Close()
	var notified []string
	for _, o := range storetest.Finds(t, now, s.Restored().Records, false) {
		if strings.HasPrefix(o, "notify") {
			notified = append(notified, o)
		}
	}
	want := []string{`notify 1000 b1.7 1+0 {} [{"id":"a"}]`, `notify 1000 b1.7 3+1 {} [{"id":"a"}]`}
	if diff := cmp.Diff(want, notified); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
