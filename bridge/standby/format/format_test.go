package format

import (
	"bytes"
	"encoding/hex"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"callboard/bridge/overlay"
	"callboard/bridge/standby"
	"callboard/subscribe/protocol"
)

// golden are messages as they are written: sides of two releases meet.
var golden = []struct {
	message standby.Message
	text    string
}{
	{&standby.Beat{Life: 3, Number: 300, Echo: standby.Echo{Life: 2, Number: 7}, Status: standby.Status{
		Term: 5, Stands: standby.Both, Active: true, Last: standby.Position{Index: 12, ID: 5}, Floor: 6, Warm: true, Outer: true,
	}}, "01 03 ac02 02 07 05 01 0d 0c 05 06"},
	{&standby.Ask{Life: 3}, "02 03"},
	{&standby.Batches{Term: 3, Before: standby.Position{Index: 4, ID: 1}, Batches: []standby.Batch{{ID: 1}, {ID: 3, Records: []overlay.Record{&overlay.AckedRecord{Handle: 9, Num: 2}}, Beside: []byte{7, 8}, Bytes: 5}}}, "03 03 04 01 02 00 00 00 02 03 090902 02 0708"},
	{&standby.Acked{Term: 3, Last: standby.Position{Index: 6, ID: 3}, Stands: standby.In}, "04 03 06 03 03"},
	{&standby.Snapshot{Term: 3, Last: standby.Position{Index: 6, ID: 3}, Terms: []standby.Term{1, 3}, Records: []overlay.Record{&overlay.StampRecord{Stamp: 7}}}, "05 03 06 03 02 01 02 02 0107"},
	{&standby.Join{Term: 5, Before: standby.Position{Index: 6, ID: 3}, Batches: []standby.Batch{{ID: 5}}}, "06 05 06 03 01 02 00 00"},
	{&standby.Claim{Number: 6, Kind: standby.TakeOver, Base: 5, History: []standby.Term{3, 5}, Asked: 1000, Shown: 4}, "07 06 01 05 02 03 02 e807 04"},
	{&standby.Voice{Number: 6, Given: true, Newest: 5, Asked: 1000}, "08 06 01 05 e807"},
	{&standby.Renew{Term: 5, Stands: standby.Alone, Active: true, History: []standby.Term{5}, Shown: 4, Sent: 1000}, "09 05 02 01 01 05 04 e807"},
	{&standby.Lease{Sent: 1000, Newest: 5}, "0a e807 05"},
}

func TestGolden(t *testing.T) {
	for _, g := range golden {
		b, err := Append(nil, g.message)
		if err != nil {
			t.Fatal(err)
		}
		want, err := hex.DecodeString(strings.ReplaceAll(g.text, " ", ""))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(b, want) {
			t.Errorf("%T is written as %x; expected %x", g.message, b, want)
		}
		got, err := Parse(want)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(g.message, got); diff != "" {
			t.Errorf("%T comes back otherwise (-written +read):\n%s", g.message, diff)
		}
		for n := range want {
			if _, err := Parse(want[:n]); err == nil {
				t.Errorf("%T is read of its first %d bytes", g.message, n)
			}
		}
		if _, err := Parse(append(want, 0)); err == nil {
			t.Errorf("%T is read with a byte too much", g.message)
		}
	}
	if kinds := kindLease; len(golden) != kinds {
		t.Errorf("%d messages; expected the %d that there are", len(golden), kinds)
	}
}

// TestRoundTrip: what is written is read again.
func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		message := blank(byte(rapid.IntRange(kindBeat, kindLease).Draw(t, "kind")))
		fill(t, reflect.ValueOf(message).Elem())
		b, err := Append(nil, message)
		if err != nil {
			t.Fatal(err)
		}
		got, err := Parse(b)
		if err != nil {
			t.Fatalf("%+v: %v", message, err)
		}
		if diff := cmp.Diff(message, got, cmpopts.EquateEmpty(), cmpopts.IgnoreFields(standby.Batch{}, "Bytes"), cmpopts.IgnoreUnexported(overlay.Reading{})); diff != "" {
			t.Fatalf("(-written +read)\n%s", diff)
		}
	})
}

// fill draws all fields of a message, so that none is forgotten in the format.
func fill(t *rapid.T, v reflect.Value) {
	switch v.Interface().(type) {
	case standby.Kind:
		v.SetUint(rapid.Uint64Range(uint64(standby.TakeOver), uint64(standby.LostStart)).Draw(t, "kind"))
		return
	case standby.Stands:
		v.SetUint(rapid.Uint64Range(0, uint64(standby.In)).Draw(t, "stands"))
		return
	case []standby.Term:
		term := standby.Term(0)
		for range rapid.IntRange(0, 4).Draw(t, "terms") {
			term += standby.Term(rapid.Uint64Range(1, 1<<40).Draw(t, "more"))
			v.Set(reflect.Append(v, reflect.ValueOf(term)))
		}
		return
	case []standby.Batch:
		term := standby.Term(1 << 60)
		for range rapid.IntRange(0, 4).Draw(t, "batches") {
			term += standby.Term(rapid.Uint64Range(0, 3).Draw(t, "more"))
			v.Set(reflect.Append(v, reflect.ValueOf(standby.Batch{ID: term, Records: records(t)})))
		}
		return
	case []overlay.Record:
		v.Set(reflect.ValueOf(records(t)))
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			fill(t, v.Field(i))
		}
	case reflect.Uint64:
		v.SetUint(rapid.Uint64Range(0, 1<<60).Draw(t, "number"))
	case reflect.Int64:
		v.SetInt(rapid.Int64().Draw(t, "instant"))
	case reflect.Bool:
		v.SetBool(rapid.Bool().Draw(t, "flag"))
	default:
		t.Fatalf("nothing is drawn for a %s", v.Type())
	}
}

func records(t *rapid.T) []overlay.Record {
	return rapid.SliceOfN(rapid.SampledFrom([]overlay.Record{
		&overlay.AckedRecord{Handle: 3, Num: 8},
		&overlay.SessionRecord{Client: "c", Session: overlay.Session{Attachment: 1, Edge: "b"}, Epoch: overlay.Epoch{Attachment: 2, Edge: "b"}},
		&overlay.GivenRecord{Reading: &overlay.Reading{Robot: "r", Interface: "laser", Time: 2, JSON: []byte("{}")}, At: 5, Hits: []overlay.GivenHit{{Handle: 3, Seq: 4, Names: []protocol.Matched{{ID: "a"}}}}},
	}), 0, 3).Draw(t, "records")
}

// TestSmallFiles: a small file is read again, and nothing that is damaged or of
// another kind.
func TestSmallFiles(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var s standby.State
		fill(t, reflect.ValueOf(&s).Elem())
		b := State(s)
		if got, err := ParseState(b); err != nil || got != s {
			t.Fatalf("%+v comes back as %+v, %v", s, got, err)
		}
		v := standby.Vote{Newest: s.Term, Base: s.Floor, Told: [2]standby.Term{s.Shown, s.Term}}
		if got, err := ParseVote(Vote(v)); err != nil || got != v {
			t.Fatalf("%+v comes back as %+v, %v", v, got, err)
		}
		if _, err := ParseVote(b); err == nil {
			t.Fatal("a state is read as a vote")
		}
		b[rapid.IntRange(0, Sector-1).Draw(t, "at")] ^= byte(rapid.IntRange(1, 255).Draw(t, "bits"))
		if got, err := ParseState(b); err == nil {
			t.Fatalf("a damaged file is read as %+v", got)
		}
		if _, err := ParseState(b[:rapid.IntRange(0, Sector-1).Draw(t, "length")]); err == nil {
			t.Fatal("a short file is read")
		}
	})
}

// FuzzParse: whatever comes is read as what is written alike, or refused.
func FuzzParse(f *testing.F) {
	for _, g := range golden {
		b, err := Append(nil, g.message)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		message, err := Parse(b)
		if err != nil {
			return
		}
		again, err := Append(nil, message)
		if err != nil {
			t.Fatal(err)
		}
		got, err := Parse(again)
		if err != nil {
			t.Fatalf("%+v is written so that it is not read: %v", message, err)
		}
		last, err := Append(nil, got)
		if err != nil || !bytes.Equal(again, last) {
			t.Fatalf("%x is written again as %x, %v", again, last, err)
		}
	})
}
