//go:build linux

package conformance

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"

	"github.com/gorilla/websocket"

	"callboard/subscribe/protocol"
)

// spoken are a broker's messages with all fields; $ stands for a source that is new.
var spoken = []string{
	`{"op":"notify","source":"$","seq":3,"skipped":2,"robot":"r0","interface":"laser","index":1,"time":1.5,"subscriptions":[{"id":"near","state":true,"values":{"x":1}}],"reading":{"min":1}}`,
	`{"op":"notify","source":"$","seq":1,"robot":"r0","interface":"laser","index":0,"time":1.5,"subscriptions":[{"id":"near"},{"id":"other"}]}`,
	`{"op":"gap","source":"$","from":1,"to":4,"why":"full"}`,
	`{"op":"gap","source":"$","from":1,"why":"lost","next":"n"}`,
	`{"op":"subscribed","id":"near","sources":["$"],"robots":2,"warning":"w"}`,
	`{"op":"robot","robot":"r0","device":"laser:0","source":"$","state":"away","lost":3,"since":1.5}`,
	`{"op":"reply","id":"~9","ok":true,"result":{"x":1}}`,
	`{"op":"reply","id":"~9","ok":false,"error":{"code":"not_found","message":"m","position":{"line":1,"column":2}}}`,
	`{"op":"reply","id":"~9","key":"k","ok":true,"result":{"x":1}}`,
	`{"op":"accepted","id":"~t1","key":"k","ahead":3}`,
	`{"op":"progress","id":"~t1","key":"k","progress":0.5}`,
	`{"op":"task","id":"~s1","task":"t","queue":"q","from":"c","body":{"x":1},"left":1.5,"again":true}`,
	`{"op":"cancelled","task":"t"}`,
	`{"op":"heartbeat","broker":"b","time":1.5,"term":3}`,
	`{"op":"active","term":3}`,
	`{"op":"standby","term":3,"url":"ws://b/ws"}`,
	`{"op":"error","id":"near","code":"bad_condition","message":"m","position":{"line":1,"column":2},"attachment":7}`,
	`{"op":"later","x":1}`,
}

// strange are values that a field has not, mostly.
var strange = append([]string{
	`9007199254740991`, `9007199254740992`, `18446744073709551616`, `"3"`, `"\ud800"`, `"a\u0000b"`,
	`{"id":"near"}`, `[{"id":"near"}]`, `[{"id":7}]`, `[{"id":"near","state":"x"}]`, `[{"id":"near","values":[]}]`, `[[[[[[]]]]]]`, `NaN`, `tru`, `{"a":1,"a":2}`,
}, odd...)

// draw makes a message that may be wrong.
func draw(random *rand.Rand, n int) string {
	var m map[string]json.RawMessage
	if err := json.Unmarshal([]byte(spoken[random.IntN(len(spoken))]), &m); err != nil {
		panic(err)
	}
	names := slices.Sorted(maps.Keys(m))
	if random.IntN(10) > 0 {
		names = slices.DeleteFunc(names, func(name string) bool { return name == "op" })
	}
	for range 1 + random.IntN(2) {
		name := names[random.IntN(len(names))]
		switch random.IntN(6) {
		case 0:
			delete(m, name)
		case 1:
			m["further"] = json.RawMessage(strange[random.IntN(len(strange))])
		default:
			m[name] = json.RawMessage(strange[random.IntN(len(strange))])
		}
	}
	text := "{"
	for i, name := range slices.Sorted(maps.Keys(m)) {
		if i > 0 {
			text += ","
		}
		value := string(m[name])
		if name == "source" || name == "sources" {
			value = replaceSource(value, n)
		}
		text += strconv.Quote(name) + ":" + value
	}
	if random.IntN(12) == 0 {
		text = text[:random.IntN(len(text)+1)]
		return text
	}
	return text + "}"
}

func replaceSource(value string, n int) string {
	switch value {
	case `"$"`:
		return strconv.Quote(fmt.Sprint("s", n))
	case `["$"]`:
		return fmt.Sprintf(`["s%d"]`, n)
	}
	return value
}

// TestAlike: whatever a broker says, each library takes it or ends the connection
// as the others do, and tells its program the same.
func TestAlike(t *testing.T) {
	count, seed := 300, uint64(1)
	if text := os.Getenv("CALLBOARD_SEED"); text != "" {
		seed, _ = strconv.ParseUint(text, 10, 64)
		count = 3000
	} else if testing.Short() {
		count = 100
	}
	for _, cbor := range []bool{false, true} {
		random := rand.New(rand.NewPCG(seed, 1))
		var all [][]byte
		for len(all) < count {
			text := draw(random, len(all))
			switch {
			case !cbor:
				all = append(all, []byte(text))
			case json.Valid([]byte(text)):
				all = append(all, spoil(random, protocol.AppendCBOR(nil, []byte(text))))
			}
		}
		verdicts := map[string][]string{}
		for _, l := range libraries {
			if l.there() == nil {
				verdicts[l.name] = hears(t, l, all, cbor)
			}
		}
		for n, message := range all {
			for name, got := range verdicts {
				if want := verdicts["go"][n]; got[n] != want {
					t.Errorf("%q (%x)\n\tgo: %s\n\t%s: %s", message, message, want, name, got[n])
				}
			}
		}
	}
}

// spoil changes some bytes, sometimes. Not the case of a letter: to encoding/json a name
// in other letters is the same.
func spoil(random *rand.Rand, b []byte) []byte {
	for random.IntN(2) == 0 {
		at := random.IntN(len(b))
		switch random.IntN(4) {
		case 0:
			b = b[:at+1]
		case 1:
			b = slices.Insert(b, at, byte(random.IntN(256)))
		default:
			const letterCase = 0x20
			if to := byte(random.IntN(256)); to^b[at] != letterCase {
				b[at] = to
			}
		}
	}
	return b
}

// told returns what a driver prints of an event, without what is of one library: how
// it has fields that are left out or that nobody knows, and the words of a reason.
func told(m object) object {
	keep(m, "event", "id", "code", "ended", "position", "source", "seq", "skipped", "robot", "interface", "index", "time", "subscriptions", "reading",
		"from", "to", "next", "why", "device", "state", "lost", "since", "sources", "robots", "warning")
	if matches, is := m["subscriptions"].([]any); is {
		for _, one := range matches {
			keep(one.(object), "id", "state", "values")
		}
		if len(matches) == 0 {
			delete(m, "subscriptions")
		}
	}
	if position, is := m["position"].(object); is {
		if keep(position, "line", "column"); len(position) < 2 {
			delete(m, "position")
		}
	}
	return m
}

// keep drops the other fields, and those that are empty.
func keep(m object, names ...string) {
	maps.DeleteFunc(m, func(name string, v any) bool {
		return !slices.Contains(names, name) || v == nil || v == "" || v == 0.0 || v == false
	})
}

// hears has a library hear messages, one after the other, and returns what it made
// of each.
func hears(t *testing.T, l library, all [][]byte, cbor bool) []string {
	b := newBroker(t, "a")
	b.up(t)
	d := l.start(t, object{"brokers": []any{b.url()}, "client": "me", "backoff": []any{0.001, 0.002}, "cbor": cbor})
	subprotocol, kind := protocol.Subprotocol, websocket.TextMessage
	if cbor {
		subprotocol, kind = protocol.SubprotocolCBOR, websocket.BinaryMessage
	}
	attach := func() {
		t.Helper()
		if err := b.accept(subprotocol); err != nil {
			t.Fatal(err)
		}
		if _, err := b.conn.next(); err != nil {
			t.Fatal(err)
		}
		if err := b.conn.send("welcome", ""); err != nil {
			t.Fatal(err)
		}
	}
	attach()
	if m, err := d.next(d.events); err != nil || m["event"] != "attached" {
		t.Fatal(m, err)
	}
	var verdicts []string
	for _, message := range all {
		b.conn.socket.WriteMessage(kind, message)
		b.conn.say([]byte(`{"op":"robot","robot":"behind","source":"s","state":"up","since":1}`))
		verdict := ""
		for verdict != "lost" {
			m, err := d.next(d.events)
			if err != nil {
				t.Fatalf("%s: after %q: %v", l.name, message, err)
			}
			if m["robot"] == "behind" {
				break
			}
			if m["event"] == "detached" {
				verdict = "lost"
				attach()
				m, err = d.next(d.events)
				if err != nil || m["event"] != "attached" {
					t.Fatalf("%s: after %q: %v %v", l.name, message, m, err)
				}
				break
			}
			verdict += shown(told(m))
		}
		verdicts = append(verdicts, verdict)
	}
	return verdicts
}
