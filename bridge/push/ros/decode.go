package ros

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Message is a message that was read: by name a float64, int64, bool, string,
// Stamp, []byte (of bytes), Message, or []any of one of these. All fields of its
// type are there.
type Message map[string]any

// At returns what stands at a path of names; nil if nothing does.
func (m Message) At(path ...string) any {
	var v any = m
	for _, name := range path {
		inner, ok := v.(Message)
		if !ok {
			return nil
		}
		v = inner[name]
	}
	return v
}

// Float returns the number at a path, 0 if there is none.
func (m Message) Float(path ...string) float64 {
	switch v := m.At(path...).(type) {
	case float64:
		return v
	case int64:
		return float64(v)
	}
	return 0
}

// Text returns the text at a path, "" if there is none.
func (m Message) Text(path ...string) string {
	s, _ := m.At(path...).(string)
	return s
}

// Bool returns the truth at a path.
func (m Message) Bool(path ...string) bool {
	b, _ := m.At(path...).(bool)
	return b
}

// Texts returns the texts at a path.
func (m Message) Texts(path ...string) []string {
	list, _ := m.At(path...).([]any)
	out := make([]string, 0, len(list))
	for _, v := range list {
		if s, ok := v.(string); ok {
			out = append(out, s)
		}
	}
	return out
}

// FromJSON reads a message in JSON: an object, or for services a list in the order
// of the fields. What is left out, or null, is zero; a header that is given
// without a stamp is stamped with now.
func (t *Type) FromJSON(text []byte, now Stamp) (Message, error) {
	if text = bytes.TrimSpace(text); len(text) == 0 {
		text = []byte("{}")
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, err
	}
	r := jsonReader{now}
	if list, ok := v.([]any); ok {
		if len(list) > len(t.Fields) {
			return nil, fmt.Errorf("%d values; %s has %d", len(list), t.Name, len(t.Fields))
		}
		fields := map[string]any{}
		for i, one := range list {
			fields[t.Fields[i].Name] = one
		}
		v = fields
	}
	return r.message(t, v, "")
}

type jsonReader struct{ now Stamp }

// wrong words a value that does not fit.
func wrong(at, expected string, got any) error {
	text, _ := json.Marshal(got) // it was JSON
	if len(text) > 40 {
		text = append(text[:40], "…"...)
	}
	if at == "" {
		at = "message"
	}
	return fmt.Errorf("%s: %s; expected %s", at, text, expected)
}

func (r *jsonReader) message(t *Type, v any, at string) (Message, error) {
	object, ok := v.(map[string]any)
	if v != nil && !ok {
		return nil, wrong(at, "an object ("+t.Name+")", v)
	}
	m := make(Message, len(t.Fields))
	for i := range t.Fields {
		f := &t.Fields[i]
		one, given := object[f.Name]
		var err error
		if m[f.Name], err = r.field(f, one, join(at, f.Name)); err != nil {
			return nil, err
		}
		if given && f.Type == "std_msgs/Header" && f.Size == Scalar {
			if fields, ok := one.(map[string]any); ok && fields["stamp"] == nil {
				m[f.Name].(Message)["stamp"] = r.now
			}
		}
	}
	for name := range object {
		if _, known := m[name]; !known {
			return nil, fmt.Errorf("%s: unknown field; %s has %s", join(at, name), t.Name, t.names())
		}
	}
	return m, nil
}

func join(at, name string) string {
	if at == "" {
		return name
	}
	return at + "." + name
}

// names lists a type's fields, for messages.
func (t *Type) names() string {
	all := make([]string, len(t.Fields))
	for i, f := range t.Fields {
		all[i] = f.Name
	}
	if len(all) == 0 {
		return "none"
	}
	return strings.Join(all, ", ")
}

func (r *jsonReader) field(f *Field, v any, at string) (any, error) {
	if f.Size == Scalar {
		return r.value(f.Type, v, at)
	}
	if f.Type == "uint8" || f.Type == "char" {
		return r.bytes(f, v, at)
	}
	list, ok := v.([]any)
	switch {
	case v == nil:
		list = make([]any, f.Size)
	case !ok:
		return nil, wrong(at, "a list ("+f.kind()+")", v)
	case f.Size != Variable && len(list) != f.Size:
		return nil, fmt.Errorf("%s: %d elements; expected %d", at, len(list), f.Size)
	}
	out := make([]any, len(list))
	for i, one := range list {
		var err error
		if out[i], err = r.value(f.Type, one, at+"["+strconv.Itoa(i)+"]"); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (r *jsonReader) bytes(f *Field, v any, at string) (any, error) {
	var out []byte
	switch v := v.(type) {
	case nil:
		out = make([]byte, f.Size)
	case string:
		b, err := base64.StdEncoding.DecodeString(v)
		if err != nil {
			return nil, fmt.Errorf("%s: %w; expected bytes as base64", at, err)
		}
		out = b
	case []any:
		for i, one := range v {
			n, err := r.value("uint8", one, at+"["+strconv.Itoa(i)+"]")
			if err != nil {
				return nil, err
			}
			out = append(out, byte(n.(int64)))
		}
	default:
		return nil, wrong(at, "bytes, as base64 or a list", v)
	}
	if f.Size != Variable && len(out) != f.Size {
		return nil, fmt.Errorf("%s: %d bytes; expected %d", at, len(out), f.Size)
	}
	return out, nil
}

func (r *jsonReader) value(kind string, v any, at string) (any, error) {
	switch kind {
	case "bool":
		switch b := v.(type) {
		case nil:
			return false, nil
		case bool:
			return b, nil
		}
		return nil, wrong(at, "true or false", v)
	case "string":
		switch s := v.(type) {
		case nil:
			return "", nil
		case string:
			return s, nil
		}
		return nil, wrong(at, "a text", v)
	case "time", "duration":
		return r.time(v, at)
	case "float32", "float64":
		switch n := v.(type) {
		case nil:
			return 0.0, nil
		case json.Number:
			if x, err := n.Float64(); err == nil {
				return x, nil
			}
		}
		return nil, wrong(at, "a number", v)
	}
	if t := types[kind]; t != nil {
		return r.message(t, v, at)
	}
	return whole(kind, v, at)
}

// whole reads a whole number of ROS's word for it.
func whole(kind string, v any, at string) (any, error) {
	if v == nil {
		return int64(0), nil
	}
	bits, unsigned := 8*words[kind], kind[0] == 'u' || kind == "char"
	if n, ok := v.(json.Number); ok {
		if x, err := strconv.ParseInt(string(n), 10, 64); err == nil {
			switch {
			case unsigned && x >= 0 && (bits == 64 || x < 1<<bits),
				!unsigned && (bits == 64 || x >= -1<<(bits-1) && x < 1<<(bits-1)):
				return x, nil
			}
		}
	}
	return nil, wrong(at, "a whole number ("+kind+")", v)
}

func (r *jsonReader) time(v any, at string) (any, error) {
	switch v := v.(type) {
	case nil:
		return Stamp{}, nil
	case string:
		if v == "now" {
			return r.now, nil
		}
	case map[string]any:
		var t Stamp
		for name, part := range v {
			n, err := whole("uint32", part, join(at, name))
			if err != nil {
				if n, err = whole("int32", part, join(at, name)); err != nil {
					return nil, err
				}
			}
			switch name {
			case "secs", "sec":
				t.Sec = uint32(n.(int64))
			case "nsecs", "nsec", "nanosec":
				t.Nsec = uint32(n.(int64))
			default:
				return nil, fmt.Errorf("%s: unknown field; a time has secs and nsecs", join(at, name))
			}
		}
		return t, nil
	}
	return nil, wrong(at, "a time {secs, nsecs}", v)
}

// Finite reports whether all the numbers at the paths are finite.
func Finite(numbers ...float64) bool {
	for _, n := range numbers {
		if math.IsNaN(n) || math.IsInf(n, 0) {
			return false
		}
	}
	return true
}
