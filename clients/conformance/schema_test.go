//go:build linux

package conformance

import (
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"pgregory.net/rapid"

	"callboard/sim/simtest"
	"callboard/subscribe/protocol"
)

// schemaFile is what programs in any language may check messages with.
const schemaFile = "../protocol.schema.json"

// schema returns the schema as JSON, and of one of its parts whether a message is
// right. closed: an object has no fields but those that the schema names.
func schema(t *testing.T, closed bool) (object, func(part string) *jsonschema.Schema) {
	t.Helper()
	text, err := os.ReadFile(schemaFile)
	if err != nil {
		t.Fatal(err)
	}
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	if closed {
		closeObjects(document)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("protocol.json", document); err != nil {
		t.Fatal(err)
	}
	return document.(object), func(part string) *jsonschema.Schema {
		s, err := c.Compile("protocol.json#/$defs/" + part)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
}

// closeObjects has objects with properties take no others.
func closeObjects(v any) {
	switch v := v.(type) {
	case object:
		if _, has := v["properties"]; has && v["type"] == "object" && v["additionalProperties"] == nil {
			v["additionalProperties"] = false
		}
		for _, one := range v {
			closeObjects(one)
		}
	case []any:
		for _, one := range v {
			closeObjects(one)
		}
	}
}

// TestSchemaFields: each message has in the schema the fields that it has here.
func TestSchemaFields(t *testing.T) {
	document, _ := schema(t, false)
	defs := document["$defs"].(object)
	for part, message := range map[string]any{
		"hello": protocol.Hello{}, "listed": protocol.Subscription{}, "subscribe": protocol.Subscribe{}, "update": protocol.Update{},
		"unsubscribe": protocol.Unsubscribe{}, "ack": protocol.Ack{}, "command": protocol.Command{}, "list": protocol.List{},
		"welcome": protocol.Welcome{}, "subscribed": protocol.Subscribed{}, "notify": protocol.Notify{}, "gap": protocol.Gap{},
		"robot": protocol.Robot{}, "reply": protocol.Reply{}, "heartbeat": protocol.Heartbeat{}, "error": protocol.Error{},
		"serve": protocol.Serve{}, "unserve": protocol.Unserve{}, "request": protocol.Request{}, "cancel": protocol.Cancel{}, "done": protocol.Done{},
		"accepted": protocol.Accepted{}, "task": protocol.Task{}, "cancelled": protocol.CancelledTask{}, "progress": protocol.Progress{}, "position": protocol.Position{},
	} {
		var names []string
		for _, f := range reflect.VisibleFields(reflect.TypeOf(message)) {
			if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name != "" && name != "-" {
				names = append(names, name)
			}
		}
		slices.Sort(names)
		if diff := cmp.Diff(names, slices.Sorted(maps.Keys(defs[part].(object)["properties"].(object)))); diff != "" {
			t.Errorf("%s (-protocol +schema):\n%s", part, diff)
		}
	}
	for kind, parts := range map[string]int{"client": 12, "broker": 14} {
		if n := len(defs[kind].(object)["oneOf"].([]any)); n != parts {
			t.Errorf("%s has %d messages, want %d", kind, n, parts)
		}
	}
}

// wholes are a client's messages with all fields.
var wholes = []string{
	`{"op":"hello","client":"c","token":"t","attachment":3,"session":"s","num":{"a":1},"subscriptions":[{"id":"i","condition":"true"}],"window":7,"away":["r1"],"tasks":["k"]}`,
	`{"op":"subscribe","id":"i","condition":"true","robots":["r*"],"devices":["laser"],"trigger":"rising","min_interval":1.5,"for":2,"select":{"x":"y"},"keep":"latest"}`,
	`{"op":"subscribe","id":"i","condition":"true","messages":true}`,
	`{"op":"update","id":"i","condition":"true","robots":["r*"],"devices":["laser"],"trigger":"rising","min_interval":1.5,"for":2,"select":{"x":"y"},"keep":"latest"}`,
	`{"op":"unsubscribe","id":"i"}`,
	`{"op":"ack","source":"s","num":9,"key":"k"}`,
	`{"op":"serve","id":"i","queue":"q","at_once":3}`,
	`{"op":"unserve","id":"i"}`,
	`{"op":"request","id":"i","queue":"q","body":{"x":1},"ttl":2.5,"key":"k"}`,
	`{"op":"cancel","key":"k"}`,
	`{"op":"done","task":"t","body":1}`,
	`{"op":"done","task":"t","error":{"message":"m"}}`,
	`{"op":"done","task":"t","progress":0.5}`,
	`{"op":"command","id":"i","robot":"r0","interface":"position2d","index":1,"name":"velocity","args":[1,"x"],"ttl":2.5,"key":"k"}`,
	`{"op":"list","id":"i","what":"brokers"}`,
}

// odd are values that a field has not, mostly.
var odd = []string{`null`, `""`, `"x"`, `-1`, `0`, `1`, `1.5`, `70000`, `true`, `[]`, `[1]`, `["x"]`, `[""]`, `[null]`, `{}`, `{"x":1}`, `{"x":"y"}`, `[{"id":"i"}]`, `[{"id":""}]`, `[{"id":"i","zz":1}]`, `[{"id":"i","for":"x"}]`}

// TestSchemaDecode: the schema refuses what the broker refuses, and nothing else.
func TestSchemaDecode(t *testing.T) {
	_, compile := schema(t, false)
	client := compile("client")
	rapid.Check(t, func(t *rapid.T) {
		var m map[string]json.RawMessage
		if err := json.Unmarshal([]byte(rapid.SampledFrom(wholes).Draw(t, "message")), &m); err != nil {
			t.Fatal(err)
		}
		names := slices.Sorted(maps.Keys(m))
		for range rapid.IntRange(0, 2).Draw(t, "changes") {
			name := rapid.SampledFrom(append(names, "zz", "messages")).Draw(t, "field")
			if rapid.Bool().Draw(t, "left out") {
				delete(m, name)
			} else {
				m[name] = json.RawMessage(rapid.SampledFrom(odd).Draw(t, "value"))
			}
		}
		text, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		v, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		_, invalid := protocol.Decode(text)
		if wrong := client.Validate(v); (wrong == nil) != (invalid == nil) {
			t.Fatalf("%s\nthe broker says %v\nthe schema says %v", text, invalid, wrong)
		}
	})
}

// TestSchemaFrames: what clients and brokers really say to each other is right by
// the schema, and has no field that is not in it.
func TestSchemaFrames(t *testing.T) {
	said := &frames{from: map[string][][]byte{}}
	const limits = "[limits]\ninbox = { count = 20 }\n"
	p := newPair(t, 0.2, [2]string{limits, limits}, simtest.Wander(t, 4, "r0", "r1"), said)
	brokers := []any{p.relays[0].url()}
	f := newFollower(t, libraries[0], brokers, lossy)
	progress([]*follower{f}, "r0", "r1")
	f.does("subscribe", object{"id": "change", "condition": "laser.min < 1", "trigger": "change", "robots": []any{"r*"}, "min_interval": 0.5})
	f.does("subscribe", object{"id": "bad", "condition": "lazer.min < 1"})
	f.does("subscribe", object{"id": "nobody", "condition": "true", "robots": []any{"r9"}})
	f.does("update", object{"id": "scan", "select": object{"min": "laser.min", "front": "laser.front"}})
	f.does("unsubscribe", object{"id": "change"})
	f.does("command", object{"robot": "r1", "name": "velocity", "args": []any{0.1, 0, 0}, "ttl": 1})
	f.does("command", object{"robot": "r9", "name": "stop"})
	for _, what := range []string{"robots", "brokers", "subscriptions"} {
		f.does("list", object{"what": what})
	}
	p.brokers[1].kill() // r1 is away
	f.until("r1 away", func() bool { return f.others["robot"] > 0 })

	// It is away for longer than the inbox has room.
	state := f.does("state", object{})["value"]
	f.driver.kill()
	<-f.taken
	other := newFollower(t, libraries[0], brokers, lossy+" too")
	other.until("twenty more readings", func() bool { return other.count["r0"] > 40 })
	f.start(object{"brokers": brokers, "resume": state})
	f.until("a gap", func() bool { return f.others["gap"] > 0 })
	libraries[0].start(t, object{"brokers": brokers, "client": lossy + " too", "backoff": []any{0.02, 0.2}}) // takes over
	if _, err := other.driver.next(other.driver.end); err != nil {
		t.Fatal(err)
	}

	seen := map[string]bool{}
	_, compile := schema(t, true)
	said.mu.Lock()
	defer said.mu.Unlock()
	for from, all := range said.from {
		s := compile(from)
		for _, text := range all {
			v, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
			if err != nil {
				t.Fatalf("%s: %v", text, err)
			}
			seen[from+" "+v.(object)["op"].(string)] = true
			if err := s.Validate(v); err != nil {
				t.Fatalf("a %s says %.300s\n%v", from, text, err)
			}
		}
	}
	want := []string{
		"broker error", "broker gap", "broker heartbeat", "broker notify", "broker reply", "broker robot", "broker subscribed", "broker welcome",
		"client ack", "client command", "client hello", "client list", "client subscribe", "client unsubscribe", "client update",
	}
	if diff := cmp.Diff(want, slices.Sorted(maps.Keys(seen))); diff != "" {
		t.Errorf("what was said (-want +got):\n%s", diff)
	}
}

// TestProtocolPage: each message that the page shows is right, and none is left out.
func TestProtocolPage(t *testing.T) {
	text, err := os.ReadFile("../PROTOCOL.md")
	if err != nil {
		t.Fatal(err)
	}
	document, compile := schema(t, true)
	client, broker := compile("client"), compile("broker")
	missing := map[string]bool{}
	for _, kind := range []string{"client", "broker"} {
		for _, one := range document["$defs"].(object)[kind].(object)["oneOf"].([]any) {
			missing[strings.TrimPrefix(one.(object)["$ref"].(string), "#/$defs/")] = true
		}
	}
	for n, line := range strings.Split(string(text), "\n") {
		if !strings.HasPrefix(line, `{"op":`) {
			continue
		}
		v, err := jsonschema.UnmarshalJSON(strings.NewReader(line))
		if err != nil {
			t.Errorf("PROTOCOL.md:%d: %v", n+1, err)
			continue
		}
		delete(missing, v.(object)["op"].(string))
		if one, other := client.Validate(v), broker.Validate(v); one != nil && other != nil {
			t.Errorf("PROTOCOL.md:%d: %v\n%v", n+1, one, other)
		}
	}
	for op := range missing {
		t.Errorf("PROTOCOL.md shows no %s", op)
	}
	for _, code := range document["$defs"].(object)["code"].(object)["enum"].([]any) {
		if !strings.Contains(string(text), "| `"+code.(string)+"` |") {
			t.Errorf("PROTOCOL.md does not explain %s", code)
		}
	}
}
