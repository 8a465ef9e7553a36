package view

import (
	"fmt"
	"reflect"
	"strconv"
	"unsafe"
)

// Field is a value of a view: what conditions name, and JSON has.
type Field struct {
	Name string
	Unit string // "" for none
	Doc  string

	// One of these reads it from a state that has the view.
	Float  func(*State) float64
	Int    func(*State) int
	Bool   func(*State) bool
	Text   func(*State) string
	Floats func(*State) []float64
	Texts  func(*State) []string
}

// field is a Field and how a view's JSON has it.
type field struct {
	Field
	key    string // with quotes and colon
	append func(dst []byte, view unsafe.Pointer) []byte
	when   func(view unsafe.Pointer) bool // JSON has it only then; nil: always
}

// fieldsOf returns the fields of a struct that a state has where at finds it. Its
// tags say what they are: expr is the name, unit and doc are for people, and when
// names the field of the struct that is true if JSON has this one. Fields are
// read where they lie: by reflection each would take several times as long.
func fieldsOf(t reflect.Type, at func(*State) unsafe.Pointer) (all []field) {
	for i := range t.NumField() {
		f := t.Field(i)
		if f.Anonymous { // what views share
			inner := fieldsOf(f.Type, func(s *State) unsafe.Pointer { return unsafe.Add(at(s), f.Offset) })
			for _, one := range inner {
				in := one.append
				one.append = func(dst []byte, view unsafe.Pointer) []byte { return in(dst, unsafe.Add(view, f.Offset)) }
				all = append(all, one)
			}
			continue
		}
		name := f.Tag.Get("expr")
		if name == "" {
			continue
		}
		out := field{key: strconv.Quote(name) + ":"}
		out.Name, out.Unit, out.Doc = name, f.Tag.Get("unit"), f.Tag.Get("doc")
		switch f.Type {
		case reflect.TypeFor[float64]():
			out.Float, out.append = reader[float64](at, f.Offset), appender(f.Offset, AppendFloat)
		case reflect.TypeFor[int]():
			out.Int, out.append = reader[int](at, f.Offset), appender(f.Offset, appendInt)
		case reflect.TypeFor[bool]():
			out.Bool, out.append = reader[bool](at, f.Offset), appender(f.Offset, strconv.AppendBool)
		case reflect.TypeFor[string]():
			out.Text, out.append = reader[string](at, f.Offset), appender(f.Offset, AppendString)
		case reflect.TypeFor[[]float64]():
			out.Floats, out.append = reader[[]float64](at, f.Offset), appender(f.Offset, AppendFloats)
		case reflect.TypeFor[[]string]():
			out.Texts, out.append = reader[[]string](at, f.Offset), appender(f.Offset, appendStrings)
		default:
			panic(fmt.Sprintf("view: %v.%s is a %v, which conditions do not know", t, f.Name, f.Type))
		}
		if condition := f.Tag.Get("when"); condition != "" {
			c, ok := t.FieldByName(condition)
			if !ok || c.Type.Kind() != reflect.Bool {
				panic(fmt.Sprintf("view: %v.%s has no bool %s", t, f.Name, condition))
			}
			out.when = func(view unsafe.Pointer) bool { return *(*bool)(unsafe.Add(view, c.Offset)) }
		}
		all = append(all, out)
	}
	return all
}

// reader reads a value at an offset of a state's view.
func reader[V any](at func(*State) unsafe.Pointer, offset uintptr) func(*State) V {
	return func(s *State) V { return *(*V)(unsafe.Add(at(s), offset)) }
}

// appender appends a value at an offset of a view.
func appender[V any](offset uintptr, do func([]byte, V) []byte) func([]byte, unsafe.Pointer) []byte {
	return func(dst []byte, view unsafe.Pointer) []byte { return do(dst, *(*V)(unsafe.Add(view, offset))) }
}

func appendInt(dst []byte, n int) []byte { return strconv.AppendInt(dst, int64(n), 10) }

// AppendText appends a view as a JSON object; numbers that are not finite are
// words for protocol.Seal.
func AppendText(dst []byte, v View) []byte {
	at := reflect.ValueOf(v)
	view := at.UnsafePointer()
	dst = append(dst, '{')
	before := len(dst)
	fields := fieldsByType[at.Type().Elem()]
	for i := range fields {
		f := &fields[i]
		if f.when != nil && !f.when(view) {
			continue
		}
		if len(dst) > before {
			dst = append(dst, ',')
		}
		dst = f.append(append(dst, f.key...), view)
	}
	return append(dst, '}')
}

// Stamp is what all views have: when the reading came, and of which device.
type Stamp struct {
	Time  float64 `expr:"time" unit:"s" doc:"the time of the reading"`
	Index int     `expr:"index" doc:"the index of the device"`
}

func (s *Stamp) stamp(time float64, index int) { s.Time, s.Index = time, index }
