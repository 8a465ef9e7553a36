// Package xdr encodes and decodes message bodies in Player's dialect of XDR.
//
// A Plan is made once for a struct type and then appends and decodes values
// of it without reflection and, into values that are reused, without
// allocation. DESIGN.md has the rules of the dialect and why it is done so.
package xdr

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"
)

// maxCounts is the number of counted arrays that one struct may have, those
// of nested structs included. Player's have up to three.
const maxCounts = 8

// Plan is how one struct type stands on the wire. It is immutable.
type Plan struct {
	typ    reflect.Type
	steps  []step
	counts int // counted arrays, nested structs included
	min    int // bytes that the smallest value takes
	fixed  bool
}

// kind is what a step does.
type kind uint8

const (
	kindUint8 kind = iota + 1
	kindUint16
	kindUint32
	kindInt8
	kindInt16
	kindInt32
	kindInt64
	kindBool
	kindFloat32
	kindFloat64
	kindFixedBytes // n bytes, padded to a multiple of 4, no count
	kindCount      // the first of an array's two counts
	kindBytes      // second count and bytes, padded
	kindString     // the same, into a Go string
	kindArray      // second count and scalar elements
	kindStructs    // second count and struct elements
)

// step is a scalar, a count or an array at its place in the struct.
type step struct {
	kind   kind
	elem   kind    // of a kindArray: its elements
	slot   uint8   // of a count and of its array: where the first count is kept
	offset uintptr // in the struct; of a count: its array's
	path   string  // of the field, for errors
	n      int     // of kindFixedBytes: its length
	max    int     // most elements that the array may have, 0: no limit
	size   int     // bytes that an element takes at least, on the wire
	stride uintptr // bytes from element to element, in memory
	slice  reflect.Type
	sub    *Plan // of kindStructs: the elements'
}

// NewPlan makes the plan of struct type t, or says which field has a type or
// tag that cannot stand on Player's wire.
func NewPlan(t reflect.Type) (*Plan, error) {
	return newPlan(t, nil)
}

// newPlan knows the types that it is in the midst of, to refuse one that
// contains itself.
func newPlan(t reflect.Type, inside []reflect.Type) (*Plan, error) {
	if t == nil || t.Kind() != reflect.Struct {
		return nil, fmt.Errorf("xdr: %v is not a struct", t)
	}
	for _, outer := range inside {
		if outer == t {
			return nil, fmt.Errorf("xdr: %v contains itself", t)
		}
	}
	p := &Plan{typ: t, fixed: true}
	if err := p.addStruct(t, 0, "", append(inside, t)); err != nil {
		return nil, err
	}
	return p, nil
}

// Type returns the struct type that the plan is of.
func (p *Plan) Type() reflect.Type { return p.typ }

// tag is what `xdr:"…"` says of a field.
type tag struct {
	max    int    // max=N: at most N elements
	before string // count-before=Field: its first count stands before that field
}

func parseTag(f reflect.StructField) (tag, error) {
	var t tag
	text, ok := f.Tag.Lookup("xdr")
	if !ok {
		return t, nil
	}
	for _, part := range strings.Split(text, ",") {
		name, value, _ := strings.Cut(part, "=")
		switch name {
		case "max":
			n, err := strconv.Atoi(value)
			if err != nil || n < 1 {
				return t, fmt.Errorf("tag max=%q, expected a number from 1", value)
			}
			t.max = n
		case "count-before":
			t.before = value
		default:
			return t, fmt.Errorf("unknown tag %q, expected max=N or count-before=Field", part)
		}
	}
	if k := f.Type.Kind(); k != reflect.Slice && k != reflect.String {
		return t, fmt.Errorf("tag %q on a %v, expected a slice or string", text, f.Type)
	}
	return t, nil
}

// addStruct adds the fields of a struct that lies at base.
func (p *Plan) addStruct(t reflect.Type, base uintptr, prefix string, inside []reflect.Type) error {
	early := map[string]reflect.StructField{} // by the field that their count stands before
	tags := make([]tag, t.NumField())
	for i := range tags {
		f := t.Field(i)
		if !f.IsExported() {
			return fmt.Errorf("xdr: %v.%s is not exported", t, f.Name)
		}
		var err error
		if tags[i], err = parseTag(f); err != nil {
			return fmt.Errorf("xdr: %v.%s: %w", t, f.Name, err)
		}
		if b := tags[i].before; b != "" {
			early[b] = f
		}
	}
	slots := map[string]uint8{}
	for i := range tags {
		f := t.Field(i)
		if a, ok := early[f.Name]; ok {
			delete(early, f.Name)
			slot, err := p.addCount(base+a.Offset, prefix+a.Name)
			if err != nil {
				return err
			}
			slots[a.Name] = slot
		}
		slot, counted := slots[f.Name]
		if tags[i].before != "" && !counted {
			return fmt.Errorf("xdr: %v.%s: its count is to stand before %s, which does not come before it", t, f.Name, tags[i].before)
		}
		if err := p.addField(f.Type, base+f.Offset, prefix+f.Name, tags[i].max, slot, counted, inside); err != nil {
			return err
		}
	}
	return nil
}

func (p *Plan) addCount(offset uintptr, path string) (uint8, error) {
	if p.counts == maxCounts {
		return 0, fmt.Errorf("xdr: %v.%s: more than %d counted arrays", p.typ, path, maxCounts)
	}
	p.counts++
	p.steps = append(p.steps, step{kind: kindCount, slot: uint8(p.counts - 1), offset: offset, path: path})
	p.min += 4
	return uint8(p.counts - 1), nil
}

// addField adds one field; counted tells that its first count is already
// there, kept in slot.
func (p *Plan) addField(t reflect.Type, offset uintptr, path string, max int, slot uint8, counted bool, inside []reflect.Type) error {
	if k, size := scalar(t); k != 0 {
		p.steps = append(p.steps, step{kind: k, offset: offset, path: path})
		p.min += size
		return nil
	}
	switch t.Kind() {
	case reflect.Struct:
		for _, outer := range inside {
			if outer == t {
				return fmt.Errorf("xdr: %v contains itself", t)
			}
		}
		return p.addStruct(t, offset, path+".", append(inside, t))
	case reflect.Array:
		if isByte(t.Elem()) {
			p.steps = append(p.steps, step{kind: kindFixedBytes, offset: offset, path: path, n: t.Len()})
			p.min += pad(t.Len())
			return nil
		}
		for i := range t.Len() {
			at := offset + uintptr(i)*t.Elem().Size()
			if err := p.addField(t.Elem(), at, fmt.Sprintf("%s[%d]", path, i), 0, 0, false, inside); err != nil {
				return err
			}
		}
		return nil
	case reflect.String, reflect.Slice:
		if !counted {
			var err error
			if slot, err = p.addCount(offset, path); err != nil {
				return err
			}
		}
		p.fixed = false
		p.min += 4
		s := step{slot: slot, offset: offset, path: path, max: max}
		if err := s.setElements(t, inside); err != nil {
			return fmt.Errorf("%w (in %v.%s)", err, p.typ, path)
		}
		p.steps = append(p.steps, s)
		return nil
	}
	return fmt.Errorf("xdr: %v.%s: type %v does not occur on Player's wire", p.typ, path, t)
}

// setElements makes s the step of a counted array of type t.
func (s *step) setElements(t reflect.Type, inside []reflect.Type) error {
	s.slice = t
	s.size, s.stride = 1, 1
	if t.Kind() == reflect.String {
		s.kind = kindString
		return nil
	}
	if isByte(t.Elem()) {
		s.kind = kindBytes
		return nil
	}
	s.stride = t.Elem().Size()
	if k, size := scalar(t.Elem()); k != 0 {
		s.kind, s.elem, s.size = kindArray, k, size
		return nil
	}
	sub, err := newPlan(t.Elem(), inside)
	if err != nil {
		return err
	}
	if sub.min == 0 {
		return fmt.Errorf("xdr: elements of type %v take no bytes", t.Elem())
	}
	s.kind, s.sub, s.size = kindStructs, sub, sub.min
	return nil
}

// scalar returns the kind of a scalar type and its bytes on the wire, or 0.
func scalar(t reflect.Type) (kind, int) {
	switch t.Kind() {
	case reflect.Uint8:
		return kindUint8, 4
	case reflect.Uint16:
		return kindUint16, 4
	case reflect.Uint32:
		return kindUint32, 4
	case reflect.Int8:
		return kindInt8, 4
	case reflect.Int16:
		return kindInt16, 4
	case reflect.Int32:
		return kindInt32, 4
	case reflect.Int64:
		return kindInt64, 8
	case reflect.Bool:
		return kindBool, 4
	case reflect.Float32:
		return kindFloat32, 4
	case reflect.Float64:
		return kindFloat64, 8
	}
	return 0, 0
}

func isByte(t reflect.Type) bool {
	return t.Kind() == reflect.Uint8 || t.Kind() == reflect.Int8
}

// pad rounds up to a multiple of 4.
func pad(n int) int { return (n + 3) &^ 3 }
