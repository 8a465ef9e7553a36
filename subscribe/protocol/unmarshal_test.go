package protocol

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// TestUnmarshal: whatever comes for a message's fields is decoded as encoding/json does.
func TestUnmarshal(t *testing.T) {
	messages := []any{&Task{}, &Accepted{}, &Reply{}, &Progress{}, &CancelledTask{}, &Notify{}, &Welcome{}, &Subscribed{}, &Gap{}, &Robot{}, &Heartbeat{}, &Error{}, &Subscribe{}, &Hello{}}
	values := []string{
		`"text"`, `"\u00e9\n\"é"`, "\"\xff\"", `""`, `0`, `-0`, `1`, `-1.5e3`, `1e400`, `18446744073709551615`, `18446744073709551616`, `1.0`, `true`, `false`, `null`,
		`{"message":"m"}`, `{}`, `[]`, `["a","b"]`, `[{"id":"x","url":"y"}]`, ` {"a" : 1 } `, `{"a":`, `tru`, ``,
	}
	rapid.Check(t, func(t *rapid.T) {
		kind := reflect.TypeOf(rapid.SampledFrom(messages).Draw(t, "message")).Elem()
		var text strings.Builder
		text.WriteString("{")
		for i := range rapid.IntRange(0, 6).Draw(t, "fields") {
			if i > 0 {
				text.WriteString(",")
			}
			name := "else"
			if at := rapid.IntRange(-1, kind.NumField()-1).Draw(t, "field"); at >= 0 {
				name, _, _ = strings.Cut(kind.Field(at).Tag.Get("json"), ",")
			}
			text.WriteString(`"` + name + `": ` + rapid.SampledFrom(values).Draw(t, "value"))
		}
		text.WriteString(rapid.SampledFrom([]string{"}", "} ", "", "}}"}).Draw(t, "end"))
		got, want := reflect.New(kind).Interface(), reflect.New(kind).Interface()
		err, wantErr := Unmarshal([]byte(text.String()), got), json.Unmarshal([]byte(text.String()), want)
		if (err == nil) != (wantErr == nil) || err != nil && err.Error() != wantErr.Error() {
			t.Fatalf("%s: %v, expected %v", text.String(), err, wantErr)
		}
		if diff := cmp.Diff(want, got); diff != "" && err == nil {
			t.Fatalf("%s: %s", text.String(), diff)
		}
	})
}
