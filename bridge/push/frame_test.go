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
	"strings"
	"testing"
	"time"

	"github.com/fxamacker/cbor/v2"
	"github.com/google/go-cmp/cmp"
	"github.com/gorilla/websocket"

	"callboard/subscribe/protocol"
)

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
				var v any
				if err := json.Unmarshal(data, &v); err != nil {
					t.Fatal(err)
				}
				kind = websocket.BinaryMessage
				data, _ = cbor.Marshal(v)
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
			Source: "b1", Seq: 1, Robot: "r 0", Time: math.Inf(-1), Reading: protocol.Seal([]byte(`{"x":NaN,"y":[-Infinity,null],"text":"a \" b"}`)),
			Subscriptions: []protocol.Matched{{ID: "a", Values: protocol.Seal([]byte(`{"m":Infinity}`))}},
		}, time.Time{})
		hear(pick(`map[index:0 interface: op:notify reading:map[text:a " b x:NaN y:[-Inf <nil>]] robot:r 0 seq:1 source:b1 subscriptions:[map[id:a values:map[m:+Inf]]] time:-Inf]`,
			`{"op":"notify","source":"b1","seq":1,"robot":"r 0","interface":"","index":0,"time":null,"subscriptions":[{"id":"a","values":{"m":null}}],"reading":{"x":null,"y":[null,null],"text":"a \" b"}}`))
		out.NotifySoon(protocol.Notify{Source: "b1", Seq: 2, Reading: protocol.Seal([]byte(`{"x":NaN}`))}, time.Time{})
		out.Flush()
		hear(pick(`map[index:0 interface: op:notify reading:map[x:NaN] robot: seq:2 source:b1 subscriptions:[] time:0]`,
			`{"op":"notify","source":"b1","seq":2,"robot":"","interface":"","index":0,"time":0,"subscriptions":[],"reading":{"x":null}}`))
		out.Send(&protocol.Heartbeat{Broker: "b1", Time: math.NaN()})
		hear(pick(`map[broker:b1 op:heartbeat time:NaN]`, `{"op":"heartbeat","broker":"b1","time":null}`))
		say(`{"op":"command","id":"a","robot":"r0","name":"pose"}`)
		hear(pick(`map[id:a ok:true op:reply result:map[list:[+Inf 1] n:NaN]]`, `{"op":"reply","id":"a","ok":true,"result":{"list":[null,1],"n":null}}`))
	}
}
