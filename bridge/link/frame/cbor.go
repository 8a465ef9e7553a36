package frame

import (
	"encoding/binary"
	"fmt"
	"math"

	"callboard/subscribe/protocol/cbor"
)

// Of CBOR frames have integers, texts, bytes, arrays and simple values. Lengths are
// definite, integers in their shortest form; there are no maps and no tags.

func appendInt(b []byte, n int64) []byte {
	if n < 0 {
		return cbor.AppendHead(b, cbor.Negative, uint64(^n))
	}
	return cbor.AppendHead(b, cbor.Uint, uint64(n))
}

func appendBool(b []byte, value bool) []byte {
	if value {
		return append(b, cbor.True)
	}
	return append(b, cbor.False)
}

// appendFloat keeps every bit: four bytes where they hold the value.
func appendFloat(b []byte, f float64) []byte {
	if short := float32(f); math.Float64bits(float64(short)) == math.Float64bits(f) {
		return binary.BigEndian.AppendUint32(append(b, cbor.Float32), math.Float32bits(short))
	}
	return binary.BigEndian.AppendUint64(append(b, cbor.Float64), math.Float64bits(f))
}

// input reads data items one after the other. The first error stays, and
// everything read after it is zero.
type input struct {
	data []byte // the whole frame
	at   int
	err  error
}

func (in *input) rest() int { return len(in.data) - in.at }

func (in *input) fail(format string, args ...any) {
	if in.err == nil {
		in.err = fmt.Errorf("byte %d: "+format, append([]any{in.at}, args...)...)
		in.at = len(in.data)
	}
}

// peek returns the next byte without taking it.
func (in *input) peek() byte {
	if in.at == len(in.data) {
		in.fail("it ends too early")
		return 0
	}
	return in.data[in.at]
}

// head takes the head of an item of the given major type.
func (in *input) head(major byte, what string) uint64 {
	first := in.peek()
	if in.err != nil {
		return 0
	}
	if first&cbor.Major != major {
		in.fail("0x%02x; expected %s", first, what)
		return 0
	}
	short := uint64(first &^ cbor.Major)
	if short < 24 {
		in.at++
		return short
	}
	size := 1 << (short - 24) // 1, 2, 4, 8
	if short > 27 {
		in.fail("0x%02x; expected %s of a definite length", first, what)
		return 0
	}
	if in.rest() < 1+size {
		in.fail("it ends inside a number")
		return 0
	}
	var n uint64
	for _, b := range in.data[in.at+1 : in.at+1+size] {
		n = n<<8 | uint64(b)
	}
	if least := [...]uint64{24, 1 << 8, 1 << 16, 1 << 32}[short-24]; n < least {
		in.fail("%d is written too long", n)
		return 0
	}
	in.at += 1 + size
	return n
}

func (in *input) uint(limit uint64) uint64 {
	n := in.head(cbor.Uint, "a whole number")
	if n > limit {
		in.fail("%d; expected up to %d", n, limit)
		return 0
	}
	return n
}

// int takes a number of the given size in bits.
func (in *input) int(bits int) int64 {
	major := byte(cbor.Uint)
	if in.peek()&cbor.Major == cbor.Negative {
		major = cbor.Negative
	}
	n := in.head(major, "a number")
	if n > 1<<(bits-1)-1 {
		in.fail("%d does not fit into %d bits", n, bits)
		return 0
	}
	if major == cbor.Negative {
		return ^int64(n)
	}
	return int64(n)
}

// raw takes the content of a text or byte string. It is a part of the frame.
func (in *input) raw(major byte, what string) []byte {
	n := in.head(major, what)
	if n > uint64(in.rest()) {
		in.fail("%s of %d bytes where %d are left", what, n, in.rest())
		return nil
	}
	value := in.data[in.at : in.at+int(n)]
	in.at += int(n)
	return value
}

func (in *input) bool() bool {
	switch b := in.peek(); {
	case in.err != nil:
	case b == cbor.True:
		in.at++
		return true
	case b == cbor.False:
		in.at++
	default:
		in.fail("0x%02x; expected true or false", b)
	}
	return false
}

// null takes a null, if one comes next.
func (in *input) null() bool {
	if in.peek() != cbor.Null || in.err != nil {
		return false
	}
	in.at++
	return true
}

func (in *input) float() float64 {
	first := in.peek()
	switch {
	case in.err != nil:
	case first == cbor.Float32 && in.rest() >= 5:
		bits := binary.BigEndian.Uint32(in.data[in.at+1:])
		in.at += 5
		return float64(math.Float32frombits(bits))
	case first == cbor.Float64 && in.rest() >= 9:
		bits := binary.BigEndian.Uint64(in.data[in.at+1:])
		in.at += 9
		return math.Float64frombits(bits)
	default:
		in.fail("0x%02x; expected a floating-point number", first)
	}
	return 0
}

// array takes the head of an array of exactly n items.
func (in *input) array(n int, what string) {
	if got := in.head(cbor.Array, what); in.err == nil && got != uint64(n) {
		in.fail("%s of %d fields; expected %d", what, got, n)
	}
}
