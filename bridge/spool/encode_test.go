package spool

import (
	"bytes"
	"fmt"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"callboard/bridge/overlay"
	"callboard/subscribe/protocol"
)

// all has every kind of record.
func all() []overlay.Record {
	yes, no := true, false
	epoch := overlay.Epoch{Attachment: 1, Edge: "b1", Revision: 1 << 60}
	return []overlay.Record{
		&overlay.StampRecord{Stamp: 1 << 50},
		&overlay.SessionRecord{Client: "ü", Session: overlay.Session(epoch), Epoch: epoch},
		&overlay.SessionRecord{Client: "x", Session: overlay.Session(epoch), Epoch: epoch, Unsure: true},
		&overlay.SessionEnded{Client: "x"},
		&overlay.SubscriptionRecord{Client: "x", Born: 9, Subscription: sub("a", "latest")},
		&overlay.SubscriptionEnded{Client: "x", ID: "a"},
		&overlay.EntryRecord{Handle: 300, Key: overlay.Key{Client: "x", Session: overlay.Session(epoch), Source: "b1", Stamp: 5}, Epoch: epoch, Set: 3, Next: 4, Num: 2, Ended: true},
		&overlay.EntryEnded{Handle: 1},
		&overlay.GivenRecord{
			Reading: &overlay.Reading{Robot: "r0", Interface: "laser", Index: 3, Time: -0.5, JSON: []byte(`{}`)}, At: -3,
			Hits: []overlay.GivenHit{
				{Handle: 1, Seq: 2, Revision: 3, Names: []protocol.Matched{{ID: "a"}, {ID: "b", State: &yes}, {ID: "c", State: &no, Values: []byte(`{"v":1}`)}}},
				{Handle: 2, Seq: 1 << 63},
				{Handle: 1 << 40, Seq: 2, Revision: 1 << 62, Names: []protocol.Matched{{ID: "a"}, {ID: "b", State: &yes}}},
				{Handle: 9, Seq: 3, Revision: 7, Names: []protocol.Matched{{ID: "a"}, {ID: "b", State: &yes}}},
			},
		},
		&overlay.GivenRecord{
			Reading: &overlay.Reading{Robot: "r0", Interface: "laser", JSON: []byte(`{}`), Messages: []byte("both")},
			Hits:    []overlay.GivenHit{{Handle: 1, Seq: 3, Names: []protocol.Matched{{ID: "a", Values: protocol.NoValues}}}},
		},
		&overlay.AckedRecord{Handle: 1, Num: 2},
		&overlay.GapRecord{Handle: 1, From: 2, To: 3, New: 3, Why: overlay.WhyExpired},
		&overlay.PassedRecord{Handle: 1, From: 2, To: 3},
		&overlay.EntryRecord{Handle: 301, Key: overlay.Key{Client: "x", Session: overlay.Session(epoch), Source: "b1", Stamp: 5}, Epoch: epoch, Own: true},
		&overlay.EntrySubscription{Handle: 301, Born: 9, Subscription: sub("b", "all")},
		&overlay.EntrySubscriptionEnded{Handle: 301, ID: "b"},
		&overlay.StateRecord{Handle: 301, ID: "b", Seq: 3, Reading: &overlay.Reading{Robot: "r0", Interface: "laser", JSON: []byte(`{}`)}, Values: []byte(`{"v":1}`)},
		&overlay.StateRecord{Handle: 301, ID: "c", Reading: &overlay.Reading{Robot: "r0", JSON: []byte{}, Messages: []byte("alone")}, Values: protocol.NoValues},
		&overlay.StatesEnded{Handle: 301, ID: "b"},
		&overlay.ToldRecord{Client: "x", Source: "b2", Version: 1 << 40},
		&overlay.ToldRecord{Client: "x", Source: "b2", Robot: "r0", Away: true},
		&overlay.ClaimRecord{Robot: "r0", Since: 1 << 50},
		&overlay.ClaimRecord{Robot: "r0"},
		&overlay.TaskRecord{Number: 1 << 50, Queue: "docks", Client: "x", Key: "k", ID: "1", Edge: "b2", Attachment: 7, Until: 1 << 50, TTL: 9, Body: []byte(`{"x":1}`)},
		&overlay.TaskRecord{Number: 2, Robot: "r0", Client: "x", Key: "c"},
		&overlay.TaskHeldRecord{Number: 2, Server: "y", Tries: 2},
		&overlay.TaskAnsweredRecord{Number: 2, Until: 1 << 50, Code: protocol.Unknown, Message: "it may have been"},
		&overlay.TaskAnsweredRecord{Number: 3, Until: 1 << 50, Body: []byte(`1`)},
		&overlay.TaskEndedRecord{Number: 2},
	}
}

func TestEncode(t *testing.T) {
	var b []byte
	for _, r := range all() {
		var err error
		if b, err = AppendRecord(b, r); err != nil {
			t.Fatal(err)
		}
	}
	got, err := DecodeRecords(b)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(all(), got, cmpopts.IgnoreUnexported(overlay.Reading{}, overlay.Subscription{})); diff != "" {
		t.Fatal(diff)
	}
	for n := range b { // cut anywhere: an error, or the records before
		if got, err := DecodeRecords(b[:n]); err == nil && len(got) >= len(all()) {
			t.Fatalf("%d of %d bytes give all", n, len(b))
		}
	}
}

// TestFormat: what this version of the format looks like stays as it is, so that
// every program of the version reads it.
func TestFormat(t *testing.T) {
	want, err := os.ReadFile(fmt.Sprintf("testdata/records-%d", formatVersion))
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range all() {
		b, err := AppendRecord(nil, r)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.HasPrefix(want, b) {
			t.Fatalf("a %T is written as %x, and was as %.60x; expected the same, or another formatVersion", r, b, want)
		}
		want = want[len(b):]
	}
	if len(want) > 0 {
		t.Errorf("%d bytes are of records that are written no more", len(want))
	}
}

// FuzzTail: whatever a tail file holds, reading it neither panics nor takes
// more than a small multiple of its bytes.
func FuzzTail(f *testing.F) {
	b := make([]byte, batchHeader)
	for _, r := range all() {
		b, _ = AppendRecord(b, r)
	}
	sealBatch(b, 1)
	f.Add(b)
	f.Add(b[:len(b)-1])
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, b []byte) {
		parseTail(b)
		if len(b) > batchHeader {
			sealBatch(b, 1) // the checksum is right: the records are read
			batches, err := parseTail(b)
			x := newIndex()
			for _, batch := range batches {
				for _, r := range batch.records {
					x.apply(r, nil)
				}
			}
			if err == nil && len(batches) != 1 {
				t.Fatalf("%d batches", len(batches))
			}
		}
		parseMarker(b)
	})
}
