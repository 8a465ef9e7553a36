package protocol

import (
	"encoding/json"
	"strings"
	"testing"
)

var jsonTexts = []string{
	``, ` `, `{}`, `[]`, ` [ ] `, `{"a":1}`, `{"a" : [ 1 , -0.5e+3 , true,false , null ] , "b":{}}`, `{"a":1,}`, `[1,]`, `[,1]`, `{,}`, `{"a"}`, `{"a":}`, `{a:1}`,
	`"x"`, `"a long text of which no byte is special, and more"`, `"a long text that ends by \" and goes on"`, `"\u00e9\ud800 \b\f\n\r\t\/\\"`, `"\x"`, `"\u12g4"`, `"\u12`, `"\`, `"`,
	"\"a control\x01character\"", "\"1234567\x1f\"", "\"\x7f\xff\x80\"", `1`, `-`, `01`, `-0`, `1.`, `.5`, `1e`, `1e5`, `1E-05`, `1.5e+`, `0x1`, `tru`, `true`, `nul`, `nulll`, `{} {}`, `[1 2]`, `{"a":1 "b":2}`,
	`{"a":"b":"c"}`, `[}`, `{]`, `[1}`, "\ufeff{}", "{}\x00", `"tab	in text"`,
}

// TestValid: it says what encoding/json says.
func TestValid(t *testing.T) {
	for _, depth := range []int{9_999, 10_000, 10_001} {
		for _, pair := range []string{"[]", "{}"} {
			text := strings.Repeat(`[`, depth-1) + pair + strings.Repeat(`]`, depth-1)
			if got, want := Valid([]byte(text)), json.Valid([]byte(text)); got != want {
				t.Errorf("%d deep, %s: %v, expected %v", depth, pair, got, want)
			}
		}
		text := strings.Repeat(`{"a":`, depth) + `1` + strings.Repeat(`}`, depth)
		if got, want := Valid([]byte(text)), json.Valid([]byte(text)); got != want {
			t.Errorf("objects %d deep: %v, expected %v", depth, got, want)
		}
	}
	for _, text := range jsonTexts {
		if got, want := Valid([]byte(text)), json.Valid([]byte(text)); got != want {
			t.Errorf("%q: %v, expected %v", text, got, want)
		}
	}
}

func FuzzValid(f *testing.F) {
	for _, text := range jsonTexts {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		if got, want := Valid(text), json.Valid(text); got != want {
			t.Errorf("%q: %v, expected %v", text, got, want)
		}
	})
}

func BenchmarkValid(b *testing.B) {
	text := []byte(`{"op":"request","id":"~t123456","queue":"docks","body":"` + strings.Repeat("x", 256) + `","ttl":299.99,"key":"0123456789abcdef01234567"}`)
	b.SetBytes(int64(len(text)))
	for _, of := range []struct {
		name  string
		valid func([]byte) bool
	}{{"here", Valid}, {"encoding/json", json.Valid}} {
		b.Run(of.name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				of.valid(text)
			}
		})
	}
}
