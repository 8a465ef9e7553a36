// Package cbor has what CBOR (RFC 8949) begins values with, for encoders and
// decoders that write and read it themselves.
package cbor

import (
	"encoding/binary"
	"math"
)

// Major types (3.1), in the upper three bits of a value's first byte.
const (
	Uint     = 0 << 5
	Negative = 1 << 5
	Bytes    = 2 << 5
	Text     = 3 << 5
	Array    = 4 << 5
	Map      = 5 << 5
	Tag      = 6 << 5
	Simple   = 7 << 5

	Major = 7 << 5 // the bits of the major type
)

// First bytes of simple values and floating-point numbers (3.3), and what stands
// for a length that is not told (3.2).
const (
	False   = Simple | 20
	True    = Simple | 21
	Null    = Simple | 22
	Float16 = Simple | 25
	Float32 = Simple | 26
	Float64 = Simple | 27

	Indefinite = 31
	Break      = Simple | Indefinite
)

// AppendHead appends what a value begins with: its major type and a number, in
// its shortest form.
func AppendHead(b []byte, major byte, n uint64) []byte {
	switch {
	case n < 24:
		return append(b, major|byte(n))
	case n <= math.MaxUint8:
		return append(b, major|24, byte(n))
	case n <= math.MaxUint16:
		return binary.BigEndian.AppendUint16(append(b, major|25), uint16(n))
	case n <= math.MaxUint32:
		return binary.BigEndian.AppendUint32(append(b, major|26), uint32(n))
	}
	return binary.BigEndian.AppendUint64(append(b, major|27), n)
}

// AppendText appends a text.
func AppendText(b []byte, s string) []byte { return append(AppendHead(b, Text, uint64(len(s))), s...) }

// AppendBytes appends bytes.
func AppendBytes(b, value []byte) []byte {
	return append(AppendHead(b, Bytes, uint64(len(value))), value...)
}
