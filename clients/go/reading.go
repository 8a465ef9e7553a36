package callboard

import (
	"encoding/json"
	"math"
	"reflect"
	"slices"
)

// Floats are numbers of a reading. One that is not finite, which JSON has as null,
// is NaN.
type Floats []float64

// UnmarshalJSON implements json.Unmarshaler.
func (f *Floats) UnmarshalJSON(text []byte) error {
	var all []*float64
	if err := json.Unmarshal(text, &all); err != nil {
		return err
	}
	*f = make(Floats, len(all))
	for i, v := range all {
		if (*f)[i] = math.NaN(); v != nil {
			(*f)[i] = *v
		}
	}
	return nil
}

// Values returns what a subscription has selected, by name: numbers are float64,
// and nil if they are not finite. It is nil if the notification is not that
// subscription's, or if that selects nothing.
func (n *Notification) Values(id string) (values map[string]any) {
	for _, m := range n.Subscriptions {
		if m.ID == id && json.Unmarshal(m.Values, &values) == nil {
			return values
		}
	}
	return nil
}

// read decodes the reading if it is of one of the interfaces and has a field that
// marks it. Numbers that are not finite, or not there, are NaN.
func (n *Notification) read(into any, mark string, interfaces ...string) bool {
	if n.Reading == nil || !slices.Contains(interfaces, n.Interface) {
		return false
	}
	v := reflect.ValueOf(into).Elem()
	for i := range v.NumField() {
		if f := v.Field(i); f.Kind() == reflect.Float64 {
			f.SetFloat(math.NaN()) // null leaves it as it is
		}
	}
	var marked map[string]json.RawMessage
	if len(interfaces) > 1 && (json.Unmarshal(n.Reading, &marked) != nil || marked[mark] == nil) {
		return false
	}
	return json.Unmarshal(n.Reading, into) == nil
}
