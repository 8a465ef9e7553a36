package overlaytest

import (
	"cmp"
	"fmt"
	"math"
	"reflect"
	"slices"
	"sync"
)

// digest is the hash of a trace (64 bits: FNV-1a for texts, and for numbers a
// multiplication each, which is what most of a trace is). Two runs that have the
// same one did the same.
type digest uint64

const newDigest digest = 14695981039346656037

func (d *digest) number(n uint64) {
	h := (uint64(*d) ^ n) * 0x9e3779b97f4a7c15
	*d = digest(h ^ h>>32)
}

func (d *digest) text(s string) {
	h := uint64(*d)
	for i := range len(s) {
		h = (h ^ uint64(s[i])) * 1099511628211
	}
	*d = digest(h)
	d.number(uint64(len(s)))
}

// all takes in what a broker gives out or stores, as a whole. It goes through
// values by reflection, so that no field can be forgotten.
func (d *digest) all(v any) {
	value := reflect.ValueOf(v)
	d.text(shapeOf(value.Type()).name)
	d.value(value)
}

// shape is what the digest needs to know of a type.
type shape struct {
	name   string
	fields []int // of a struct: those that others can see
}

var shapes sync.Map // reflect.Type → *shape

func shapeOf(t reflect.Type) *shape {
	if known, ok := shapes.Load(t); ok {
		return known.(*shape)
	}
	s := &shape{name: t.String()}
	if t.Kind() == reflect.Struct {
		for i := range t.NumField() {
			if t.Field(i).IsExported() {
				s.fields = append(s.fields, i)
			}
		}
	}
	shapes.Store(t, s)
	return s
}

func (d *digest) value(v reflect.Value) {
	switch v.Kind() {
	case reflect.Bool:
		if v.Bool() {
			d.number(1)
		} else {
			d.number(0)
		}
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		d.number(uint64(v.Int()))
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		d.number(v.Uint())
	case reflect.Float32, reflect.Float64:
		d.number(math.Float64bits(v.Float()))
	case reflect.String:
		d.text(v.String())
	case reflect.Pointer:
		if !v.IsNil() {
			d.value(v.Elem())
		}
	case reflect.Interface:
		if !v.IsNil() {
			d.text(shapeOf(v.Elem().Type()).name)
			d.value(v.Elem())
		}
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			d.text(string(v.Bytes()))
			return
		}
		d.number(uint64(v.Len()))
		for i := range v.Len() {
			d.value(v.Index(i))
		}
	case reflect.Struct:
		for _, i := range shapeOf(v.Type()).fields {
			d.value(v.Field(i))
		}
	case reflect.Map:
		if v.Type().Key().Kind() != reflect.String {
			panic(fmt.Sprintf("overlaytest: a trace has a %s", v.Type()))
		}
		d.number(uint64(v.Len()))
		keys := v.MapKeys()
		slices.SortFunc(keys, func(a, b reflect.Value) int { return cmp.Compare(a.String(), b.String()) })
		for _, k := range keys {
			d.text(k.String())
			d.value(v.MapIndex(k))
		}
	default:
		panic(fmt.Sprintf("overlaytest: a trace has a %s", v.Type()))
	}
}
