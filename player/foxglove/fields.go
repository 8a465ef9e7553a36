package foxglove

import (
	"reflect"
	"strconv"
	"strings"
	"unicode"
)

// fieldsOf returns a struct's own fields, all digits of them, by its names in
// snake case; bytes are base64.
func fieldsOf(t reflect.Type) *Drawing {
	return &Drawing{Topic: "/data", Schema: schemaName(t), draw: func(b []byte, c *Context, payload any) []byte {
		v := reflect.ValueOf(payload)
		if v.Type() != reflect.PointerTo(t) || v.IsNil() {
			return b
		}
		b = appendTime(append(b, `{"timestamp":`...), c.Time)
		return appendFields(append(b, ','), v.Elem())
	}}
}

func schemaName(t reflect.Type) string { return "player." + t.Name() }

// appendFields appends the fields of a struct and the end of its object.
func appendFields(b []byte, v reflect.Value) []byte {
	t := v.Type()
	for i := range t.NumField() {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(appendText(b, snake(t.Field(i).Name)), ':')
		b = appendValue(b, v.Field(i))
	}
	return append(b, '}')
}

func appendValue(b []byte, v reflect.Value) []byte {
	switch v.Kind() {
	case reflect.Struct:
		return appendFields(append(b, '{'), v)
	case reflect.Slice, reflect.Array:
		if v.Type().Elem().Kind() == reflect.Uint8 && v.Kind() == reflect.Slice {
			return appendBase64(b, v.Bytes())
		}
		b = append(b, '[')
		for i := range v.Len() {
			if i > 0 {
				b = append(b, ',')
			}
			b = appendValue(b, v.Index(i))
		}
		return append(b, ']')
	case reflect.Float32:
		if f := v.Float(); f-f == 0 {
			return strconv.AppendFloat(b, f, 'g', -1, 32)
		}
		return appendExact(b, v.Float())
	case reflect.Float64:
		return appendExact(b, v.Float())
	case reflect.String:
		return appendText(b, strings.ToValidUTF8(strings.TrimRight(v.String(), "\x00"), "\uFFFD"))
	case reflect.Bool:
		return strconv.AppendBool(b, v.Bool())
	case reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return strconv.AppendInt(b, v.Int(), 10)
	}
	return strconv.AppendUint(b, v.Uint(), 10)
}

// snake makes PoseError pose_error, and VX vx.
func snake(name string) string {
	var out strings.Builder
	var before rune
	for _, r := range name {
		if unicode.IsUpper(r) && unicode.IsLower(before) {
			out.WriteByte('_')
		}
		out.WriteRune(unicode.ToLower(r))
		before = r
	}
	return out.String()
}

// appendSchema appends the JSON schema of a type.
func appendSchema(b []byte, t reflect.Type, title string, timestamp bool) []byte {
	switch t.Kind() {
	case reflect.Struct:
		b = append(b, `{"type":"object",`...)
		if title != "" {
			b = append(appendText(append(b, `"title":`...), title), ',')
		}
		b = append(b, `"properties":{`...)
		if timestamp {
			b = append(b, `"timestamp":`+timeSchema+`,`...)
		}
		for i := range t.NumField() {
			if i > 0 {
				b = append(b, ',')
			}
			b = append(appendText(b, snake(t.Field(i).Name)), ':')
			b = appendSchema(b, t.Field(i).Type, "", false)
		}
		return append(b, `}}`...)
	case reflect.Slice, reflect.Array:
		if t.Elem().Kind() == reflect.Uint8 && t.Kind() == reflect.Slice {
			return append(b, `{"type":"string","contentEncoding":"base64"}`...)
		}
		return append(appendSchema(append(b, `{"type":"array","items":`...), t.Elem(), "", false), '}')
	case reflect.Float32, reflect.Float64:
		return append(b, `{"type":"number"}`...)
	case reflect.String:
		return append(b, `{"type":"string"}`...)
	case reflect.Bool:
		return append(b, `{"type":"boolean"}`...)
	}
	return append(b, `{"type":"integer"}`...)
}
