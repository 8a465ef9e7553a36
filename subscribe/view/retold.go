package view

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"

	"callboard/player"
)

// Retold makes Player messages again of the readings of one device, as JSON
// has them (AppendJSON): messages that give the same readings. It serves each
// interface each of whose messages is a reading, but for positions. What a
// reading does not tell is 0 in the message; null is no number, but where a
// value that has no end is meant.
type Retold struct {
	view   retold
	fields any // what has the view's fields
}

// retold is a view that knows the message it came of.
type retold interface {
	single
	// message gives the subtype and the payload of a message that gives this
	// view; nil if none does.
	message() (uint8, any)
}

// NewRetold makes a Retold for a device of an interface; false if there is
// none for it.
func NewRetold(i player.Interface) (*Retold, bool) {
	k, ok := singleKinds[i]
	if !ok {
		return nil, false
	}
	if k == KindIMU {
		u := &retoldIMU{}
		return &Retold{u, &u.IMU}, true
	}
	v, ok := kindTable[k].make().(retold)
	return &Retold{v, v}, ok
}

// Message gives the subtype and the payload of a message that gives the
// reading. The payload is the caller's. Readings must come in their order.
func (r *Retold) Message(object []byte) (subtype uint8, payload any, err error) {
	if err := setFields(r.fields, object); err != nil {
		return 0, nil, err
	}
	subtype, payload = r.view.message()
	if payload == nil {
		return 0, nil, fmt.Errorf("no message of Player's has this reading")
	}
	return subtype, payload, nil
}

// setFields sets a view's fields to what a JSON object has: numbers that are
// null, or not there, are NaN.
func setFields(view any, object []byte) error {
	var all map[string]json.RawMessage
	if err := json.Unmarshal(object, &all); err != nil {
		return err
	}
	v := reflect.ValueOf(view).Elem()
	for i := range v.NumField() {
		name := v.Type().Field(i).Tag.Get("expr")
		if name == "" {
			continue
		}
		if err := setField(v.Field(i), all[name]); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

func setField(at reflect.Value, text json.RawMessage) error {
	switch to := at.Addr().Interface().(type) {
	case *float64:
		number := (*float64)(nil)
		if text != nil {
			if err := json.Unmarshal(text, &number); err != nil {
				return err
			}
		}
		*to = orNaN(number)
	case *[]float64:
		var list []*float64
		if text != nil {
			if err := json.Unmarshal(text, &list); err != nil {
				return err
			}
		}
		*to = (*to)[:0]
		for _, number := range list {
			*to = append(*to, orNaN(number))
		}
	default:
		at.SetZero()
		if text != nil {
			return json.Unmarshal(text, to)
		}
	}
	return nil
}

func orNaN(number *float64) float64 {
	if number == nil {
		return math.NaN()
	}
	return *number
}

// entry gives a value of a list that may be too short.
func entry(list []float64, i int) float64 {
	if i < len(list) {
		return list[i]
	}
	return math.NaN()
}

// infinite gives what was meant by a length that is null: no end.
func infinite(f float64) float64 {
	if math.IsNaN(f) {
		return math.Inf(1)
	}
	return f
}

// integer gives f as an integer; 0 if T does not have it.
func integer[T uint8 | uint16 | uint32 | int16 | int32 | int64, F float64 | int](f F) T {
	if v := T(f); F(v) == f {
		return v
	}
	return 0
}

// flag gives a truth as Player has it.
func flag(b bool) uint8 {
	if b {
		return 1
	}
	return 0
}

// narrowed gives numbers as Player has them.
func narrowed(list []float64) []float32 {
	out := make([]float32, len(list))
	for i, f := range list {
		out[i] = float32(f)
	}
	return out
}
