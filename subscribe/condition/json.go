package condition

import (
	"reflect"
	"strconv"
	"unicode/utf8"

	"callboard/subscribe/view"
)

// appendAny appends a value that expr gave as JSON.
func appendAny(dst []byte, v any) []byte {
	switch v := v.(type) {
	case nil:
		return append(dst, "null"...)
	case bool:
		return strconv.AppendBool(dst, v)
	case int:
		return strconv.AppendInt(dst, int64(v), 10)
	case float64:
		return view.AppendFloat(dst, v)
	case string:
		return AppendString(dst, v)
	case []float64:
		return view.AppendFloats(dst, v)
	case view.View:
		return v.AppendJSON(dst)
	}
	list := reflect.ValueOf(v)
	if list.Kind() != reflect.Slice {
		return append(dst, "null"...)
	}
	dst = append(dst, '[')
	for i := range list.Len() {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendAny(dst, list.Index(i).Interface())
	}
	return append(dst, ']')
}

// AppendString appends a text as JSON.
func AppendString(dst []byte, s string) []byte {
	const hex = "0123456789abcdef"
	dst = append(dst, '"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			dst = append(dst, '\\', byte(r))
		case r < 0x20 || r == 0x7f || r == '\u2028' || r == '\u2029':
			dst = append(dst, '\\', 'u', hex[r>>12&15], hex[r>>8&15], hex[r>>4&15], hex[r&15])
		default:
			dst = utf8.AppendRune(dst, r)
		}
	}
	return append(dst, '"')
}
