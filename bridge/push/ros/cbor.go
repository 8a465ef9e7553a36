package ros

import "callboard/subscribe/protocol/cbor"

// Tags of arrays of numbers, least byte first (RFC 8746, 2.1).
const (
	tagInt8    = 72
	tagInt32   = 78
	tagFloat32 = 85
	tagFloat64 = 86
)

// head writes what a value of CBOR begins with.
func (e *Encoder) head(major byte, n uint64) { e.b = cbor.AppendHead(e.b, major, n) }

// AppendCBORText appends a text.
func AppendCBORText(b []byte, s string) []byte { return cbor.AppendText(b, s) }

// AppendCBORMap appends the beginning of a map of n fields.
func AppendCBORMap(b []byte, n int) []byte { return cbor.AppendHead(b, cbor.Map, uint64(n)) }

// AppendCBORUint appends a number.
func AppendCBORUint(b []byte, n uint64) []byte { return cbor.AppendHead(b, cbor.Uint, n) }

// AppendCBORBytesHead appends what stands before n bytes.
func AppendCBORBytesHead(b []byte, n int) []byte { return cbor.AppendHead(b, cbor.Bytes, uint64(n)) }
