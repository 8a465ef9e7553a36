package protocol

import (
	"encoding/json"
	"math"
	"reflect"
	"testing"
)

func TestExact(t *testing.T) {
	for _, tt := range []struct {
		f    float64
		text string
	}{{math.NaN(), " null"}, {math.Inf(1), "  null"}, {math.Inf(-1), "   null"}, {0.5, "0.5"}, {1e21, "1e+21"}} {
		if got := string(AppendExact(nil, tt.f, 64)); got != tt.text {
			t.Errorf("%v is %q, expected %q", tt.f, got, tt.text)
		}
	}
}

// FuzzPlain checks that exact text says the same without its blanks.
func FuzzPlain(f *testing.F) {
	for _, text := range []string{`{"x": null,"y":[  null,1]}`, `"a \\\" b \\\\"`, ` [ 1 , "\\\\" , " " ] `, `{"a b":"c  d"}`, ``} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		plain := Plain(text)
		var a, b any
		if json.Unmarshal(text, &a) != nil {
			return
		}
		if err := json.Unmarshal(plain, &b); err != nil || !reflect.DeepEqual(a, b) {
			t.Errorf("%q became %q: %v", text, plain, err)
		}
	})
}
