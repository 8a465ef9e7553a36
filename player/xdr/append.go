package xdr

import (
	"encoding/binary"
	"math"
	"reflect"
	"slices"
	"unsafe"
)

// extent is the memory of a string, and the first two words of a slice's.
type extent struct {
	data unsafe.Pointer
	len  int
}

// header is the memory of a slice.
type header struct {
	extent
	cap int
}

// pointer returns the struct that v, a *T of the plan's T, points to.
func (p *Plan) pointer(v any) (unsafe.Pointer, error) {
	r := reflect.ValueOf(v)
	if r.Kind() != reflect.Pointer || r.Type().Elem() != p.typ || r.IsNil() {
		return nil, p.errType(v)
	}
	return r.UnsafePointer(), nil
}

// Size returns the bytes that *v takes encoded. v is a pointer to the plan's
// struct. An array that is longer than its limit is an *Error.
func (p *Plan) Size(v any) (int, error) {
	at, err := p.pointer(v)
	if err != nil {
		return 0, err
	}
	n, e := p.size(at)
	if e != nil {
		e.Struct = p.typ.Name()
		return 0, e
	}
	return n, nil
}

// Append appends *v, encoded, to dst. v is a pointer to the plan's struct. It
// allocates only when dst has not the room. On an error dst comes back as it
// was.
func (p *Plan) Append(dst []byte, v any) ([]byte, error) {
	at, err := p.pointer(v)
	if err != nil {
		return dst, err
	}
	n, e := p.size(at)
	if e != nil {
		e.Struct = p.typ.Name()
		return dst, e
	}
	from := len(dst)
	dst = slices.Grow(dst, n)[:from+n]
	p.put(dst[from:], at)
	return dst, nil
}

func (p *Plan) size(at unsafe.Pointer) (int, *Error) {
	n := p.min
	if p.fixed {
		return n, nil
	}
	for i := range p.steps {
		s := &p.steps[i]
		if s.kind < kindBytes {
			continue
		}
		length := (*extent)(unsafe.Add(at, s.offset)).len
		if s.max > 0 && length > s.max || uint64(length) > math.MaxUint32 {
			return 0, s.tooMany(-1, uint64(length))
		}
		switch {
		case s.kind == kindBytes || s.kind == kindString:
			n += pad(length)
		case s.kind == kindArray || s.sub.fixed:
			n += length * s.size
		default:
			elem := (*extent)(unsafe.Add(at, s.offset)).data
			for k := range length {
				m, err := s.sub.size(unsafe.Add(elem, uintptr(k)*s.stride))
				if err != nil {
					return 0, s.inElement(err, k)
				}
				n += m
			}
		}
	}
	return n, nil
}

// put encodes into b, which has the size that size returned, and returns how many
// bytes it took.
func (p *Plan) put(b []byte, at unsafe.Pointer) int {
	o := 0
	for i := range p.steps {
		s := &p.steps[i]
		f := unsafe.Add(at, s.offset)
		if s.kind <= kindFloat64 {
			o += putScalar(s.kind, b[o:], f)
			continue
		}
		switch s.kind {
		case kindCount:
			binary.BigEndian.PutUint32(b[o:], uint32((*extent)(f).len))
			o += 4
		case kindFixedBytes:
			o += putBytes(b[o:], unsafe.Slice((*byte)(f), s.n))
		case kindBytes, kindString:
			h := (*extent)(f)
			binary.BigEndian.PutUint32(b[o:], uint32(h.len))
			o += 4
			o += putBytes(b[o:], unsafe.Slice((*byte)(h.data), h.len))
		default:
			o += s.putArray(b[o:], (*extent)(f))
		}
	}
	return o
}

func putScalar(k kind, b []byte, f unsafe.Pointer) int {
	var v uint32
	switch k {
	case kindFloat64, kindInt64:
		binary.BigEndian.PutUint64(b, *(*uint64)(f))
		return 8
	case kindFloat32, kindUint32, kindInt32:
		v = *(*uint32)(f)
	case kindUint8:
		v = uint32(*(*uint8)(f))
	case kindUint16:
		v = uint32(*(*uint16)(f))
	case kindInt8:
		v = uint32(int32(*(*int8)(f)))
	case kindInt16:
		v = uint32(int32(*(*int16)(f)))
	case kindBool:
		if *(*bool)(f) {
			v = 1
		}
	}
	binary.BigEndian.PutUint32(b, v)
	return 4
}

// putBytes writes v and zeros up to a multiple of 4.
func putBytes(b, v []byte) int {
	n := copy(b, v)
	for ; n&3 != 0; n++ {
		b[n] = 0
	}
	return n
}

// putArray writes the second count and the elements.
func (s *step) putArray(b []byte, h *extent) int {
	binary.BigEndian.PutUint32(b, uint32(h.len))
	o := 4
	switch {
	case s.kind == kindStructs:
		for i := range h.len {
			o += s.sub.put(b[o:], unsafe.Add(h.data, uintptr(i)*s.stride))
		}
	case s.elem == kindFloat32 || s.elem == kindUint32 || s.elem == kindInt32:
		b = b[4 : 4+4*h.len]
		for i, v := range unsafe.Slice((*uint32)(h.data), h.len) {
			binary.BigEndian.PutUint32(b[4*i:4*i+4], v)
		}
		o += len(b)
	case s.elem == kindFloat64 || s.elem == kindInt64:
		b = b[4 : 4+8*h.len]
		for i, v := range unsafe.Slice((*uint64)(h.data), h.len) {
			binary.BigEndian.PutUint64(b[8*i:8*i+8], v)
		}
		o += len(b)
	default:
		for i := range h.len {
			o += putScalar(s.elem, b[o:], unsafe.Add(h.data, uintptr(i)*s.stride))
		}
	}
	return o
}
