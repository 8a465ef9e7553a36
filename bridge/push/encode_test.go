package push

import (
	"bytes"
	"compress/flate"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/netip"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/fxamacker/cbor/v2"
	"github.com/google/go-cmp/cmp"
	"github.com/gorilla/websocket"
	"pgregory.net/rapid"

	"callboard/subscribe/protocol"
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
		`[ null,  null,   null,1]`: []float64{math.NaN(), math.Inf(1), math.Inf(-1), 1},
		`{"x":  null}`:             map[string]float32{"x": float32(math.Inf(1))},
		`"\ufffd<>&\u0000\\"`:      "\xff<>&\x00\\",
		`null`:                     nil,
		`[null]`:                   []any{make(chan int)},
		`1e+21`:                    1e21,
		`1e-07`:                    1e-7,
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
		n := protocol.Notify{
			Op: protocol.OpNotify, Source: rapid.String().Draw(t, "source"), Seq: rapid.Uint64().Draw(t, "seq"), Skipped: rapid.Uint64Range(0, 2).Draw(t, "skipped"),
			Robot: rapid.String().Draw(t, "robot"), Interface: "laser", Index: rapid.IntRange(0, 65535).Draw(t, "index"), Time: rapid.Float64().Draw(t, "time"),
			Subscriptions: []protocol.Matched{},
		}
		for range rapid.IntRange(0, 3).Draw(t, "subscriptions") {
			m := protocol.Matched{ID: rapid.String().Draw(t, "id")}
			if rapid.Bool().Draw(t, "change") {
				state := rapid.Bool().Draw(t, "state")
				m.State = &state
			} else if rapid.Bool().Draw(t, "select") {
				m.Values = json.RawMessage(`{"m":1}`)
			}
			n.Subscriptions = append(n.Subscriptions, m)
		}
		if rapid.Bool().Draw(t, "with reading") {
			n.Reading = json.RawMessage(`{"min":0.25,"ranges":[1,null]}`)
		}
		var got protocol.Notify
		text := protocol.AppendNotify(nil, &n)
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
func appendMessageOf(n *protocol.Notify) []byte {
	dst, _ := appendFields([]byte(`{"op":"notify"`), reflect.ValueOf(n).Elem(), true, 0)
	return append(dst, '}')
}

func TestFrames(t *testing.T) {
	for _, size := range []int{0, 1, 125, 126, 127, 65535, 65536, 100_000} {
		payload := bytes.Repeat([]byte{'x'}, size)
		frames := append([]byte("before"), 0)[:6]
		from := len(frames)
		frames = endFrame(append(beginFrame(frames), payload...), from, opText)
		if string(frames[:from]) != "before" {
			t.Fatalf("%d: what stood before has changed", size)
		}
		f := frames[from:]
		if f[0] != 0x81 {
			t.Fatalf("%d: first byte %x", size, f[0])
		}
		head, got := 2, int(f[1])
		switch f[1] {
		case 126:
			head, got = 4, int(binary.BigEndian.Uint16(f[2:]))
		case 127:
			head, got = 10, int(binary.BigEndian.Uint64(f[2:]))
		}
		if got != size || !bytes.Equal(f[head:], payload) {
			t.Errorf("%d: header of %d bytes says %d, payload of %d bytes", size, head, got, len(f)-head)
		}
	}
	long := strings.Repeat("é", 100)
	if f := appendClose(nil, 1008, long); len(f) != 2+2+122 || string(f[4:]) != long[:122] {
		t.Errorf("a long reason is cut to %q", f[4:])
	}
}

// Compressed connections get the same messages.
func TestDeflate(t *testing.T) {
	s := start(t, Config{})
	c := s.dial(t, &websocket.Dialer{EnableCompression: true}, nil)
	c.send(`{"op":"hello","client":"` + strings.Repeat("c", 200) + `"}`) // compressed by the client
	if got := c.next(); !strings.Contains(got, "ccc") {
		t.Fatalf("got %s", got)
	}
	reading := `{"ranges":[` + strings.Repeat("7.99,", 1000) + `0]}`
	for i := range 3 {
		s.broker.out(1).Notify(protocol.Notify{Source: "b1", Seq: uint64(i), Reading: []byte(reading)}, time.Time{})
	}
	s.broker.out(1).Send(&protocol.Gap{})
	for range 3 {
		if got := c.next(); !strings.HasSuffix(got, reading+"}") {
			t.Fatalf("got %.100s", got)
		}
	}
	c.expect(`{"op":"gap","source":"","from":0,"why":""}`)

	var d deflater
	small := d.append(nil, []byte(reading))
	back, err := io.ReadAll(flate.NewReader(io.MultiReader(bytes.NewReader(small), strings.NewReader("\x00\x00\xff\xff\x01\x00\x00\xff\xff"))))
	if err != nil || string(back) != reading || len(small) > len(reading)/10 {
		t.Errorf("%v: %d of %d bytes came back from %d", err, len(back), len(reading), len(small))
	}
}

func TestCBORSession(t *testing.T) {
	s := start(t, Config{})
	c := s.dial(t, &websocket.Dialer{Subprotocols: []string{protocol.SubprotocolCBOR, protocol.Subprotocol}, EnableCompression: true}, nil)
	if c.Subprotocol() != protocol.SubprotocolCBOR {
		t.Fatalf("the subprotocol is %q", c.Subprotocol())
	}
	say := func(m any) {
		b, err := cbor.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		if err := c.WriteMessage(websocket.BinaryMessage, b); err != nil {
			t.Fatal(err)
		}
	}
	hear := func() map[string]any {
		var m map[string]any
		if err := cbor.Unmarshal([]byte(c.next()), &m); err != nil {
			t.Fatal(err)
		}
		return m
	}
	say(map[string]any{"op": "hello", "client": "c", "num": map[string]uint64{"b1": math.MaxUint64}})
	if call := s.broker.expect(t, "hello"); !strings.Contains(call, `"num":{"b1":18446744073709551615}`) {
		t.Errorf("the broker was told %s", call)
	}
	if m := hear(); m["op"] != "welcome" || m["window"] != uint64(1024) {
		t.Errorf("welcome is %v", m)
	}
	say(map[string]any{"op": "command", "id": "a", "robot": "r0", "name": "velocity", "args": []any{0.5, -3, float32(0.25), nil, true}})
	want := map[string]any{"op": "reply", "id": "a", "ok": true, "result": map[any]any{"did": "velocity", "args": []any{0.5, int64(-3), 0.25, nil, true}}}
	if diff := cmp.Diff(want, hear()); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	c.send(`{"op":"list","id":"a","what":"robots"}`)
	if m := hear(); m["message"] != "a text frame; expected CBOR in a binary frame" {
		t.Errorf("to a text frame: %v", m)
	}
	for _, bad := range []string{"", "\x01\x02", "\xff", "\x41x", "\x61\xff", "\xa1\x01\x02", "\x9f", "\xbb\xff\xff\xff\xff\xff\xff\xff\xff", "\x7f\x61", "\x1c", "\xf8\x20", strings.Repeat("\x81", 100_000)} {
		if err := c.WriteMessage(websocket.BinaryMessage, []byte(bad)); err != nil {
			t.Fatal(err)
		}
		if m := hear(); m["op"] != "error" || m["code"] != "bad_message" || !strings.Contains(m["message"].(string), "CBOR") && bad != "\xa1\x01\x02" {
			t.Errorf("to %.20q: %v", bad, m)
		}
	}
}

func TestCBORNumbers(t *testing.T) {
	for in, want := range map[string]string{
		"\xf9\x3c\x00": "1", "\xf9\x00\x01": "5.960464477539063e-08", "\xf9\xc0\x00": "-2", "\xf9\x7c\x00": "  null", "\xf9\x7e\x00": " null", "\xf9\xfc\x00": "   null",
		"\xfa\x3f\x00\x00\x00": "0.5", "\x3b\xff\xff\xff\xff\xff\xff\xff\xff": "-18446744073709552000", "\x3b\x7f\xff\xff\xff\xff\xff\xff\xff": "-9223372036854775808",
		"\xc0\x61\x78": `"x"`, "\x7f\x61\x78\x60\x61\x79\xff": `"xy"`, "\xf7": "null",
	} {
		if got, problem := jsonOfCBOR([]byte(in)); problem != nil || string(got) != want {
			t.Errorf("%x: %s %v, expected %s", in, got, problem, want)
		}
	}
}

// TestNotFinite: numbers that are not finite reach CBOR as they are, in whatever
// carries them, and JSON as null.
func TestNotFinite(t *testing.T) {
	s := start(t, Config{})
	values := map[string]any{"n": math.NaN(), "list": []float32{float32(math.Inf(1)), 1}}
	s.broker.command = func(context.Context, protocol.Command) (any, error) { return values, nil }
	for i, subprotocol := range []string{protocol.SubprotocolCBOR, protocol.Subprotocol, protocol.Subprotocol} {
		c := s.dial(t, &websocket.Dialer{Subprotocols: []string{subprotocol}, EnableCompression: i == 2}, nil)
		isCBOR := subprotocol == protocol.SubprotocolCBOR
		say := func(text string) {
			kind, data := websocket.TextMessage, []byte(text)
			if isCBOR {
				kind, data = websocket.BinaryMessage, appendCBOR(nil, data)
			}
			if err := c.WriteMessage(kind, data); err != nil {
				t.Fatal(err)
			}
		}
		hear := func(want string) {
			t.Helper()
			got := c.next()
			if isCBOR {
				var v any
				if err := cbor.Unmarshal([]byte(got), &v); err != nil {
					t.Fatalf("%x: %v", got, err)
				}
				got = fmt.Sprint(v)
			}
			if got != want {
				t.Errorf("%s: got  %s\nwant %s", subprotocol, got, want)
			}
		}
		pick := func(cborText, jsonText string) string {
			if isCBOR {
				return cborText
			}
			return jsonText
		}
		say(`{"op":"hello"}`)
		c.next()
		out := s.broker.out(uint64(i + 1))
		out.Notify(protocol.Notify{
			Source: "b1", Seq: 1, Robot: "r 0", Time: math.Inf(-1), Reading: []byte(`{"x": null,"y":[   null,null],"text":"a \" b"}`),
			Subscriptions: []protocol.Matched{{ID: "a", Values: []byte(`{"m":  null}`)}},
		}, time.Time{})
		hear(pick(`map[index:0 interface: op:notify reading:map[text:a " b x:NaN y:[-Inf <nil>]] robot:r 0 seq:1 source:b1 subscriptions:[map[id:a values:map[m:+Inf]]] time:-Inf]`,
			`{"op":"notify","source":"b1","seq":1,"robot":"r 0","interface":"","index":0,"time":null,"subscriptions":[{"id":"a","values":{"m":null}}],"reading":{"x":null,"y":[null,null],"text":"a \" b"}}`))
		var burst Burst
		out.NotifyWith(&burst, protocol.Notify{Source: "b1", Seq: 2, Reading: []byte(`{"x": null}`)}, time.Time{})
		burst.Flush()
		burst.Close()
		hear(pick(`map[index:0 interface: op:notify reading:map[x:NaN] robot: seq:2 source:b1 subscriptions:[] time:0]`,
			`{"op":"notify","source":"b1","seq":2,"robot":"","interface":"","index":0,"time":0,"subscriptions":[],"reading":{"x":null}}`))
		out.Send(&protocol.Heartbeat{Broker: "b1", Time: math.NaN()})
		hear(pick(`map[broker:b1 op:heartbeat time:NaN]`, `{"op":"heartbeat","broker":"b1","time":null}`))
		say(`{"op":"command","id":"a","robot":"r0","name":"pose"}`)
		hear(pick(`map[id:a ok:true op:reply result:map[list:[+Inf 1] n:NaN]]`, `{"op":"reply","id":"a","ok":true,"result":{"list":[null,1],"n":null}}`))
	}
}

// FuzzCBOR checks that what is accepted becomes JSON, which comes back from
// CBOR as it was, and that the CBOR library understands ours.
func FuzzCBOR(f *testing.F) {
	f.Add([]byte("\xa2\x62op\x65hello\x63num\xa1\x62b1\x1b\xff\xff\xff\xff\xff\xff\xff\xff"))
	f.Add([]byte("\x9f\xf9\x3c\x00\x20\xfb\x40\x09\x21\xfb\x54\x44\x2d\x18\xff"))
	f.Add([]byte("\xf9\x7e\x00"))
	f.Fuzz(func(t *testing.T, b []byte) {
		text, problem := jsonOfCBOR(b)
		if problem != nil {
			return
		}
		if !json.Valid(text) {
			t.Fatalf("%x gave %s", b, text)
		}
		again := appendCBOR(nil, text)
		back, problem := jsonOfCBOR(again)
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
		guard(text, 3)
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
