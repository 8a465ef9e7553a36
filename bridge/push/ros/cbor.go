package ros

import "encoding/binary"

// CBOR's major types (RFC 8949, 3.1), and what else is needed of it.
const (
	cborUint     = 0 << 5
	cborNegative = 1 << 5
	cborBytes    = 2 << 5
	cborText     = 3 << 5
	cborArray    = 4 << 5
	cborMap      = 5 << 5
	cborTag      = 6 << 5

	cborFalse   = 0xf4
	cborTrue    = 0xf5
	cborFloat64 = 0xfb
)

// Tags of arrays of numbers, least byte first (RFC 8746, 2.1).
const (
	tagInt8    = 72
	tagInt32   = 78
	tagFloat32 = 85
	tagFloat64 = 86
)

// head writes what a value of CBOR begins with.
func (e *Encoder) head(major byte, n uint64) { e.b = AppendCBORHead(e.b, major, n) }

// AppendCBORHead appends what a value of CBOR begins with.
func AppendCBORHead(b []byte, major byte, n uint64) []byte {
	switch {
	case n < 24:
		return append(b, major|byte(n))
	case n <= 0xff:
		return append(b, major|24, byte(n))
	case n <= 0xffff:
		return binary.BigEndian.AppendUint16(append(b, major|25), uint16(n))
	case n <= 0xffffffff:
		return binary.BigEndian.AppendUint32(append(b, major|26), uint32(n))
	}
	return binary.BigEndian.AppendUint64(append(b, major|27), n)
}

// AppendCBORText appends a text.
func AppendCBORText(b []byte, s string) []byte {
	return append(AppendCBORHead(b, cborText, uint64(len(s))), s...)
}

// AppendCBORMap appends the beginning of a map of n fields.
func AppendCBORMap(b []byte, n int) []byte { return AppendCBORHead(b, cborMap, uint64(n)) }

// AppendCBORUint appends a number.
func AppendCBORUint(b []byte, n uint64) []byte { return AppendCBORHead(b, cborUint, n) }

// AppendCBORBytesHead appends what stands before n bytes.
func AppendCBORBytesHead(b []byte, n int) []byte { return AppendCBORHead(b, cborBytes, uint64(n)) }
