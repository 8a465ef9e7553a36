package protocol

import (
	"encoding"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// Operation returns the operation of a message, "" if it is none.
func Operation(m any) string {
	switch m.(type) {
	case *Hello:
		return OpHello
	case *Subscribe:
		return OpSubscribe
	case *Update:
		return OpUpdate
	case *Unsubscribe:
		return OpUnsubscribe
	case *Ack:
		return OpAck
	case *Command:
		return OpCommand
	case *List:
		return OpList
	case *Welcome:
		return OpWelcome
	case *Subscribed:
		return OpSubscribed
	case *Gap:
		return OpGap
	case *Robot:
		return OpRobot
	case *Reply:
		return OpReply
	case *Heartbeat:
		return OpHeartbeat
	case *Error:
		return OpError
	case *Standby:
		return OpStandby
	case *Active:
		return OpActive
	case *Serve:
		return OpServe
	case *Unserve:
		return OpUnserve
	case *Request:
		return OpRequest
	case *Cancel:
		return OpCancel
	case *Done:
		return OpDone
	case *Accepted:
		return OpAccepted
	case *Task:
		return OpTask
	case *CancelledTask:
		return OpCancelled
	case *Progress:
		return OpProgress
	}
	return ""
}

// AppendMessage appends a message other than a notification: op first, whatever
// its Op field says, then its fields, as AppendJSON does.
func AppendMessage(dst []byte, m any) []byte {
	from := len(dst)
	return plain(appendMessage(dst, m), from)
}

// AppendMessageCBOR appends it in CBOR. It uses the room of text.
func AppendMessageCBOR(dst []byte, m any, text []byte) (_, used []byte) {
	text = appendMessage(text[:0], m)
	return AppendCBOR(dst, text), text
}

func appendMessage(dst []byte, m any) []byte {
	dst = append(dst, `{"op":`...)
	dst = AppendText(dst, Operation(m))
	dst, _ = appendFields(dst, reflect.ValueOf(m).Elem(), true, 0)
	return append(dst, '}')
}

// AppendJSON appends any value as encoding/json would, by the same tags, but
// with null for numbers that are not finite (encoding/json refuses the whole
// value), and without escaping <, > and &.
func AppendJSON(dst []byte, v any) []byte {
	from := len(dst)
	return plain(appendValue(dst, reflect.ValueOf(v), 0), from)
}

// Object returns any value as an object.
func Object(v any) []byte { return Seal(appendValue(nil, reflect.ValueOf(v), 0)) }

// plain makes JSON of the text for Seal that begins in b.
func plain(b []byte, from int) []byte {
	text := b[from:]
	if object := Seal(text); IsCBOR(object) {
		return appendObject(b[:from], object, false)
	}
	return b
}

// maxNesting bounds the values that are encoded: no message is as deep, and a
// value that contains itself ends.
const maxNesting = 64

func appendValue(dst []byte, v reflect.Value, depth int) []byte {
	if !v.IsValid() || depth > maxNesting {
		return append(dst, "null"...)
	}
	if kind := v.Kind(); v.Type().PkgPath() != "" || kind == reflect.Interface || kind == reflect.Pointer || kind == reflect.Struct { // others have no methods
		if out, ok := appendMarshaler(dst, v); ok {
			return out
		}
	}
	switch v.Kind() {
	case reflect.Bool:
		return strconv.AppendBool(dst, v.Bool())
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return strconv.AppendInt(dst, v.Int(), 10)
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		return strconv.AppendUint(dst, v.Uint(), 10)
	case reflect.Float32:
		return AppendWord(dst, v.Float(), 32)
	case reflect.Float64:
		return AppendWord(dst, v.Float(), 64)
	case reflect.String:
		return AppendText(dst, v.String())
	case reflect.Interface, reflect.Pointer:
		return appendValue(dst, v.Elem(), depth+1)
	case reflect.Struct:
		dst = append(dst, '{')
		dst, _ = appendFields(dst, v, false, depth)
		return append(dst, '}')
	case reflect.Map:
		return appendMap(dst, v, depth)
	case reflect.Slice:
		if v.IsNil() {
			return append(dst, "null"...)
		}
		if v.Type().Elem().Kind() == reflect.Uint8 {
			return append(base64.StdEncoding.AppendEncode(append(dst, '"'), v.Bytes()), '"')
		}
		return appendList(dst, v, depth)
	case reflect.Array:
		return appendList(dst, v, depth)
	}
	return append(dst, "null"...)
}

// appendMarshaler appends what encodes itself: raw JSON, times, names.
func appendMarshaler(dst []byte, v reflect.Value) ([]byte, bool) {
	if !v.CanInterface() || (v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface) && v.IsNil() {
		return dst, false
	}
	switch m := v.Interface().(type) {
	case json.RawMessage:
		if m == nil {
			return append(dst, "null"...), true
		}
		return appendObject(dst, m, true), true
	case json.Marshaler:
		if b, err := m.MarshalJSON(); err == nil {
			return append(dst, b...), true
		}
		return append(dst, "null"...), true
	case encoding.TextMarshaler:
		if b, err := m.MarshalText(); err == nil {
			return AppendText(dst, string(b)), true
		}
		return append(dst, "null"...), true
	}
	return dst, false
}

func appendList(dst []byte, v reflect.Value, depth int) []byte {
	dst = append(dst, '[')
	for i := range v.Len() {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendValue(dst, v.Index(i), depth+1)
	}
	return append(dst, ']')
}

// appendMap appends a map, its keys in order.
func appendMap(dst []byte, v reflect.Value, depth int) []byte {
	if v.IsNil() {
		return append(dst, "null"...)
	}
	keys := v.MapKeys()
	slices.SortFunc(keys, func(a, b reflect.Value) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
	dst = append(dst, '{')
	for i, k := range keys {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = AppendText(dst, fmt.Sprint(k))
		dst = append(dst, ':')
		dst = appendValue(dst, v.MapIndex(k), depth+1)
	}
	return append(dst, '}')
}

// structField is how a field of a struct is written.
type structField struct {
	index               int
	name                string // as text in JSON, with the colon
	embedded            bool   // its own fields are written instead
	omitEmpty, omitZero bool
	op                  bool // it is called op
}

// structFields are those of types that were written already.
var structFields sync.Map // reflect.Type → []structField

func fieldsOf(t reflect.Type) []structField {
	if known, found := structFields.Load(t); found {
		return known.([]structField)
	}
	var all []structField
	for i := range t.NumField() {
		field := t.Field(i)
		tag, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		embedded := field.Anonymous && tag == "" && field.Type.Kind() == reflect.Struct
		name := jsonName(field)
		if name == "" && !embedded {
			continue
		}
		has := func(option string) bool { return slices.Contains(strings.Split(options, ","), option) }
		all = append(all, structField{
			index: i, name: string(AppendText(nil, name)) + ":", embedded: embedded,
			omitEmpty: has("omitempty"), omitZero: has("omitzero"), op: name == "op",
		})
	}
	structFields.Store(t, all)
	return all
}

// jsonName returns what a field is called in JSON, "" if it is not there.
func jsonName(field reflect.StructField) string {
	name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
	switch {
	case name == "-" && options == "" || !field.IsExported():
		return ""
	case name == "":
		return field.Name
	}
	return name
}

// appendFields appends the exported fields of a struct, those of embedded
// structs among them. more says that a field stands before them; the field op
// is then left out. It reports whether a field stands there now.
func appendFields(dst []byte, v reflect.Value, more bool, depth int) ([]byte, bool) {
	skipOp := more
	fields := fieldsOf(v.Type())
	for i := range fields {
		f := &fields[i]
		value := v.Field(f.index)
		switch {
		case f.embedded:
			dst, more = appendFields(dst, value, more, depth+1)
			continue
		case skipOp && f.op, f.omitEmpty && isEmpty(value), f.omitZero && value.IsZero():
			continue
		}
		if more {
			dst = append(dst, ',')
		}
		more = true
		dst = append(dst, f.name...)
		dst = appendValue(dst, value, depth+1)
	}
	return dst, more
}

// isEmpty is encoding/json's rule for omitempty.
func isEmpty(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Array, reflect.Map, reflect.Slice, reflect.String:
		return v.Len() == 0
	case reflect.Struct:
		return false
	}
	return v.IsZero()
}
