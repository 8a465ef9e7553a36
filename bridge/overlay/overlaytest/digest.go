package overlaytest

import (
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"sync"
	"sync/atomic"
	"unsafe"
)

// digest is the hash of a trace (64 bits, a multiplication for each number and
// for each eight bytes of a text). Two runs that have the same one did the same.
type digest uint64

const newDigest digest = 14695981039346656037

func (d *digest) number(n uint64) {
	h := (uint64(*d) ^ n) * 0x9e3779b97f4a7c15
	*d = digest(h ^ h>>32)
}

func (d *digest) text(s string) {
	d.number(uint64(len(s)))
	for ; len(s) >= 8; s = s[8:] {
		d.number(uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 | uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56)
	}
	rest := uint64(0)
	for i := range len(s) {
		rest = rest<<8 | uint64(s[i])
	}
	d.number(rest)
}

// all takes in what a broker gives out or stores, as a whole.
func (d *digest) all(v any) { takeInterface(reflect.TypeFor[any](), d, unsafe.Pointer(&v)) }

// taker takes the value at a place into a digest.
type taker func(d *digest, at unsafe.Pointer)

// pointee is how what a pointer in an interface points to is taken.
type pointee struct {
	name uint64 // of the pointer's type, as a hash
	take taker
}

// pointees are those that have been made, by the first word of the interface,
// which stands for its type. The map is replaced, not changed.
var (
	pointees     atomic.Pointer[map[unsafe.Pointer]*pointee]
	makePointees sync.Mutex
)

// takeInterface takes the pointer that an interface of type t has.
func takeInterface(t reflect.Type, d *digest, at unsafe.Pointer) {
	words := (*[2]unsafe.Pointer)(at)
	if words[0] == nil {
		return
	}
	known := pointees.Load()
	var p *pointee
	if known != nil {
		p = (*known)[words[0]]
	}
	if p == nil {
		p = makePointee(words[0], reflect.NewAt(t, at).Elem().Elem().Type())
	}
	d.number(p.name)
	if words[1] != nil {
		p.take(d, words[1])
	}
}

func makePointee(word unsafe.Pointer, t reflect.Type) *pointee {
	makePointees.Lock()
	defer makePointees.Unlock()
	if t.Kind() != reflect.Pointer {
		panic(fmt.Sprintf("overlaytest: a trace has a %s in an interface", t))
	}
	name := newDigest
	name.text(t.String())
	p := &pointee{uint64(name), takerOf(t.Elem())}
	all := map[unsafe.Pointer]*pointee{word: p}
	if known := pointees.Load(); known != nil {
		maps.Copy(all, *known)
	}
	pointees.Store(&all)
	return p
}

// takerOf returns what takes values of a type. It is made by reflection, so that
// no field can be forgotten, but once for each type: a schedule has tens of
// thousands of values.
func takerOf(t reflect.Type) taker {
	switch t.Kind() {
	case reflect.Bool, reflect.Uint8:
		return func(d *digest, at unsafe.Pointer) { d.number(uint64(*(*uint8)(at))) }
	case reflect.Int, reflect.Int64, reflect.Uint, reflect.Uint64, reflect.Float64:
		return func(d *digest, at unsafe.Pointer) { d.number(*(*uint64)(at)) }
	case reflect.String:
		return func(d *digest, at unsafe.Pointer) { d.text(*(*string)(at)) }
	case reflect.Pointer:
		take := takerOf(t.Elem())
		return func(d *digest, at unsafe.Pointer) {
			if to := *(*unsafe.Pointer)(at); to != nil {
				take(d, to)
			}
		}
	case reflect.Interface:
		return func(d *digest, at unsafe.Pointer) { takeInterface(t, d, at) }
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			return func(d *digest, at unsafe.Pointer) { d.text(string(*(*[]byte)(at))) }
		}
		take, size := takerOf(t.Elem()), t.Elem().Size()
		return func(d *digest, at unsafe.Pointer) {
			all := *(*[]byte)(at) // its length is that of the elements
			d.number(uint64(len(all)))
			for i := range len(all) {
				take(d, unsafe.Add(unsafe.Pointer(unsafe.SliceData(all)), uintptr(i)*size))
			}
		}
	case reflect.Struct:
		return takerOfStruct(t)
	case reflect.Map:
		return takerOfMap(t)
	}
	panic(fmt.Sprintf("overlaytest: a trace has a %s", t))
}

// takerOfStruct takes the fields that others can see.
func takerOfStruct(t reflect.Type) taker {
	type field struct {
		offset uintptr
		take   taker
	}
	var fields []field
	for i := range t.NumField() {
		if f := t.Field(i); f.IsExported() {
			fields = append(fields, field{f.Offset, takerOf(f.Type)})
		}
	}
	return func(d *digest, at unsafe.Pointer) {
		for i := range fields {
			fields[i].take(d, unsafe.Add(at, fields[i].offset))
		}
	}
}

// takerOfMap takes a map by its keys, which are strings, in order.
func takerOfMap(t reflect.Type) taker {
	if t.Key().Kind() != reflect.String {
		panic(fmt.Sprintf("overlaytest: a trace has a %s", t))
	}
	take := takerOf(t.Elem())
	return func(d *digest, at unsafe.Pointer) {
		m := reflect.NewAt(t, at).Elem()
		d.number(uint64(m.Len()))
		keys := m.MapKeys()
		slices.SortFunc(keys, func(a, b reflect.Value) int { return cmp.Compare(a.String(), b.String()) })
		value := reflect.New(t.Elem())
		for _, k := range keys {
			d.text(k.String())
			value.Elem().Set(m.MapIndex(k))
			take(d, value.UnsafePointer())
		}
	}
}
