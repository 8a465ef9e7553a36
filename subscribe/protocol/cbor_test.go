package protocol

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/fxamacker/cbor/v2"
	"github.com/google/go-cmp/cmp"
)

func TestCBORNumbers(t *testing.T) {
	for in, want := range map[string]string{
		"\xf9\x3c\x00": "1", "\xf9\x00\x01": "5.960464477539063e-08", "\xf9\xc0\x00": "-2", "\xf9\x7c\x00": "Infinity", "\xf9\x7e\x00": "NaN", "\xf9\xfc\x00": "-Infinity",
		"\xfa\x3f\x00\x00\x00": "0.5", "\x3b\xff\xff\xff\xff\xff\xff\xff\xff": "-18446744073709552000", "\x3b\x7f\xff\xff\xff\xff\xff\xff\xff": "-9223372036854775808",
		"\xc0\x61\x78": `"x"`, "\x7f\x61\x78\x60\x61\x79\xff": `"xy"`, "\xf7": "null",
	} {
		if got, problem := appendFromCBOR(nil, []byte(in), true); problem != nil || string(got) != want {
			t.Errorf("%x: %s %v, expected %s", in, got, problem, want)
		}
	}
}

// FuzzCBOR checks that what is accepted becomes JSON, which comes back from
// CBOR as it was, and that the CBOR library understands ours.
func FuzzCBOR(f *testing.F) {
	f.Add([]byte("\xa2\x62op\x65hello\x63num\xa1\x62b1\x1b\xff\xff\xff\xff\xff\xff\xff\xff"))
	f.Add([]byte("\x9f\xf9\x3c\x00\x20\xfb\x40\x09\x21\xfb\x54\x44\x2d\x18\xff"))
	f.Add([]byte("\xf9\x7e\x00"))
	f.Fuzz(func(t *testing.T, b []byte) {
		text, problem := AppendFromCBOR(nil, b)
		if problem != nil {
			return
		}
		if !json.Valid(text) {
			t.Fatalf("%x gave %s", b, text)
		}
		again := AppendCBOR(nil, text)
		back, problem := AppendFromCBOR(nil, again)
		if problem != nil || !bytes.Equal(back, text) {
			t.Fatalf("%s came back as %s (%v)", text, back, problem)
		}
		if err := cbor.Wellformed(again); err != nil {
			t.Fatalf("%s became %x: %v", text, again, err)
		}
	})
}

// FuzzGuard checks that walking over what json.Valid accepts finds what
// encoding/json finds, and that nothing panics.
func FuzzGuard(f *testing.F) {
	f.Add([]byte(`{"op":"hello","subscriptions":[{"id":"a\"]"},{}],"x":[1,{"y":null}]}`))
	f.Add([]byte(` [ 1 , "\u00e9\\" , {} , [] , -1e5,true ] `))
	f.Fuzz(func(t *testing.T, text []byte) {
		Guard(text, 3)
		if !json.Valid(text) {
			return
		}
		var list []json.RawMessage
		if bytes.HasPrefix(bytes.TrimLeft(text, " \t\r\n"), []byte("[")) && json.Unmarshal(text, &list) == nil {
			var got []json.RawMessage
			elements(text, func(v []byte) { got = append(got, v) })
			if diff := cmp.Diff(list, got, cmp.Comparer(bytes.Equal)); diff != "" && len(list)+len(got) > 0 {
				t.Fatalf("%s: -want +got:\n%s", text, diff)
			}
		}
		var object map[string]json.RawMessage
		if bytes.HasPrefix(bytes.TrimLeft(text, " \t\r\n"), []byte("{")) && json.Unmarshal(text, &object) == nil {
			got := map[string]json.RawMessage{}
			members(text, func(name string, v []byte) { got[strings.ToValidUTF8(name, "\ufffd")] = v })
			if len(got) != len(object) && json.Valid(text) && bytes.Equal(text, bytes.ToValidUTF8(text, nil)) {
				t.Fatalf("%s: %d members, expected %d", text, len(got), len(object))
			}
		}
	})
}
