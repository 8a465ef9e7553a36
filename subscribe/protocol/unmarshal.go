package protocol

import (
	"encoding/json"
	"reflect"
	"strconv"
	"sync"
	"unicode/utf8"
)

// Unmarshal decodes a message into a struct as json.Unmarshal does, in one pass over
// what is plain: texts, numbers, truths and raw values. These are parts of text, which
// must stay as it is. Names are those of the tags, to the letter.
func Unmarshal(text []byte, to any) error {
	v := reflect.ValueOf(to).Elem()
	fields := readableFields(v.Type())
	if fields == nil || !Valid(text) {
		return json.Unmarshal(text, to) // or says what is wrong
	}
	good := true
	if !members(text, func(name string, value []byte) {
		if at, known := fields[name]; known && good {
			good = unmarshalField(v.Field(at), value)
		}
	}) || !good {
		return json.Unmarshal(text, to)
	}
	return nil
}

// fieldsByName are the fields of types that were read already, by name; nil for what is
// left to encoding/json.
var fieldsByName sync.Map // reflect.Type → map[string]int

func readableFields(t reflect.Type) map[string]int {
	if known, found := fieldsByName.Load(t); found {
		return known.(map[string]int)
	}
	var all map[string]int
	if t.Kind() == reflect.Struct && !reflect.PointerTo(t).Implements(reflect.TypeFor[json.Unmarshaler]()) {
		all = map[string]int{}
		for i := range t.NumField() {
			name := jsonName(t.Field(i))
			if name == "" || t.Field(i).Anonymous {
				all = nil
				break
			}
			all[name] = i
		}
	}
	fieldsByName.Store(t, all)
	return all
}

var rawType = reflect.TypeFor[json.RawMessage]()

// unmarshalField decodes a value that is valid; false: it is not of that type.
func unmarshalField(v reflect.Value, value []byte) bool {
	isText := value[0] == '"' && utf8.Valid(value)
	switch kind := v.Kind(); {
	case v.Type() == rawType:
		v.SetBytes(value[:len(value):len(value)])
		return true
	case v.Type().PkgPath() != "":
	case kind == reflect.String && isText:
		v.SetString(unquote(value))
		return true
	case kind == reflect.Bool && (value[0] == 't' || value[0] == 'f'):
		v.SetBool(value[0] == 't')
		return true
	case kind == reflect.Uint64 && isDigit(value[0]):
		n, err := strconv.ParseUint(string(value), 10, 64)
		v.SetUint(n)
		return err == nil
	case kind == reflect.Float64 && (isDigit(value[0]) || value[0] == '-'):
		f, err := strconv.ParseFloat(string(value), 64)
		v.SetFloat(f)
		return err == nil
	}
	return json.Unmarshal(value, v.Addr().Interface()) == nil
}
