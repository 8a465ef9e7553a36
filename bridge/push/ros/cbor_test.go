package ros

import (
	"encoding/binary"
	"math"
	"testing"

	"callboard/subscribe/protocol/cbor"
)

// ofCBOR reads CBOR as rosbridge's clients do, tagged arrays included, into what a
// message of the type is.
func ofCBOR(t *testing.T, of *Type, b []byte) Message {
	t.Helper()
	r := &cborTest{t: t, b: b}
	m := r.message(of)
	if len(r.b) != 0 {
		t.Errorf("%d bytes are left", len(r.b))
	}
	return m
}

type cborTest struct {
	t *testing.T
	b []byte
}

func (r *cborTest) head() (major byte, n uint64) {
	first := r.b[0]
	r.b = r.b[1:]
	switch info := first & 31; info {
	case 24:
		n, r.b = uint64(r.b[0]), r.b[1:]
	case 25:
		n, r.b = uint64(binary.BigEndian.Uint16(r.b)), r.b[2:]
	case 26:
		n, r.b = uint64(binary.BigEndian.Uint32(r.b)), r.b[4:]
	case 27:
		n, r.b = binary.BigEndian.Uint64(r.b), r.b[8:]
	default:
		n = uint64(info)
	}
	return first & 0xe0, n
}

func (r *cborTest) expect(major byte) uint64 {
	got, n := r.head()
	if got != major {
		r.t.Fatalf("major type %x, expected %x", got, major)
	}
	return n
}

func (r *cborTest) text() string {
	n := r.expect(cbor.Text)
	s := string(r.b[:n])
	r.b = r.b[n:]
	return s
}

func (r *cborTest) message(of *Type) Message {
	m := Message{}
	if n := r.expect(cbor.Map); n != uint64(len(of.Fields)) {
		r.t.Fatalf("%s has %d fields, expected %d", of.Name, n, len(of.Fields))
	}
	for i := range of.Fields {
		if name := r.text(); name != of.Fields[i].Name {
			r.t.Fatalf("%s: field %s, expected %s", of.Name, name, of.Fields[i].Name)
		}
		m[of.Fields[i].Name] = r.field(&of.Fields[i])
	}
	return m
}

func (r *cborTest) field(f *Field) any {
	if f.Size == Scalar {
		return r.value(f.Type)
	}
	tags := map[string]uint64{"int8": 72, "int32": 78, "float32": 85, "float64": 86}
	tag, numeric := tags[f.Type]
	switch {
	case f.Type == "uint8":
		n := r.expect(cbor.Bytes)
		b := append([]byte{}, r.b[:n]...)
		r.b = r.b[n:]
		return b
	case numeric:
		if got := r.expect(cbor.Tag); got != tag {
			r.t.Fatalf("tag %d, expected %d", got, tag)
		}
		n := r.expect(cbor.Bytes)
		raw := bytesReader{b: r.b[:n]}
		r.b = r.b[n:]
		out := make([]any, int(n)/words[f.Type])
		for i := range out {
			out[i] = raw.value(f.Type)
		}
		return out
	}
	out := make([]any, r.expect(cbor.Array))
	for i := range out {
		out[i] = r.value(f.Type)
	}
	return out
}

func (r *cborTest) value(kind string) any {
	switch kind {
	case "bool":
		is := r.b[0] == cbor.True
		r.b = r.b[1:]
		return is
	case "string":
		return r.text()
	case "time", "duration":
		r.expect(cbor.Map)
		r.text()
		s := r.expect(cbor.Uint)
		r.text()
		return Stamp{uint32(s), uint32(r.expect(cbor.Uint))}
	case "float32", "float64":
		if r.b[0] != cbor.Float64 {
			r.t.Fatalf("a number begins with %x", r.b[0])
		}
		v := math.Float64frombits(binary.BigEndian.Uint64(r.b[1:]))
		r.b = r.b[9:]
		return v
	}
	if of := types[kind]; of != nil {
		return r.message(of)
	}
	major, n := r.head()
	if major == cbor.Negative {
		return -int64(n) - 1
	}
	return int64(n)
}
