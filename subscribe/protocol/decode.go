package protocol

import (
	"bytes"
	"callboard/player/problem"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Decode decodes a client's message, JSON text, strictly: one object, no key
// twice, nothing behind it; in subscribe and update no unknown field; types as
// they are. It returns a *Hello, *Subscribe, *Update, *Unsubscribe, *Ack,
// *Command, *List, *Serve, *Unserve, *Request, *Cancel or *Done, its options
// checked.
func Decode(data []byte) (any, *Invalid) {
	if !utf8.Valid(data) {
		return nil, &Invalid{Code: BadMessage, Message: "the message is not UTF-8"}
	}
	o, problem := readObject(data, "")
	if problem != nil {
		return nil, problem
	}
	m, problem := o.message()
	if problem == nil {
		problem = check(m)
	}
	if problem != nil {
		problem.ID = o.id()
		return nil, problem
	}
	return m, nil
}

var clientOps = []string{OpHello, OpSubscribe, OpUpdate, OpUnsubscribe, OpAck, OpCommand, OpList, OpServe, OpUnserve, OpRequest, OpCancel, OpDone}

// message decodes the object by its op.
func (o *object) message() (any, *Invalid) {
	raw := o.get("op")
	if raw == nil {
		return nil, &Invalid{Code: BadMessage, Field: "op", Message: "missing; expected one of " + quotedList(clientOps)}
	}
	var op string
	if problem := text(&op)("op", raw); problem != nil {
		return nil, problem
	}
	switch op {
	case OpHello:
		m := &Hello{Op: op}
		return m, o.take(false, fields{
			"client": text(&m.Client), "token": text(&m.Token), "attachment": pointer(&m.Attachment, count),
			"session": text(&m.Session), "num": counts(&m.Num), "subscriptions": subscriptions(&m.Subscriptions),
			"window": pointer(&m.Window, count), "away": pointer(&m.Away, texts),
			"tasks": texts(&m.Tasks), "term": count(&m.Term), "standby": truth(&m.Standby),
		})
	case OpSubscribe:
		m := &Subscribe{Op: op}
		return m, o.take(true, subscriptionFields(&m.Subscription))
	case OpUpdate:
		m := &Update{Op: op}
		return m, o.take(true, fields{
			"id": text(&m.ID), "condition": pointer(&m.Condition, text), "robots": pointer(&m.Robots, texts),
			"devices": pointer(&m.Devices, texts), "trigger": pointer(&m.Trigger, text),
			"min_interval": pointer(&m.MinInterval, number), "for": pointer(&m.For, number),
			"select": pointer(&m.Select, textMap), "keep": pointer(&m.Keep, text), "messages": pointer(&m.Messages, truth),
		})
	case OpUnsubscribe:
		m := &Unsubscribe{Op: op}
		return m, o.take(false, fields{"id": text(&m.ID)})
	case OpAck:
		m := &Ack{Op: op}
		return m, o.takeAck(m)
	case OpCommand:
		m := &Command{Op: op}
		return m, o.take(false, fields{
			"id": text(&m.ID), "robot": text(&m.Robot), "interface": text(&m.Interface), "index": pointer(&m.Index, index),
			"name": text(&m.Name), "args": values(&m.Args), "ttl": number(&m.TTL), "key": text(&m.Key),
		})
	case OpList:
		m := &List{Op: op}
		return m, o.take(false, fields{"id": text(&m.ID), "what": text(&m.What)})
	}
	if m, invalid := o.taskMessage(op); m != nil {
		return m, invalid
	}
	message := fmt.Sprintf("%s is unknown; expected one of %s", quote(op), quotedList(clientOps))
	if best := problem.Nearest(op, clientOps); best != "" {
		message = fmt.Sprintf("%s is unknown: did you mean %q?", quote(op), best)
	}
	return nil, &Invalid{Code: BadMessage, Field: "op", Message: message}
}

func subscriptionFields(s *Subscription) fields {
	return fields{
		"id": text(&s.ID), "condition": text(&s.Condition), "robots": texts(&s.Robots), "devices": texts(&s.Devices),
		"trigger": text(&s.Trigger), "min_interval": number(&s.MinInterval), "for": number(&s.For),
		"select": textMap(&s.Select), "keep": text(&s.Keep), "messages": truth(&s.Messages),
	}
}

// check checks what must be there. The options of a hello's subscriptions are
// checked when they are compiled, so that one that is wrong does not keep the
// others from going on.
func check(m any) *Invalid {
	switch m := m.(type) {
	case *Hello:
		if len(m.Client) > MaxID {
			return &Invalid{Code: BadMessage, Field: "client", Message: fmt.Sprintf("%d bytes; the limit is %d", len(m.Client), MaxID)}
		}
		for n := range m.Subscriptions {
			if i := validID(m.Subscriptions[n].ID); i != nil {
				i.Field = fmt.Sprintf("subscriptions[%d].id", n)
				return i
			}
		}
	case *Subscribe:
		return m.Validate()
	case *Update:
		return m.Validate()
	case *Unsubscribe:
		return validID(m.ID)
	case *Ack:
		if m.Key == "" {
			return required("source", m.Source)
		}
		return validKey(m.Key)
	case *Command:
		i := firstInvalid(validID(m.ID), required("robot", m.Robot), required("name", m.Name), validSeconds("ttl", m.TTL), validKey(m.Key))
		if i != nil {
			i.Code = BadMessage
		}
		return i
	case *List:
		i := firstInvalid(validID(m.ID), required("what", m.What))
		if i == nil {
			i = validChoice("what", m.What, "robots", "brokers", "subscriptions")
		}
		if i != nil {
			i.Code = BadMessage
		}
		return i
	}
	return checkTask(m)
}

func required(field, value string) *Invalid {
	if value != "" {
		return nil
	}
	return &Invalid{Code: BadMessage, Field: field, Message: "missing or empty; expected text"}
}

// object is a JSON object whose values are not decoded yet: they are parts of its text.
type object struct {
	path   string // "" for the message itself
	fields []field
	places map[string]int // of the fields, once they are many
}

type field struct {
	key   string
	value json.RawMessage
}

// fewFields is up to how many are looked for one by one.
const fewFields = 16

// get returns the value of a field; nil: there is none.
func (o *object) get(key string) json.RawMessage {
	if o.places != nil {
		if at, found := o.places[key]; found {
			return o.fields[at].value
		}
		return nil
	}
	for i := range o.fields {
		if o.fields[i].key == key {
			return o.fields[i].value
		}
	}
	return nil
}

// add puts a field in, unless there is one of that key.
func (o *object) add(key string, value json.RawMessage) bool {
	if o.get(key) != nil {
		return false
	}
	if o.fields = append(o.fields, field{key, value}); o.places == nil && len(o.fields) > fewFields {
		o.places = map[string]int{}
		for i := range o.fields {
			o.places[o.fields[i].key] = i
		}
	} else if o.places != nil {
		o.places[key] = len(o.fields) - 1
	}
	return true
}

// readObject reads exactly one object. What is none encoding/json words.
func readObject(data []byte, path string) (*object, *Invalid) {
	if !Valid(data) {
		return nil, readWrong(data, path)
	}
	o := &object{path: path, fields: make([]field, 0, 8)}
	twice := ""
	if !members(data, func(key string, value []byte) {
		if !o.add(key, value) && twice == "" {
			twice = key
		}
	}) {
		return nil, &Invalid{Code: BadMessage, Field: path, Message: "expected an object"}
	}
	if twice != "" {
		return nil, o.twice(twice)
	}
	return o, nil
}

func (o *object) twice(key string) *Invalid {
	return &Invalid{Code: BadMessage, Field: o.field(key), Message: "stands there twice"}
}

// readWrong says what is wrong with a text that is not JSON, or has something behind it.
func readWrong(data []byte, path string) *Invalid {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	o := &object{path: path}
	token, err := d.Token()
	if err != nil {
		return o.syntax(err)
	}
	if token != json.Delim('{') {
		return &Invalid{Code: BadMessage, Field: path, Message: "expected an object"}
	}
	for d.More() {
		token, err := d.Token()
		if err != nil {
			return o.syntax(err)
		}
		key, _ := token.(string)
		if o.get(key) != nil {
			return o.twice(key)
		}
		var raw json.RawMessage
		if err := d.Decode(&raw); err != nil {
			return o.syntax(err)
		}
		o.add(key, raw)
	}
	if _, err := d.Token(); err != nil {
		return o.syntax(err)
	}
	return &Invalid{Code: BadMessage, Field: path, Message: "something stands behind the object"}
}

// syntax words what encoding/json says of a text that is no JSON.
func (o *object) syntax(err error) *Invalid {
	message := "not JSON: it ends too early"
	var s *json.SyntaxError
	if errors.As(err, &s) && !strings.Contains(s.Error(), "unexpected end") {
		message = fmt.Sprintf("not JSON: %s, at byte %d", s.Error(), s.Offset)
	}
	return &Invalid{Code: BadMessage, Field: o.path, Message: message}
}

// field names a field for messages.
func (o *object) field(key string) string {
	if len(key) > MaxID {
		key = strings.ToValidUTF8(key[:MaxID], "") + "…"
	}
	if o.path == "" {
		return key
	}
	return o.path + "." + key
}

// id returns the message's id for the answer, if it has one.
func (o *object) id() string {
	var id string
	if json.Unmarshal(o.get("id"), &id) != nil || len(id) > MaxID {
		return ""
	}
	return id
}

func quote(s string) string {
	if len(s) > 40 {
		s = strings.ToValidUTF8(s[:40], "") + "…"
	}
	return strconv.Quote(s)
}

func quotedList(names []string) string {
	return "`" + strings.Join(names, "`, `") + "`"
}
