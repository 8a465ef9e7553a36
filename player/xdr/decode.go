package xdr

import (
	"encoding/binary"
	"reflect"
	"unsafe"
)

// Decode decodes body into *into, a pointer to the plan's struct. Arrays that
// *into has are reused as far as their capacity goes, strings when they are
// the same: decoding into a reused struct allocates only to grow. Bytes after
// the struct are ignored.
//
// A body that does not fit is an *Error with the field and its place; *into
// then has the fields before it new, the rest as they were. Never is more
// allocated than a small multiple of len(body).
func (p *Plan) Decode(body []byte, into any) error {
	at, err := p.pointer(into)
	if err != nil {
		return err
	}
	if _, e := p.get(body, 0, at); e != nil {
		e.Struct = p.typ.Name()
		return e
	}
	return nil
}

// get decodes from b[o:] and returns where it ended.
func (p *Plan) get(b []byte, o int, at unsafe.Pointer) (int, *Error) {
	var first [maxCounts]uint32
	for i := range p.steps {
		s := &p.steps[i]
		if len(b)-o < 4 && (s.kind != kindFixedBytes || s.n > 0) {
			return o, s.short(o, len(b)-o, 4)
		}
		f := unsafe.Add(at, s.offset)
		switch s.kind {
		case kindFloat64, kindInt64:
			if len(b)-o < 8 {
				return o, s.short(o, len(b)-o, 8)
			}
			*(*uint64)(f) = binary.BigEndian.Uint64(b[o:])
			o += 8
		case kindCount:
			first[s.slot] = binary.BigEndian.Uint32(b[o:])
			o += 4
		case kindFixedBytes:
			if len(b)-o < pad(s.n) {
				return o, s.short(o, len(b)-o, pad(s.n))
			}
			copy(unsafe.Slice((*byte)(f), s.n), b[o:])
			o += pad(s.n)
		case kindBytes, kindString, kindArray, kindStructs:
			n := binary.BigEndian.Uint32(b[o:])
			if n > first[s.slot] {
				return o, s.countsDiffer(o, n, first[s.slot])
			}
			var err *Error
			if o, err = s.getArray(b, o, n, f); err != nil {
				return o, err
			}
		default:
			setScalar(s.kind, f, binary.BigEndian.Uint32(b[o:]))
			o += 4
		}
	}
	return o, nil
}

// setScalar sets a scalar that takes 4 bytes on the wire. Of a wider value
// the low bits count, as in the real server.
func setScalar(k kind, f unsafe.Pointer, v uint32) {
	switch k {
	case kindFloat32, kindUint32, kindInt32:
		*(*uint32)(f) = v
	case kindUint8, kindInt8:
		*(*uint8)(f) = uint8(v)
	case kindUint16, kindInt16:
		*(*uint16)(f) = uint16(v)
	case kindBool:
		*(*bool)(f) = v != 0
	}
}

// getArray decodes n elements into the array at f. The second count stands at
// b[o:]; it is checked against the limit and against the bytes there are
// before anything is allocated.
func (s *step) getArray(b []byte, o int, n uint32, f unsafe.Pointer) (int, *Error) {
	if s.max > 0 && uint64(n) > uint64(s.max) {
		return o, s.tooMany(o, uint64(n))
	}
	need := uint64(n) * uint64(s.size)
	if s.size == 1 {
		need = (need + 3) &^ 3
	}
	if have := uint64(len(b) - o - 4); need > have {
		return o, s.overrun(o, uint64(n), have)
	}
	o += 4
	src := b[o : o+int(need)]
	if s.kind == kindString {
		if text := (*string)(f); *text != string(src[:n]) {
			*text = string(src[:n])
		}
		return o + len(src), nil
	}
	h := (*header)(f)
	if int(n) > h.cap {
		s.grow(f, int(n))
	}
	h.len = int(n)
	switch {
	case s.kind == kindBytes:
		copy(unsafe.Slice((*byte)(h.data), h.len), src)
	case s.kind == kindStructs:
		for i := range h.len {
			var err *Error
			if o, err = s.sub.get(b, o, unsafe.Add(h.data, uintptr(i)*s.stride)); err != nil {
				return o, s.inElement(err, i)
			}
		}
		return o, nil
	case s.elem == kindFloat32 || s.elem == kindUint32 || s.elem == kindInt32:
		dst := unsafe.Slice((*uint32)(h.data), h.len)
		for i := range dst {
			dst[i] = binary.BigEndian.Uint32(src[4*i : 4*i+4])
		}
	case s.elem == kindFloat64 || s.elem == kindInt64:
		dst := unsafe.Slice((*uint64)(h.data), h.len)
		for i := range dst {
			dst[i] = binary.BigEndian.Uint64(src[8*i : 8*i+8])
		}
	default:
		for i := range h.len {
			setScalar(s.elem, unsafe.Add(h.data, uintptr(i)*s.stride), binary.BigEndian.Uint32(src[4*i:]))
		}
	}
	return o + len(src), nil
}

// grow returns the slice at f room for n elements. What its elements own stays,
// so that arrays inside them are reused, too.
func (s *step) grow(f unsafe.Pointer, n int) {
	old := reflect.NewAt(s.slice, f).Elem()
	bigger := reflect.MakeSlice(s.slice, n, n)
	if s.kind == kindStructs {
		reflect.Copy(bigger, old.Slice(0, old.Cap()))
	}
	old.Set(bigger)
}
