// Package iface holds the structs in Player's message bodies, one file per
// interface, and one immutable table that says which message carries which.
//
// Structs are named as Player's are, in Go's style: player_laser_data_t is
// LaserData. Units stand at the fields; angles are rad, counter-clockwise.
// Counts of arrays are no fields: the length of the slice is the count. Text
// is the bytes on the wire, the NUL that Player's programs count included:
// CString and GoString convert. A body of one field, or of a few of one type, that
// no part of this program looks into stands in the list of messages, unnamed.
//
// A further interface is one more file with its structs, its subtypes and its
// list of messages, and one line in the table (table.go).
package iface

import (
	"fmt"
	"reflect"
	"strings"

	"callboard/player"
	"callboard/player/xdr"
)

// Message is a message that Player defines: what its body is. It is immutable.
type Message struct {
	Interface player.Interface // 0 for the universal requests, which every interface has
	Type      player.Type      // Data, Command, Request or Synch
	Subtype   uint8
	Name      string // as in Player, without prefixes: SCAN, GET_GEOM

	make func() any
	plan *xdr.Plan // nil: the body is always empty
}

// Empty reports that the message has no body, ever.
func (m *Message) Empty() bool { return m.plan == nil }

// Struct returns the type of the body's struct, nil for an empty message.
func (m *Message) Struct() reflect.Type {
	if m.plan == nil {
		return nil
	}
	return m.plan.Type()
}

// New makes a pointer to a zero body struct, or nil for an empty message.
func (m *Message) New() any {
	if m.make == nil {
		return nil
	}
	return m.make()
}

// Append appends payload, a pointer to the message's struct, to dst. A nil
// payload is an empty body, which any request and answer may have.
func (m *Message) Append(dst []byte, payload any) ([]byte, error) {
	if payload == nil {
		return dst, nil
	}
	if m.plan == nil {
		return dst, fmt.Errorf("iface: %s has no body, got a %T", m, payload)
	}
	return m.plan.Append(dst, payload)
}

// Decode decodes body into a pointer to the message's struct, whose slices it
// reuses. Empty messages take nil; bytes that they should not have are an error.
func (m *Message) Decode(body []byte, into any) error {
	if m.plan != nil {
		return m.plan.Decode(body, into)
	}
	if len(body) > 0 {
		return fmt.Errorf("iface: %s has no body, got %d bytes", m, len(body))
	}
	return nil
}

// String has interface, type and name, for errors and logs.
func (m *Message) String() string {
	if m.Interface == 0 {
		return m.Type.String() + " " + m.Name
	}
	return fmt.Sprintf("%s %s %s", m.Interface, m.Type, m.Name)
}

// Raw is the body of a message that the table does not know, as it is on the
// wire. Append takes a *Raw, Decode refers it to the body's bytes.
type Raw struct{ Body []byte }

// Append appends payload, a pointer to (or a value of) one of this package's
// structs, encoded, to dst. A nil payload appends nothing.
func Append(dst []byte, payload any) ([]byte, error) {
	if payload == nil {
		return dst, nil
	}
	if raw, ok := payload.(*Raw); ok {
		return append(dst, raw.Body...), nil
	}
	plan, payload, err := planOf(payload)
	if err != nil {
		return dst, err
	}
	return plan.Append(dst, payload)
}

// Decode decodes body into a pointer to one of this package's structs. It
// reuses the slices there and allocates only to grow them. See xdr.Plan.Decode.
func Decode(body []byte, into any) error {
	if raw, ok := into.(*Raw); ok {
		raw.Body = body
		return nil
	}
	t := reflect.TypeOf(into)
	if t == nil || t.Kind() != reflect.Pointer || plans[t.Elem()] == nil {
		return fmt.Errorf("iface: cannot decode into %T, expected a pointer to a struct of package iface", into)
	}
	return plans[t.Elem()].Decode(body, into)
}

// AppendMessage appends h and payload as they stand on the wire; h.Size is
// set to the payload's. A payload that is not the message's struct, if the
// table knows the message, is an error. On an error dst comes back as it was.
func AppendMessage(dst []byte, h player.Header, payload any) ([]byte, error) {
	if m, ok := Lookup(h.Interf, h.Type, h.Subtype); ok && !m.takes(payload) {
		return dst, fmt.Errorf("iface: %s: a %T is not its body", m, payload)
	}
	from := len(dst)
	h.Size = 0
	out := h.Append(dst)
	out, err := Append(out, payload)
	if err != nil {
		return dst, fmt.Errorf("iface: %s: %w", h, err)
	}
	h.Size = uint32(len(out) - from - player.HeaderSize)
	if len(out)-from > player.MaxMessage {
		return dst, fmt.Errorf("iface: %s: %d bytes, a message has at most %d", h, len(out)-from, player.MaxMessage)
	}
	h.Append(out[:from])
	return out, nil
}

// takes reports whether payload may be the message's body.
func (m *Message) takes(payload any) bool {
	if _, raw := payload.(*Raw); raw || payload == nil {
		return true
	}
	t := reflect.TypeOf(payload)
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return m.plan != nil && m.plan.Type() == t
}

// planOf finds the plan of a struct or pointer; a struct comes back as a
// pointer to a copy.
func planOf(payload any) (*xdr.Plan, any, error) {
	t := reflect.TypeOf(payload)
	if t.Kind() == reflect.Pointer {
		if p := plans[t.Elem()]; p != nil {
			return p, payload, nil
		}
	} else if p := plans[t]; p != nil {
		v := reflect.New(t)
		v.Elem().Set(reflect.ValueOf(payload))
		return p, v.Interface(), nil
	}
	return nil, nil, fmt.Errorf("iface: cannot encode a %T, expected a struct of package iface", payload)
}

// CString returns s with the NUL that Player's programs count as part of a text.
func CString(s string) string { return s + "\x00" }

// GoString returns the text up to the first NUL.
func GoString(s string) string {
	text, _, _ := strings.Cut(s, "\x00")
	return text
}
