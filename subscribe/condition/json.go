package condition

import (
	"reflect"
	"strconv"

	"callboard/subscribe/view"
)

// appendAny appends a value that expr gave as AppendValue does.
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
		return view.AppendString(dst, v)
	case []float64:
		return view.AppendFloats(dst, v)
	case view.View:
		return view.AppendText(dst, v)
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
