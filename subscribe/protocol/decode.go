package protocol

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Decode decodes a client's message, JSON text, strictly: one object, no key
// twice, nothing behind it; in subscribe and update no unknown field; types as
// they are. It gives a *Hello, *Subscribe, *Update, *Unsubscribe, *Ack,
// *Command or *List, its options checked.
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

var clientOps = []string{OpHello, OpSubscribe, OpUpdate, OpUnsubscribe, OpAck, OpCommand, OpList}

// message decodes the object by its op.
func (o *object) message() (any, *Invalid) {
	raw, ok := o.fields["op"]
	if !ok {
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
			"select": pointer(&m.Select, textMap), "keep": pointer(&m.Keep, text),
		})
	case OpUnsubscribe:
		m := &Unsubscribe{Op: op}
		return m, o.take(false, fields{"id": text(&m.ID)})
	case OpAck:
		m := &Ack{Op: op}
		return m, o.take(false, fields{"source": text(&m.Source), "num": count(&m.Num)})
	case OpCommand:
		m := &Command{Op: op}
		return m, o.take(false, fields{
			"id": text(&m.ID), "robot": text(&m.Robot), "interface": text(&m.Interface), "index": pointer(&m.Index, index),
			"name": text(&m.Name), "args": values(&m.Args), "ttl": number(&m.TTL),
		})
	case OpList:
		m := &List{Op: op}
		return m, o.take(false, fields{"id": text(&m.ID), "what": text(&m.What)})
	}
	message := fmt.Sprintf("%s is unknown; expected one of %s", quote(op), quotedList(clientOps))
	if best := Nearest(op, clientOps); best != "" {
		message = fmt.Sprintf("%s is unknown: did you mean %q?", quote(op), best)
	}
	return nil, &Invalid{Code: BadMessage, Field: "op", Message: message}
}

func subscriptionFields(s *Subscription) fields {
	return fields{
		"id": text(&s.ID), "condition": text(&s.Condition), "robots": texts(&s.Robots), "devices": texts(&s.Devices),
		"trigger": text(&s.Trigger), "min_interval": number(&s.MinInterval), "for": number(&s.For),
		"select": textMap(&s.Select), "keep": text(&s.Keep),
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
		return required("source", m.Source)
	case *Command:
		i := firstInvalid(validID(m.ID), required("robot", m.Robot), required("name", m.Name), validSeconds("ttl", m.TTL))
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
	return nil
}

func required(field, value string) *Invalid {
	if value != "" {
		return nil
	}
	return &Invalid{Code: BadMessage, Field: field, Message: "missing or empty; expected text"}
}

// object is a JSON object whose values are not decoded yet.
type object struct {
	path   string // "" for the message itself
	keys   []string
	fields map[string]json.RawMessage
}

// readObject reads exactly one object.
func readObject(data []byte, path string) (*object, *Invalid) {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	o := &object{path: path, fields: map[string]json.RawMessage{}}
	token, err := d.Token()
	if err != nil {
		return nil, o.syntax(err)
	}
	if token != json.Delim('{') {
		return nil, &Invalid{Code: BadMessage, Field: path, Message: "expected an object"}
	}
	for d.More() {
		token, err := d.Token()
		if err != nil {
			return nil, o.syntax(err)
		}
		key, _ := token.(string)
		if _, twice := o.fields[key]; twice {
			return nil, &Invalid{Code: BadMessage, Field: o.field(key), Message: "stands there twice"}
		}
		var raw json.RawMessage
		if err := d.Decode(&raw); err != nil {
			return nil, o.syntax(err)
		}
		o.keys, o.fields[key] = append(o.keys, key), raw
	}
	if _, err := d.Token(); err != nil {
		return nil, o.syntax(err)
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, &Invalid{Code: BadMessage, Field: path, Message: "something stands behind the object"}
	}
	return o, nil
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

// id gives the message's id for the answer, if it has one.
func (o *object) id() string {
	var id string
	if json.Unmarshal(o.fields["id"], &id) != nil || len(id) > MaxID {
		return ""
	}
	return id
}

// fields says how each field is decoded.
type fields map[string]setter

// setter decodes a value; field is its name for messages.
type setter func(field string, raw json.RawMessage) *Invalid

// take decodes the object's fields. An unknown one is an error if strict.
func (o *object) take(strict bool, known fields) *Invalid {
	for _, key := range o.keys {
		set, ok := known[key]
		switch {
		case ok:
			if problem := set(o.field(key), o.fields[key]); problem != nil {
				return problem
			}
		case key == "op" && o.path == "":
		case strict:
			return o.unknown(key, known)
		}
	}
	return nil
}

func (o *object) unknown(key string, known fields) *Invalid {
	names := make([]string, 0, len(known))
	for name := range known {
		names = append(names, name)
	}
	slices.Sort(names)
	message := "unknown field; expected one of " + quotedList(names)
	if best := Nearest(key, names); best != "" {
		message = "unknown field: did you mean `" + best + "`?"
	}
	return &Invalid{Code: BadMessage, Field: o.field(key), Message: message}
}

func wrongType(field string, raw json.RawMessage, expected string) *Invalid {
	what := "null"
	switch raw[0] {
	case '"':
		what = "text"
	case '{':
		what = "an object"
	case '[':
		what = "a list"
	case 't', 'f':
		what = string(raw)
	case 'n':
	default:
		what = "the number " + string(raw[:min(len(raw), 40)])
	}
	return &Invalid{Code: BadMessage, Field: field, Message: "this is " + what + "; expected " + expected}
}

func text(to *string) setter {
	return func(field string, raw json.RawMessage) *Invalid {
		if raw[0] != '"' || json.Unmarshal(raw, to) != nil {
			return wrongType(field, raw, "text")
		}
		return nil
	}
}

func number(to *float64) setter {
	return func(field string, raw json.RawMessage) *Invalid {
		if raw[0] == 'n' || json.Unmarshal(raw, to) != nil {
			return wrongType(field, raw, "a number")
		}
		return nil
	}
}

func count(to *uint64) setter {
	return func(field string, raw json.RawMessage) *Invalid {
		n, err := strconv.ParseUint(string(raw), 10, 64)
		if err != nil {
			return wrongType(field, raw, "a whole number, 0 or more")
		}
		*to = n
		return nil
	}
}

func index(to *int) setter {
	return func(field string, raw json.RawMessage) *Invalid {
		n, err := strconv.ParseUint(string(raw), 10, 16)
		if err != nil {
			return wrongType(field, raw, "a whole number from 0 to 65535")
		}
		*to = int(n)
		return nil
	}
}

// pointer decodes a field whose absence means something.
func pointer[T any](to **T, set func(*T) setter) setter {
	return func(field string, raw json.RawMessage) *Invalid {
		*to = new(T)
		return set(*to)(field, raw)
	}
}

// list decodes a JSON list, element by element.
func list(field string, raw json.RawMessage, expected string, each func(field string, raw json.RawMessage) *Invalid) *Invalid {
	var elements []json.RawMessage
	if raw[0] != '[' || json.Unmarshal(raw, &elements) != nil {
		return wrongType(field, raw, expected)
	}
	for n, e := range elements {
		if problem := each(fmt.Sprintf("%s[%d]", field, n), e); problem != nil {
			return problem
		}
	}
	return nil
}

func texts(to *[]string) setter {
	return func(field string, raw json.RawMessage) *Invalid {
		*to = []string{}
		return list(field, raw, "a list of texts", func(field string, raw json.RawMessage) *Invalid {
			var s string
			problem := text(&s)(field, raw)
			*to = append(*to, s)
			return problem
		})
	}
}

func subscriptions(to *[]Subscription) setter {
	return func(field string, raw json.RawMessage) *Invalid {
		return list(field, raw, "a list of subscriptions", func(field string, raw json.RawMessage) *Invalid {
			o, problem := readObject(raw, field)
			if problem != nil {
				return problem
			}
			var s Subscription
			problem = o.take(true, subscriptionFields(&s))
			*to = append(*to, s)
			return problem
		})
	}
}

// values decodes arguments of a command, of any type.
func values(to *[]any) setter {
	return func(field string, raw json.RawMessage) *Invalid {
		if raw[0] != '[' || json.Unmarshal(raw, to) != nil {
			return wrongType(field, raw, "a list")
		}
		return nil
	}
}

// entries decodes a JSON object as a map.
func entries[T any](to *map[string]T, expected string, set func(*T) setter) setter {
	return func(field string, raw json.RawMessage) *Invalid {
		if raw[0] != '{' {
			return wrongType(field, raw, expected)
		}
		o, problem := readObject(raw, field)
		if problem != nil {
			return problem
		}
		*to = make(map[string]T, len(o.keys))
		for _, key := range o.keys {
			var v T
			if problem := set(&v)(o.field(key), o.fields[key]); problem != nil {
				return problem
			}
			(*to)[key] = v
		}
		return nil
	}
}

func textMap(to *map[string]string) setter {
	return entries(to, "an object of expressions", text)
}

func counts(to *map[string]uint64) setter {
	return entries(to, "an object of numbers", count)
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
