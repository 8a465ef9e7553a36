package rosbridge

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"

	"callboard/subscribe/protocol"
)

// message is a message of a client: an object's fields.
type message map[string]json.RawMessage

// problem is an error about a message, for its sender.
type problem struct {
	message  string
	position *protocol.Position // in a condition
}

func (p *problem) Error() string { return p.message }

func wrong(format string, args ...any) error { return &problem{message: fmt.Sprintf(format, args...)} }

// parse reads a message.
func parse(text []byte) (message, error) {
	var m message
	if err := json.Unmarshal(text, &m); err != nil || m == nil {
		return nil, wrong("%s; expected one JSON object with op", notObject(text, err))
	}
	return m, nil
}

func notObject(text []byte, err error) string {
	if err != nil && !json.Valid(text) {
		return "the message is not JSON: " + err.Error()
	}
	return "the message is no object"
}

// given reports whether a field is there and not null.
func (m message) given(name string) bool {
	raw, ok := m[name]
	return ok && !bytes.Equal(raw, []byte("null"))
}

// id returns the message's id as it came; nil: it has none.
func (m message) id() json.RawMessage {
	if !m.given("id") {
		return nil
	}
	return m["id"]
}

// text returns a text; "" if it is left out.
func (m message) text(name string) (string, error) {
	var s string
	if m.given(name) && json.Unmarshal(m[name], &s) != nil {
		return "", wrong("%s: %s; expected a text", name, short(m[name]))
	}
	return s, nil
}

// needs returns a text that must be there.
func (m message) needs(name string) (string, error) {
	s, err := m.text(name)
	if err == nil && s == "" {
		err = wrong("%s: missing; expected a text", name)
	}
	return s, err
}

// number returns a whole number, rounded, from 0 to limit; 0 if it is left out.
func (m message) number(name string, limit int) (int, error) {
	if !m.given(name) {
		return 0, nil
	}
	var v float64
	if json.Unmarshal(m[name], &v) != nil {
		return 0, wrong("%s: %s; expected a number", name, short(m[name]))
	}
	return int(math.Round(min(max(v, 0), float64(limit)))), nil
}

// float returns a number; 0 if it is left out.
func (m message) float(name string) (float64, error) {
	var v float64
	if m.given(name) && json.Unmarshal(m[name], &v) != nil {
		return 0, wrong("%s: %s; expected a number", name, short(m[name]))
	}
	return v, nil
}

// short is a value's text, for errors.
func short(raw json.RawMessage) string {
	if len(raw) > 64 {
		return string(bytes.ToValidUTF8(raw[:64], nil)) + "…"
	}
	return string(raw)
}
