package push

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"callboard/subscribe/protocol"
)

// request is one message of a client, decoded: one of protocol's structs, not
// a pointer. id is what an answer names, "" if the message has none.
type request struct {
	op      string
	id      string
	message any
}

// maxSources bounds hello's num: a broker network of as many brokers is none.
const maxSources = 10_000

// decode reads a client's message. Names are exact; an unknown field is an
// error in subscribe and update (and in hello's subscriptions), elsewhere it
// is ignored; null means left out. With an error the request has op and id as
// far as they could be read. Of hello's subscriptions at most most are taken.
func decode(text []byte, most int) (request, *Problem) {
	if !utf8.Valid(text) {
		return request{}, badMessage("not UTF-8; expected a JSON object")
	}
	o, problem := readObject(text)
	if problem != nil {
		return request{}, problem
	}
	var r request
	o.text("op", &r.op)
	if o.problem == nil && r.op == "" {
		o.problem = badMessage(`no "op"; expected an object with "op"`)
	}
	if o.problem != nil {
		return r, o.problem
	}
	switch r.op {
	case protocol.OpHello:
		r.message = o.hello(most)
	case protocol.OpSubscribe:
		m := protocol.Subscribe{Op: r.op, Subscription: o.subscription()}
		r.id, r.message = m.ID, m
	case protocol.OpUpdate:
		m := o.update()
		r.id, r.message = m.ID, m
	case protocol.OpUnsubscribe:
		m := protocol.Unsubscribe{Op: r.op}
		o.id(&m.ID)
		r.id, r.message = m.ID, m
	case protocol.OpAck:
		m := protocol.Ack{Op: r.op}
		o.required("source", &m.Source)
		o.requiredNumber("num", &m.Num)
		r.message = m
	case protocol.OpCommand:
		m := o.command()
		r.id, r.message = m.ID, m
	case protocol.OpList:
		m := protocol.List{Op: r.op}
		o.id(&m.ID)
		o.required("what", &m.What)
		r.id, r.message = m.ID, m
	default:
		// Unknown, but an id may help its sender.
		_ = json.Unmarshal(o.fields["id"], &r.id)
		return r, badMessage("%s", unknown("op", r.op, ops))
	}
	return r, o.problem
}

// ops are the operations of clients.
var ops = []string{protocol.OpHello, protocol.OpSubscribe, protocol.OpUpdate, protocol.OpUnsubscribe, protocol.OpAck, protocol.OpCommand, protocol.OpList}

func badMessage(format string, args ...any) *Problem {
	return &Problem{Code: protocol.BadMessage, Message: fmt.Sprintf(format, args...)}
}

// unknown words an unknown op or field, with what is known.
func unknown(what, name string, known []string) string {
	return fmt.Sprintf("unknown %s %q; expected one of %s", what, shorten(name), strings.Join(known, ", "))
}

func shorten(s string) string {
	if r := []rune(s); len(r) > 60 {
		return string(r[:60]) + "…"
	}
	return s
}

// object holds the known fields of one JSON object; the first problem counts.
// Values are parts of the message: nothing is copied, so that a message cannot
// become many times its size.
type object struct {
	fields  map[string]json.RawMessage
	stray   string // the first field that no message has, if any
	strays  bool
	known   []string
	problem *Problem
}

// fieldNames are all fields that some message of a client has.
var fieldNames = []string{
	"op", "id", "client", "token", "attachment", "session", "num", "subscriptions",
	"condition", "robots", "devices", "trigger", "min_interval", "for", "select", "keep",
	"source", "robot", "interface", "index", "name", "args", "ttl", "what",
}

func readObject(text []byte) (*object, *Problem) {
	if !json.Valid(text) {
		var nothing struct{}
		err := json.Unmarshal(text, &nothing)
		var syntax *json.SyntaxError
		if errors.As(err, &syntax) {
			return nil, badMessage("not JSON: %v, at byte %d", err, syntax.Offset)
		}
		return nil, badMessage("not JSON; expected a JSON object")
	}
	return objectOf(text)
}

// objectOf does as readObject with text that is known to be JSON.
func objectOf(text []byte) (*object, *Problem) {
	o := &object{fields: map[string]json.RawMessage{}}
	if !members(text, func(name string, value []byte) {
		if slices.Contains(fieldNames, name) {
			o.fields[name] = value
		} else if !o.strays {
			o.stray, o.strays = name, true
		}
	}) {
		return nil, badMessage("not an object; expected a JSON object")
	}
	return o, nil
}

// get gives a field that is there and not null.
func (o *object) get(name string) (json.RawMessage, bool) {
	o.known = append(o.known, name)
	raw, ok := o.fields[name]
	return raw, ok && string(raw) != "null"
}

func (o *object) wrong(name, expected string) {
	if o.problem == nil {
		o.problem = badMessage("field %q is wrong; expected %s", name, expected)
	}
}

// field decodes a field into what into points to.
func (o *object) field(name, expected string, into any) bool {
	raw, ok := o.get(name)
	if ok && json.Unmarshal(raw, into) != nil {
		o.wrong(name, expected)
		return false
	}
	return ok
}

func (o *object) text(name string, into *string) bool { return o.field(name, "a string", into) }

// required reads a string that must be there and not empty.
func (o *object) required(name string, into *string) {
	if o.text(name, into); *into == "" && o.problem == nil {
		o.problem = badMessage("field %q is missing or empty; expected a string", name)
	}
}

// maxID bounds what clients call their subscriptions and requests, in bytes.
const maxID = 256

func (o *object) id(into *string) {
	if o.required("id", into); len(*into) > maxID {
		*into = ""
		o.wrong("id", fmt.Sprintf("at most %d bytes", maxID))
	}
}

func (o *object) requiredNumber(name string, into *uint64) {
	if !o.field(name, "a whole number, 0 or more", into) && o.problem == nil {
		o.problem = badMessage("field %q is missing; expected a whole number, 0 or more", name)
	}
}

// seconds reads a time span.
func (o *object) seconds(name string, into *float64) bool {
	ok := o.field(name, "seconds, 0 or more", into)
	if ok && (*into < 0 || math.IsInf(*into, 0)) {
		o.wrong(name, "seconds, 0 or more")
	}
	return ok
}

// finish reports fields that were not asked for.
func (o *object) finish() {
	if o.problem != nil {
		return
	}
	known := slices.DeleteFunc(slices.Clone(o.known), func(name string) bool { return name == "op" })
	if o.strays {
		o.problem = badMessage("%s", unknown("field", o.stray, known))
	}
	for _, name := range slices.Sorted(maps.Keys(o.fields)) {
		if o.problem == nil && name != "op" && !slices.Contains(known, name) {
			o.problem = badMessage("%s", unknown("field", name, known))
		}
	}
}

const (
	listOfTexts = "an array of strings"
	mapOfTexts  = "an object of strings"
)

// subscription reads the fields of a subscription, strictly.
func (o *object) subscription() protocol.Subscription {
	var s protocol.Subscription
	o.id(&s.ID)
	o.text("condition", &s.Condition)
	o.field("robots", listOfTexts, &s.Robots)
	o.field("devices", listOfTexts, &s.Devices)
	o.text("trigger", &s.Trigger)
	o.seconds("min_interval", &s.MinInterval)
	o.seconds("for", &s.For)
	o.field("select", mapOfTexts, &s.Select)
	o.text("keep", &s.Keep)
	o.finish()
	if _, ok := o.get("condition"); !ok && o.problem == nil {
		o.problem = badMessage(`field "condition" is missing; expected a condition`)
	}
	return s
}

func (o *object) update() protocol.Update {
	m := protocol.Update{Op: protocol.OpUpdate}
	o.id(&m.ID)
	optional(o, "condition", "a string", &m.Condition)
	optional(o, "robots", listOfTexts, &m.Robots)
	optional(o, "devices", listOfTexts, &m.Devices)
	optional(o, "trigger", "a string", &m.Trigger)
	var interval, hold float64
	if o.seconds("min_interval", &interval) {
		m.MinInterval = &interval
	}
	if o.seconds("for", &hold) {
		m.For = &hold
	}
	optional(o, "select", mapOfTexts, &m.Select)
	optional(o, "keep", "a string", &m.Keep)
	o.finish()
	return m
}

// optional reads a field that may be left out.
func optional[T any](o *object, name, expected string, into **T) {
	v := new(T)
	if o.field(name, expected, v) {
		*into = v
	}
}

func (o *object) command() protocol.Command {
	m := protocol.Command{Op: protocol.OpCommand}
	o.id(&m.ID)
	o.required("robot", &m.Robot)
	o.text("interface", &m.Interface)
	optional(o, "index", "a whole number", &m.Index)
	o.required("name", &m.Name)
	o.field("args", "an array", &m.Args)
	o.seconds("ttl", &m.TTL)
	return m
}

func (o *object) hello(most int) protocol.Hello {
	m := protocol.Hello{Op: protocol.OpHello}
	o.text("client", &m.Client)
	if len(m.Client) > maxID {
		o.wrong("client", fmt.Sprintf("at most %d bytes", maxID))
	}
	o.text("token", &m.Token)
	optional(o, "attachment", "a whole number, 0 or more", &m.Attachment)
	o.text("session", &m.Session)
	if raw, ok := o.get("num"); ok {
		sources := 0
		if !members(raw, func(string, []byte) { sources++ }) || sources > maxSources || json.Unmarshal(raw, &m.Num) != nil {
			o.wrong("num", fmt.Sprintf("an object of whole numbers by source, at most %d", maxSources))
		}
	}
	if raw, ok := o.get("subscriptions"); ok && o.problem == nil {
		m.Subscriptions, o.problem = subscriptions(raw, most)
	}
	return m
}

// subscriptions reads hello's list.
func subscriptions(raw []byte, most int) ([]protocol.Subscription, *Problem) {
	var all []protocol.Subscription
	var problem *Problem
	if !elements(raw, func(one []byte) {
		if problem != nil {
			return
		}
		if len(all) == most {
			problem = &Problem{Code: protocol.Overloaded, Message: fmt.Sprintf("hello has too many subscriptions; expected at most %d", most)}
			return
		}
		o, wrong := objectOf(one)
		if wrong == nil {
			s := o.subscription()
			if wrong = o.problem; wrong == nil {
				all = append(all, s)
				return
			}
		}
		problem = badMessage("subscriptions[%d]: %s", len(all), wrong.Message)
	}) {
		return nil, badMessage(`field "subscriptions" is wrong; expected an array of subscriptions`)
	}
	return all, problem
}
