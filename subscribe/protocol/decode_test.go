package protocol

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func ptr[T any](v T) *T { return &v }

func TestDecode(t *testing.T) {
	tests := []struct {
		text string
		want any
	}{
		{`{"op":"hello"}`, &Hello{Op: "hello"}},
		{`{"op":"hello","away":["r1"]}`, &Hello{Op: "hello", Away: &[]string{"r1"}}},
		{`{"op":"hello","away":[]}`, &Hello{Op: "hello", Away: &[]string{}}},
		{`{"op":"hello","client":"c","token":"t","attachment":3,"session":"s","num":{"a":5},"subscriptions":[{"id":"x","condition":"true"}],"later":[1]}`,
			&Hello{Op: "hello", Client: "c", Token: "t", Attachment: ptr(uint64(3)), Session: "s", Num: map[string]uint64{"a": 5}, Subscriptions: []Subscription{{ID: "x", Condition: "true"}}}},
		{`{"op":"subscribe","id":"x","condition":"true","robots":["r*"],"devices":["laser:0"],"trigger":"change","min_interval":1.5,"for":2,"select":{"a":"laser.min"},"keep":"latest"}`,
			&Subscribe{Op: "subscribe", Subscription: Subscription{ID: "x", Condition: "true", Robots: []string{"r*"}, Devices: []string{"laser:0"}, Trigger: "change", MinInterval: 1.5, For: 2, Select: map[string]string{"a": "laser.min"}, Keep: "latest"}}},
		{`{"op":"subscribe","id":"x","condition":"true","robots":["null","r\u00e9\n","a"],"devices":["r\u00e9","b"]}`,
			&Subscribe{Op: "subscribe", Subscription: Subscription{ID: "x", Condition: "true", Robots: []string{"null", "ré\n", "a"}, Devices: []string{"ré", "b"}}}},
		{` {"for":0,"id":"x","op":"update","robots":[]} `, &Update{Op: "update", ID: "x", For: ptr(0.0), Robots: &[]string{}}},
		{`{"op":"update","id":"x","condition":"true","select":{}}`, &Update{Op: "update", ID: "x", Condition: ptr("true"), Select: &map[string]string{}}},
		{`{"op":"unsubscribe","id":"x","why":"?"}`, &Unsubscribe{Op: "unsubscribe", ID: "x"}},
		{`{"op":"ack","source":"s","num":18446744073709551615}`, &Ack{Op: "ack", Source: "s", Num: 1<<64 - 1}},
		{`{"op":"command","id":"1","robot":"r0","interface":"position2d","index":0,"name":"velocity","args":[0.5,"x",null],"ttl":5}`,
			&Command{Op: "command", ID: "1", Robot: "r0", Interface: "position2d", Index: ptr(0), Name: "velocity", Args: []any{0.5, "x", nil}, TTL: 5}},
		{`{"op":"list","id":"1","what":"robots"}`, &List{Op: "list", ID: "1", What: "robots"}},
	}
	for _, tt := range tests {
		got, problem := Decode([]byte(tt.text))
		if problem != nil {
			t.Errorf("%s: %v", tt.text, problem)
			continue
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s: %s", tt.text, diff)
		}
	}
}

// Many names cost little more than their own memory: none of them is decoded by itself.
func TestManyNames(t *testing.T) {
	const names = 10_000
	text := []byte(`{"op":"subscribe","id":"x","condition":"true","robots":["` + strings.Repeat(`robot","`, names-1) + `robot"]}`)
	allocated := testing.AllocsPerRun(3, func() {
		if m, problem := Decode(text); problem != nil || len(m.(*Subscribe).Robots) != names {
			t.Fatal(problem)
		}
	})
	if allocated > 1.1*names {
		t.Errorf("%d names took %.0f allocations; expected about one for each", names, allocated)
	}
}

// Every field that a message of a client has is read: what is encoded comes back.
func TestEveryFieldIsRead(t *testing.T) {
	for i, m := range []any{&Hello{}, &Subscribe{}, &Subscribe{}, &Update{}, &Update{}, &Unsubscribe{}, &Ack{}, &Command{}, &List{}} {
		v := reflect.ValueOf(m).Elem()
		fill(t, v)
		if f := v.FieldByName([]string{"Select", "Messages"}[i%2]); f.IsValid() {
			f.SetZero() // they contradict each other
		}
		v.FieldByName("Op").SetString(strings.ToLower(v.Type().Name()))
		text, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		got, problem := Decode(text)
		if problem != nil {
			t.Errorf("%s: %v", text, problem)
		} else if diff := cmp.Diff(m, got); diff != "" {
			t.Errorf("%s: %s", text, diff)
		}
	}
}

// fill sets all fields of a struct to something that is not left out.
func fill(t *testing.T, v reflect.Value) {
	t.Helper()
	words := map[string]string{"Trigger": TriggerRising, "Keep": KeepLatest, "What": "robots"}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			fill(t, v.Field(i))
			field := v.Field(i)
			if field.Kind() == reflect.Pointer {
				field = field.Elem()
			}
			if word, ok := words[v.Type().Field(i).Name]; ok {
				field.SetString(word)
			}
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(t, v.Elem())
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(t, v.Index(0))
	case reflect.Map:
		value := reflect.New(v.Type().Elem()).Elem()
		fill(t, value)
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(reflect.ValueOf("key"), value)
	case reflect.String:
		v.SetString("text")
	case reflect.Interface:
		v.Set(reflect.ValueOf("any"))
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int:
		v.SetInt(3)
	case reflect.Uint64:
		v.SetUint(3)
	case reflect.Float64:
		v.SetFloat(1.5)
	default:
		t.Fatalf("a field of kind %v is not filled", v.Kind())
	}
}

func TestDecodeErrors(t *testing.T) {
	tests := []struct{ text, want string }{
		{``, "not JSON: it ends too early"},
		{`{"op":"ack"`, "not JSON: it ends too early"},
		{`{op}`, "not JSON: invalid character 'o', at byte 1"},
		{`[]`, "expected an object"},
		{`"subscribe"`, "expected an object"},
		{"{\"op\":\"\xff\"}", "the message is not UTF-8"},
		{`{"op":"ack","source":"s","num":1} {}`, "something stands behind the object"},
		{`{"op":"ack","op":"hello"}`, "`op`: stands there twice"},
		{`{"op":"subscribe","id":"a","select":{"x":"1","x":"2"}}`, "`select.x`: stands there twice"},
		{`{}`, "`op`: missing; expected one of `hello`, `subscribe`, `update`, `unsubscribe`, `ack`, `command`, `list`, `serve`, `unserve`, `request`, `cancel`, `done`"},
		{`{"op":5}`, "`op`: this is the number 5; expected text"},
		{`{"op":"subscrbe"}`, "`op`: \"subscrbe\" is unknown: did you mean \"subscribe\"?"},
		{`{"op":"zzz"}`, "`op`: \"zzz\" is unknown; expected one of `hello`, `subscribe`, `update`, `unsubscribe`, `ack`, `command`, `list`, `serve`, `unserve`, `request`, `cancel`, `done`"},
		{`{"op":"subscribe","id":"a","condition":"true","triger":"every"}`, "`triger`: unknown field: did you mean `trigger`?"},
		{`{"op":"update","id":"a","zzzzzzzz":1}`, "`zzzzzzzz`: unknown field; expected one of `condition`, `devices`, `for`, `id`, `keep`, `messages`, `min_interval`, `robots`, `select`, `trigger`"},
		{`{"op":"hello","subscriptions":[{"id":"a","condtion":"true"}]}`, "`subscriptions[0].condtion`: unknown field: did you mean `condition`?"},
		{`{"op":"hello","subscriptions":[{"id":"a"},{}]}`, "`subscriptions[1].id`: missing or empty; expected text"},
		{`{"op":"hello","subscriptions":[1]}`, "`subscriptions[0]`: expected an object"},
		{`{"op":"hello","num":{"a":-1}}`, "`num.a`: this is the number -1; expected a whole number, 0 or more"},
		{`{"op":"hello","attachment":null}`, "`attachment`: this is null; expected a whole number, 0 or more"},
		{`{"op":"subscribe","id":"x","condition":"true","robots":["a",null]}`, "`robots[1]`: this is null; expected text"},
		{`{"op":"subscribe","id":"x","condition":"true","robots":["a",1]}`, "`robots[1]`: this is the number 1; expected text"},
		{`{"op":"hello","client":"` + strings.Repeat("x", 257) + `"}`, "`client`: 257 bytes; the limit is 256"},
		{`{"op":"subscribe","condition":"true"}`, "`id`: missing or empty; expected text"},
		{`{"op":"subscribe","id":"` + strings.Repeat("x", 257) + `"}`, "`id`: 257 bytes; the limit is 256"},
		{`{"op":"subscribe","id":"a","condition":1}`, "`condition`: this is the number 1; expected text"},
		{`{"op":"subscribe","id":"a","robots":"r1"}`, "`robots`: this is text; expected a list of texts"},
		{`{"op":"subscribe","id":"a","robots":["r1",2]}`, "`robots[1]`: this is the number 2; expected text"},
		{`{"op":"subscribe","id":"a","robots":["r["]}`, "`robots[0]`: \"r[\" is no pattern; expected a name, or one with *, ? or [a-z]"},
		{`{"op":"subscribe","id":"a","devices":[""]}`, "`devices[0]`: empty; expected a name or pattern"},
		{`{"op":"subscribe","id":"a","trigger":"evry"}`, "`trigger`: \"evry\" is unknown: did you mean \"every\"?"},
		{`{"op":"subscribe","id":"a","keep":"newest"}`, "`keep`: \"newest\" is unknown; expected one of `all`, `latest`"},
		{`{"op":"subscribe","id":"a","for":-1}`, "`for`: -1; expected a number of seconds, 0 or more"},
		{`{"op":"subscribe","id":"a","for":"1s"}`, "`for`: this is text; expected a number"},
		{`{"op":"subscribe","id":"a","min_interval":1e999}`, "`min_interval`: this is the number 1e999; expected a number"},
		{`{"op":"subscribe","id":"a","select":["laser.min"]}`, "`select`: this is a list; expected an object of expressions"},
		{`{"op":"subscribe","id":"a","select":{"a":true}}`, "`select.a`: this is true; expected text"},
		{`{"op":"subscribe","id":"a","select":{"":"1"}}`, "`select`: a name is empty or longer than 256 bytes"},
		{`{"op":"update","id":"a","trigger":"x"}`, "`trigger`: \"x\" is unknown; expected one of `every`, `rising`, `change`"},
		{`{"op":"ack","num":1}`, "`source`: missing or empty; expected text"},
		{`{"op":"command","id":"a","robot":"r0"}`, "`name`: missing or empty; expected text"},
		{`{"op":"command","id":"a","robot":"r0","name":"stop","index":-1}`, "`index`: this is the number -1; expected a whole number from 0 to 65535"},
		{`{"op":"command","id":"a","robot":"r0","name":"stop","args":{}}`, "`args`: this is an object; expected a list"},
		{`{"op":"subscribe","id":"a","condition":"true","messages":true,"select":{"x":"index"}}`, "`messages`: it contradicts select; expected one of both"},
		{`{"op":"update","id":"a","messages":1}`, "`messages`: this is the number 1; expected true or false"},
		{`{"op":"list","id":"a","what":"robot"}`, "`what`: \"robot\" is unknown: did you mean \"robots\"?"},
	}
	for _, tt := range tests {
		_, problem := Decode([]byte(tt.text))
		if problem == nil {
			t.Errorf("%s: accepted", tt.text)
			continue
		}
		if diff := cmp.Diff(tt.want, problem.Error()); diff != "" {
			t.Errorf("%s: %s", tt.text, diff)
		}
	}
	for text, want := range map[string]Invalid{
		`{"op":"subscribe","id":"a","trigger":"x"}`:    {Code: BadMessage, ID: "a", Field: "trigger"},
		`{"op":"subscribe","id":"a","for":"1s"}`:       {Code: BadMessage, ID: "a", Field: "for"},
		`{"op":"list","id":"a","what":"x"}`:            {Code: BadMessage, ID: "a", Field: "what"},
		`{"op":"command","id":"a","robot":"r"}`:        {Code: BadMessage, ID: "a", Field: "name"},
		`{"op":"subscribe","id":7,"condition":"true"}`: {Code: BadMessage, Field: "id"},
	} {
		_, problem := Decode([]byte(text))
		if problem == nil {
			t.Errorf("%s: accepted", text)
			continue
		}
		problem.Message = ""
		if diff := cmp.Diff(want, *problem); diff != "" {
			t.Errorf("%s: %s", text, diff)
		}
	}
}

func TestApply(t *testing.T) {
	s := Subscription{ID: "a", Condition: "true", Robots: []string{"r1"}, For: 1, Keep: "latest"}
	u := Update{ID: "a", Robots: &[]string{}, For: ptr(0.0), Trigger: ptr("rising")}
	want := Subscription{ID: "a", Condition: "true", Robots: []string{}, Trigger: "rising", Keep: "latest"}
	if diff := cmp.Diff(want, u.Apply(s)); diff != "" {
		t.Error(diff)
	}
}

func FuzzDecode(f *testing.F) {
	for _, s := range []string{
		`{"op":"hello","num":{"a":1},"subscriptions":[{"id":"x","select":{"a":"1"}}]}`, `{"op":"subscribe","id":"x","condition":"true","for":1}`,
		`{"op":"update","id":"x","robots":["["]}`, `{"op":"command","id":"x","robot":"r","name":"n","args":[[],{}]}`, `{"op":"list"}`, `{"op":"ack","source":"s","num":1}`, `{"op":"unsubscribe","id":"`,
		`{"op":"serve","id":"s","queue":"docks","at_once":4}`, `{"op":"unserve","id":"s"}`, `{"op":"request","id":"r","queue":"docks","body":{"a":[1,"\u00e9"]},"ttl":5,"key":"k"}`,
		`{"op":"cancel","key":"k"}`, `{"op":"done","task":"~1.b1","body":null}`, `{"op":"done","task":"~1.b1","error":{"message":"m"}}`, `{"op":"done","task":"~1.b1","progress":0.5}`, `{"op":"ack","key":"k"}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		m, problem := Decode(data)
		if (m == nil) == (problem == nil) {
			t.Fatalf("%s: %v and %v", data, m, problem)
		}
		if problem != nil {
			if problem.Message == "" || problem.Code == "" {
				t.Fatalf("%s: %+v", data, problem)
			}
			return
		}
		// What was understood reads the same when written.
		again, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		if _, problem := Decode(again); problem != nil {
			t.Fatalf("%s: %s: %v", data, again, problem)
		}
	})
}
