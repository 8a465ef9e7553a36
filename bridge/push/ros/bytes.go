package ros

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
)

// errShort says that a message ends before its fields do.
var errShort = errors.New("the message ends too early")

// FromROS1 reads a message in ROS 1's bytes.
func (t *Type) FromROS1(b []byte) (Message, error) {
	r := bytesReader{b: b}
	m := r.message(t)
	switch {
	case r.failed:
		return nil, fmt.Errorf("%s: %w", t.Name, errShort)
	case len(r.b) > 0:
		return nil, fmt.Errorf("%s: %d bytes more than it has", t.Name, len(r.b))
	}
	return m, nil
}

// bytesReader reads ROS 1's bytes. Once it has failed all is zero.
type bytesReader struct {
	b      []byte
	failed bool
}

func (r *bytesReader) take(n int) []byte {
	if r.failed || n < 0 || n > len(r.b) {
		r.failed, r.b = true, nil
		return nil
	}
	b := r.b[:n]
	r.b = r.b[n:]
	return b
}

// number reads a number of up to 8 bytes.
func (r *bytesReader) number(bytes int) uint64 {
	var whole [8]byte
	copy(whole[:], r.take(bytes))
	return binary.LittleEndian.Uint64(whole[:])
}

func (r *bytesReader) message(t *Type) Message {
	m := make(Message, len(t.Fields))
	for i := range t.Fields {
		m[t.Fields[i].Name] = r.field(&t.Fields[i])
	}
	return m
}

// leastSize is how many bytes a value has at least.
func leastSize(kind string) int {
	switch {
	case kind == "string":
		return 4
	case primitive(kind):
		return words[kind]
	}
	n := 0
	for _, f := range types[kind].Fields {
		switch f.Size {
		case Variable:
			n += 4
		case Scalar:
			n += leastSize(f.Type)
		default:
			n += f.Size * leastSize(f.Type)
		}
	}
	return n
}

func (r *bytesReader) field(f *Field) any {
	if f.Size == Scalar {
		return r.value(f.Type)
	}
	n := f.Size
	if n == Variable {
		n = int(r.number(4))
	}
	if f.Type == "uint8" || f.Type == "char" {
		return append([]byte{}, r.take(n)...)
	}
	if least := leastSize(f.Type); least == 0 && n > 0 || least > 0 && n > len(r.b)/least {
		r.take(len(r.b) + 1) // it cannot be: nothing is made for it
		return nil
	}
	out := make([]any, n)
	for i := range out {
		out[i] = r.value(f.Type)
	}
	return out
}

func (r *bytesReader) value(kind string) any {
	switch kind {
	case "bool":
		return r.number(1) != 0
	case "string":
		return string(r.take(int(r.number(4))))
	case "time", "duration":
		return Stamp{uint32(r.number(4)), uint32(r.number(4))}
	case "float32":
		return float64(math.Float32frombits(uint32(r.number(4))))
	case "float64":
		return math.Float64frombits(r.number(8))
	}
	if t := types[kind]; t != nil {
		return r.message(t)
	}
	bytes := words[kind]
	v := r.number(bytes)
	if kind[0] != 'u' && kind != "char" { // signed: the uppermost bit counts
		return int64(v<<(64-8*bytes)) >> (64 - 8*bytes)
	}
	return int64(v)
}
