package protocol

import (
	"encoding/json"
	"math"
	"net/netip"
	"reflect"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// sample has every kind of field that a result can have.
type sample struct {
	Embedded
	Text    string          `json:"text"`
	Empty   string          `json:"empty,omitempty"`
	Zero    int             `json:"zero"`
	Small   float32         `json:"small"`
	Number  float64         `json:"number,omitempty"`
	List    []any           `json:"list"`
	Array   [2]uint8        `json:"array"`
	Map     map[string]int  `json:"map"`
	ByIndex map[int]bool    `json:"by_index,omitempty"`
	Raw     json.RawMessage `json:"raw"`
	Bytes   []byte          `json:"bytes"`
	Pointer *int64          `json:"pointer"`
	Time    time.Time       `json:"time"`
	Address netip.Addr      `json:"address"`
	Hidden  string          `json:"-"`
	Any     any             `json:"any"`
	Nested  *sample         `json:"nested,omitempty"`
	NoTag   bool
	Texts   map[string]string `json:"texts,omitempty"`
	private int
}

// Embedded is embedded in sample.
type Embedded struct {
	Name string `json:"name"`
}

func TestAppendJSONIsThatOfEncodingJSON(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		float := rapid.Float64()
		n := rapid.Int64().Draw(t, "pointer")
		v := &sample{
			Embedded: Embedded{rapid.String().Draw(t, "name")},
			Text:     rapid.String().Draw(t, "text"),
			Small:    rapid.Float32().Draw(t, "small"),
			Number:   float.Draw(t, "number"),
			List:     []any{float.Draw(t, "element"), "x", nil, true, map[string]any{"k": []int{1}}},
			Map:      rapid.MapOf(rapid.String(), rapid.Int()).Draw(t, "map"),
			ByIndex:  rapid.MapOf(rapid.IntRange(0, 9), rapid.Bool()).Draw(t, "by index"),
			Raw:      json.RawMessage(`{"a":[1]}`),
			Bytes:    rapid.SliceOf(rapid.Byte()).Draw(t, "bytes"),
			Time:     time.Unix(rapid.Int64Range(0, 1e9).Draw(t, "time"), 0).UTC(),
			Address:  netip.MustParseAddr("127.0.0.1"),
			Nested:   &sample{Raw: json.RawMessage(`null`)},
			private:  1,
		}
		if rapid.Bool().Draw(t, "with pointer") {
			v.Pointer = &n
		}
		want, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		got := AppendJSON(nil, v)
		if !json.Valid(got) {
			t.Fatalf("not JSON: %s", got)
		}
		var a, b any
		if err := json.Unmarshal(want, &a); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(got, &b); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(a, b); diff != "" {
			t.Fatalf("-encoding/json +ours:\n%s", diff)
		}
	})
}

func TestAppendJSONWhatEncodingJSONRefuses(t *testing.T) {
	type loop struct{ Next *loop }
	endless := &loop{}
	endless.Next = endless
	for want, v := range map[string]any{
		`[null,null,null,1]`:  []float64{math.NaN(), math.Inf(1), math.Inf(-1), 1},
		`{"x":null}`:          map[string]float32{"x": float32(math.Inf(1))},
		`"\ufffd<>&\u0000\\"`: "\xff<>&\x00\\",
		`null`:                nil,
		`[null]`:              []any{make(chan int)},
		`1e+21`:               1e21,
		`1e-07`:               1e-7,
		`{"Raw":null,"Pos":{}}`: struct {
			Raw json.RawMessage
			Pos struct{}
		}{},
	} {
		if got := string(AppendJSON(nil, v)); got != want {
			t.Errorf("%v: %s, expected %s", v, got, want)
		}
	}
	if got := AppendJSON(nil, endless); !json.Valid(got) {
		t.Errorf("a loop gives %s", got)
	}
}

// The notification's own encoder gives what the struct's tags say.
func TestAppendNotify(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := Notify{
			Op: OpNotify, Source: rapid.String().Draw(t, "source"), Seq: rapid.Uint64().Draw(t, "seq"), Skipped: rapid.Uint64Range(0, 2).Draw(t, "skipped"),
			Robot: rapid.String().Draw(t, "robot"), Interface: "laser", Index: rapid.IntRange(0, 65535).Draw(t, "index"), Time: rapid.Float64().Draw(t, "time"),
			Subscriptions: []Matched{},
		}
		for range rapid.IntRange(0, 3).Draw(t, "subscriptions") {
			m := Matched{ID: rapid.String().Draw(t, "id")}
			if rapid.Bool().Draw(t, "change") {
				state := rapid.Bool().Draw(t, "state")
				m.State = &state
			} else if rapid.Bool().Draw(t, "select") {
				m.Values = json.RawMessage(`{"m":1}`)
			}
			n.Subscriptions = append(n.Subscriptions, m)
		}
		if rapid.Bool().Draw(t, "with messages") {
			n.Messages = rapid.SliceOfN(rapid.Byte(), 1, 50).Draw(t, "messages")
		}
		if rapid.Bool().Draw(t, "with reading") {
			n.Reading = json.RawMessage(`{"min":0.25,"ranges":[1,null]}`)
		}
		var got Notify
		text := AppendNotify(nil, &n)
		if err := json.Unmarshal(text, &got); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if diff := cmp.Diff(n, got); diff != "" {
			t.Fatalf("-want +got:\n%s", diff)
		}
		if also := appendMessageOf(&n); string(also) != string(text) {
			t.Fatalf("the hand-written encoder gives %s, the tags %s", text, also)
		}
	})
}

// appendMessageOf encodes a notification by its tags.
func appendMessageOf(n *Notify) []byte {
	dst, _ := appendFields([]byte(`{"op":"notify"`), reflect.ValueOf(n).Elem(), true, 0)
	return append(dst, '}')
}
