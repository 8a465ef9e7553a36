package protocol

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/fxamacker/cbor/v2"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// TestSeal: text that JSON has all words of is its object; else that is CBOR, from
// which JSON, and the text, come back.
func TestSeal(t *testing.T) {
	for _, tt := range []struct {
		text string
		cbor bool
		json string
	}{
		{`{"a":1,"b":[null,"x"]}`, false, `{"a":1,"b":[null,"x"]}`},
		{`{"a":NaN,"b":[-Infinity,Infinity,-0,1e21,9007199254740993],"c":"NaN\"","d":null}`, true, `{"a":null,"b":[null,null,-0,1e+21,9007199254740993],"c":"NaN\"","d":null}`},
		{`[NaN]`, true, `[null]`},
		{`NaN`, true, `null`},
		{`null`, false, `null`},
		{``, false, ``},
	} {
		object := Seal([]byte(tt.text))
		if IsCBOR(object) != tt.cbor {
			t.Errorf("%s is CBOR: %v, expected %v", tt.text, IsCBOR(object), tt.cbor)
		}
		if got := string(JSON(object)); got != tt.json {
			t.Errorf("%s is %s in JSON, expected %s", tt.text, got, tt.json)
		}
		if tt.text == "" {
			continue
		}
		var a, b any
		for into, object := range map[*any][]byte{&a: AppendObjectCBOR(nil, object), &b: AppendCBOR(nil, appendObject(nil, object, true))} {
			if err := cbor.Unmarshal(object, into); err != nil {
				t.Errorf("%s: %x: %v", tt.text, object, err)
			}
		}
		if diff := cmp.Diff(a, b, cmpopts.EquateNaNs()); diff != "" {
			t.Errorf("%s: %s", tt.text, diff)
		}
	}
	if got := string(JSON([]byte{0xbf, 0x01})); got != "null" {
		t.Errorf("what is no CBOR is %s", got)
	}
}

// TestResultsOfOthers: what another broker answers keeps its numbers that are not
// finite on the way to a client that speaks CBOR, and is JSON for one that does not.
func TestResultsOfOthers(t *testing.T) {
	answer := json.RawMessage(Object(map[string]any{"x": math.NaN(), "y": float32(math.Inf(-1)), "z": []int{1}}))
	m := &Reply{ID: "a", OK: true, Result: answer}
	const want = `{"op":"reply","id":"a","ok":true,"result":{"x":null,"y":null,"z":[1]}}`
	if got := string(AppendMessage([]byte("before"), m)); got != "before"+want {
		t.Errorf("in JSON it is %s", got)
	}
	b, _ := AppendMessageCBOR(nil, m, nil)
	var got struct{ Result map[string]any }
	if err := cbor.Unmarshal(b, &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]any{"x": math.NaN(), "y": math.Inf(-1), "z": []any{uint64(1)}}, got.Result, cmpopts.EquateNaNs()); diff != "" {
		t.Error(diff)
	}
}

// FuzzObject: whatever bytes another broker sends as an object, clients get JSON
// or CBOR if those are either, and nothing panics.
func FuzzObject(f *testing.F) {
	f.Add([]byte(`{"a":1}`))
	f.Add(Seal([]byte(`{"a":NaN,"b":["x",-Infinity]}`)))
	f.Add([]byte{0xbf, 0x61, 'a'})
	f.Fuzz(func(t *testing.T, object []byte) {
		n := Notify{Subscriptions: []Matched{{Values: object}}, Reading: object}
		text := AppendNotify(nil, &n)
		if !IsCBOR(object) && !json.Valid(object) {
			return
		}
		if !json.Valid(text) {
			t.Fatalf("%x gives %s", object, text)
		}
		b, _ := AppendNotifyCBOR(nil, &n, nil)
		if cbor.Wellformed(object) == nil || !IsCBOR(object) {
			if err := cbor.Wellformed(b); err != nil {
				t.Fatalf("%x gives %x: %v", object, b, err)
			}
		}
	})
}
