package protocol

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"callboard/player/problem"
)

// fields says how each field is decoded.
type fields map[string]setter

// setter decodes a value; field is its name for messages.
type setter func(field string, raw json.RawMessage) *Invalid

// take decodes the object's fields. An unknown one is an error if strict.
func (o *object) take(strict bool, known fields) *Invalid {
	for i := range o.fields {
		key := o.fields[i].key
		set, ok := known[key]
		switch {
		case ok:
			if problem := set(o.field(key), o.fields[i].value); problem != nil {
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
	if best := problem.Nearest(key, names); best != "" {
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
		if raw[0] != '"' {
			return wrongType(field, raw, "text")
		}
		*to = unquote(raw)
		return nil
	}
}

func truth(to *bool) setter {
	return func(field string, raw json.RawMessage) *Invalid {
		if raw[0] == 'n' || json.Unmarshal(raw, to) != nil {
			return wrongType(field, raw, "true or false")
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

// texts decodes a list of texts at once, unless one is wrong or may be (null is
// none): then one by one, so that the message says which.
func texts(to *[]string) setter {
	return func(field string, raw json.RawMessage) *Invalid {
		if raw[0] == '[' && !bytes.Contains(raw, []byte("null")) && json.Unmarshal(raw, to) == nil {
			*to = packed(*to)
			return nil
		}
		*to = []string{}
		return list(field, raw, "a list of texts", func(field string, raw json.RawMessage) *Invalid {
			var s string
			problem := text(&s)(field, raw)
			*to = append(*to, s)
			return problem
		})
	}
}

// packed puts texts into one piece of memory: there may be 100,000, which stay.
func packed(texts []string) []string {
	all := strings.Join(texts, "")
	out := make([]string, len(texts))
	for i, t := range texts {
		out[i], all = all[:len(t)], all[len(t):]
	}
	return out
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
		*to = make(map[string]T, len(o.fields))
		for _, f := range o.fields {
			var v T
			if problem := set(&v)(o.field(f.key), f.value); problem != nil {
				return problem
			}
			(*to)[f.key] = v
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
