package ros

import (
	"encoding/base64"
	"encoding/binary"
	"math"
	"slices"
	"strconv"

	"callboard/subscribe/protocol"
	"callboard/subscribe/protocol/cbor"
)

// Format is how a message is written.
type Format uint8

// The formats.
const (
	JSON Format = iota // as rosbridge writes it: numbers that are not finite are null, bytes base64
	CBOR               // as rosbridge writes it: arrays of numbers are tagged bytes
	ROS1               // ROS 1's own bytes
	NumFormats
)

// maxDepth is how deep messages are nested: more than any that are written here.
const maxDepth = 12

// Encoder writes one message. Its methods are called in the order of the fields
// of the message's definition, with their names; those of elements of arrays have
// none. Its zero value writes JSON.
type Encoder struct {
	b      []byte
	format Format
	depth  int
	open   [maxDepth]nesting
}

// nesting is an object or array that has begun.
type nesting struct {
	at, n int  // where its length in CBOR stands; fields or elements so far
	array bool // an array
}

// Begin begins a message behind b.
func Begin(b []byte, f Format) Encoder {
	e := Encoder{b: b, format: f}
	e.begin(false)
	return e
}

// Bytes ends the message and returns it, behind what it was begun behind.
func (e *Encoder) Bytes() []byte {
	e.End()
	return e.b
}

// name writes what stands before a value.
func (e *Encoder) name(name string) {
	if e.depth == 0 {
		return
	}
	at := &e.open[e.depth-1]
	at.n++
	switch e.format {
	case JSON:
		if at.n > 1 {
			e.b = append(e.b, ',')
		}
		if !at.array {
			e.b = append(e.b, '"')
			e.b = append(e.b, name...)
			e.b = append(e.b, '"', ':')
		}
	case CBOR:
		if !at.array {
			e.head(cbor.Text, uint64(len(name)))
			e.b = append(e.b, name...)
		}
	}
}

func (e *Encoder) begin(array bool) {
	e.open[e.depth] = nesting{at: len(e.b), array: array}
	e.depth++
	if array {
		return
	}
	switch e.format {
	case JSON:
		e.b = append(e.b, '{')
	case CBOR:
		e.b = append(e.b, cbor.Map) // no message has more than 23 fields: the count fits
	}
}

// Begin begins a nested message.
func (e *Encoder) Begin(name string) {
	e.name(name)
	e.begin(false)
}

// End ends a message.
func (e *Encoder) End() {
	e.depth--
	switch e.format {
	case JSON:
		e.b = append(e.b, '}')
	case CBOR:
		e.b[e.open[e.depth].at] = cbor.Map | byte(e.open[e.depth].n)
	}
}

// Array begins an array of n messages or texts.
func (e *Encoder) Array(name string, n int) {
	e.name(name)
	e.begin(true)
	switch e.format {
	case JSON:
		e.b = append(e.b, '[')
	case CBOR:
		e.head(cbor.Array, uint64(n))
	case ROS1:
		e.u32(uint32(n))
	}
}

// EndArray ends an array.
func (e *Encoder) EndArray() {
	e.depth--
	if e.format == JSON {
		e.b = append(e.b, ']')
	}
}

func (e *Encoder) u32(v uint32) { e.b = binary.LittleEndian.AppendUint32(e.b, v) }
func (e *Encoder) u64(v uint64) { e.b = binary.LittleEndian.AppendUint64(e.b, v) }

// Bool writes a bool.
func (e *Encoder) Bool(name string, v bool) {
	e.name(name)
	switch e.format {
	case JSON:
		e.b = strconv.AppendBool(e.b, v)
	case CBOR:
		e.b = append(e.b, cbor.False)
		if v {
			e.b[len(e.b)-1] = cbor.True
		}
	case ROS1:
		e.b = append(e.b, 0)
		if v {
			e.b[len(e.b)-1] = 1
		}
	}
}

// Int writes a whole number of so many bytes.
func (e *Encoder) Int(name string, bytes int, v int64) {
	e.name(name)
	switch e.format {
	case JSON:
		e.b = strconv.AppendInt(e.b, v, 10)
	case CBOR:
		if v < 0 {
			e.head(cbor.Negative, uint64(-(v + 1)))
		} else {
			e.head(cbor.Uint, uint64(v))
		}
	case ROS1:
		var whole [8]byte
		binary.LittleEndian.PutUint64(whole[:], uint64(v))
		e.b = append(e.b, whole[:bytes]...)
	}
}

// Uint8 writes a uint8.
func (e *Encoder) Uint8(name string, v uint8) { e.Int(name, 1, int64(v)) }

// Uint16 writes a uint16.
func (e *Encoder) Uint16(name string, v uint16) { e.Int(name, 2, int64(v)) }

// Uint32 writes a uint32.
func (e *Encoder) Uint32(name string, v uint32) { e.Int(name, 4, int64(v)) }

// Int8 writes an int8.
func (e *Encoder) Int8(name string, v int8) { e.Int(name, 1, int64(v)) }

// Int32 writes an int32.
func (e *Encoder) Int32(name string, v int32) { e.Int(name, 4, int64(v)) }

// Float32 writes a float32.
func (e *Encoder) Float32(name string, v float32) {
	if e.format == ROS1 {
		e.u32(math.Float32bits(v))
		return
	}
	e.float(name, float64(v), 32)
}

// Float64 writes a float64.
func (e *Encoder) Float64(name string, v float64) {
	if e.format == ROS1 {
		e.u64(math.Float64bits(v))
		return
	}
	e.float(name, v, 64)
}

func (e *Encoder) float(name string, v float64, bits int) {
	e.name(name)
	if e.format == JSON {
		e.b = appendFloat(e.b, v, bits)
		return
	}
	e.b = append(e.b, cbor.Float64)
	e.b = binary.BigEndian.AppendUint64(e.b, math.Float64bits(v))
}

// String writes a text.
func (e *Encoder) String(name, v string) {
	e.name(name)
	switch e.format {
	case JSON:
		e.b = protocol.AppendText(e.b, v)
	case CBOR:
		e.head(cbor.Text, uint64(len(v)))
		e.b = append(e.b, v...)
	case ROS1:
		e.u32(uint32(len(v)))
		e.b = append(e.b, v...)
	}
}

// Text writes a text that is bytes.
func (e *Encoder) Text(name string, v []byte) {
	if e.format == ROS1 {
		e.u32(uint32(len(v)))
		e.b = append(e.b, v...)
		return
	}
	e.String(name, string(v))
}

// Strings writes texts.
func (e *Encoder) Strings(name string, v []string) {
	e.Array(name, len(v))
	for _, s := range v {
		e.String("", s)
	}
	e.EndArray()
}

// Stamp is a time of ROS: what an unsigned number of seconds can hold.
type Stamp struct{ Sec, Nsec uint32 }

// StampOf returns a time in seconds; what ROS has no time for is 0 or the last
// that there is.
func StampOf(s float64) Stamp {
	switch {
	case !(s > 0):
		return Stamp{}
	case s >= math.MaxUint32:
		return Stamp{math.MaxUint32, 999_999_999}
	}
	whole, rest := math.Modf(s)
	// To the microsecond: a float64 of today's Unix time has no more.
	return Stamp{uint32(whole), uint32(math.Min(math.Round(rest*1e6), 999_999)) * 1000}
}

// Nanoseconds returns the time as one number.
func (t Stamp) Nanoseconds() uint64 { return uint64(t.Sec)*1e9 + uint64(t.Nsec) }

// Time writes a time.
func (e *Encoder) Time(name string, t Stamp) {
	if e.format != ROS1 {
		e.Begin(name)
		e.Uint32("secs", t.Sec)
		e.Uint32("nsecs", t.Nsec)
		e.End()
		return
	}
	e.u32(t.Sec)
	e.u32(t.Nsec)
}

// counted writes what stands before an array's bytes, which are the same in all
// formats but JSON.
func (e *Encoder) counted(name string, tag byte, n, size int, fixed bool) {
	e.name(name)
	switch e.format {
	case CBOR:
		if tag != 0 {
			e.head(cbor.Tag, uint64(tag))
		}
		e.head(cbor.Bytes, uint64(n*size))
	case ROS1:
		if !fixed {
			e.u32(uint32(n))
		}
	}
	e.b = slices.Grow(e.b, n*size)
}

// Uint8s writes bytes.
func (e *Encoder) Uint8s(name string, v []uint8) {
	e.counted(name, 0, len(v), 1, false)
	if e.format == JSON {
		e.b = append(e.b, '"')
		e.b = append(base64.StdEncoding.AppendEncode(e.b, v), '"')
		return
	}
	e.b = append(e.b, v...)
}

// Int8s writes small numbers.
func (e *Encoder) Int8s(name string, v []int8) {
	e.counted(name, tagInt8, len(v), 1, false)
	for i, x := range v {
		if e.format == JSON {
			e.b = strconv.AppendInt(e.comma(i), int64(x), 10)
		} else {
			e.b = append(e.b, byte(x))
		}
	}
	e.close(len(v))
}

// Int32s writes whole numbers.
func (e *Encoder) Int32s(name string, v []int32) {
	e.counted(name, tagInt32, len(v), 4, false)
	for i, x := range v {
		if e.format == JSON {
			e.b = strconv.AppendInt(e.comma(i), int64(x), 10)
		} else {
			e.u32(uint32(x))
		}
	}
	e.close(len(v))
}

// Float32s writes numbers; float64s are rounded to what the message has.
func Float32s[T float32 | float64](e *Encoder, name string, v []T) {
	e.counted(name, tagFloat32, len(v), 4, false)
	for i, x := range v {
		if e.format == JSON {
			e.b = appendFloat(e.comma(i), float64(float32(x)), 32)
		} else {
			e.u32(math.Float32bits(float32(x)))
		}
	}
	e.close(len(v))
}

// Float64s writes numbers, of an array whose length is fixed or not.
func (e *Encoder) Float64s(name string, v []float64, fixed bool) {
	e.counted(name, tagFloat64, len(v), 8, fixed)
	for i, x := range v {
		if e.format == JSON {
			e.b = appendFloat(e.comma(i), x, 64)
		} else {
			e.u64(math.Float64bits(x))
		}
	}
	e.close(len(v))
}

// comma stands before the i-th number of an array in JSON.
func (e *Encoder) comma(i int) []byte {
	if i == 0 {
		return append(e.b, '[')
	}
	return append(e.b, ',')
}

// close ends an array of n numbers in JSON.
func (e *Encoder) close(n int) {
	switch {
	case e.format != JSON:
	case n == 0:
		e.b = append(e.b, "[]"...)
	default:
		e.b = append(e.b, ']')
	}
}

// appendFloat appends a number: whole ones are most, and fast.
func appendFloat(b []byte, v float64, bits int) []byte {
	if v == math.Trunc(v) && math.Abs(v) < 1e9 {
		return strconv.AppendInt(b, int64(v), 10)
	}
	return protocol.AppendFloatBits(b, v, bits)
}
