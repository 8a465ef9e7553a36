package protocol

import (
	"bytes"
	"math"
)

// Readings, selected values and results are objects, as bytes: JSON text, or CBOR
// if they have numbers that are not finite, for which JSON has no word. CBOR of
// such an object begins with a byte that is no character of ASCII.

// Numbers that are not finite, as JavaScript writes them: in text of which Seal
// makes an object, and nowhere else.
const (
	wordNaN         = "NaN"
	wordInfinite    = "Infinity"
	wordNegInfinite = "-Infinity"
)

// AppendWord appends a number to text for Seal.
func AppendWord(dst []byte, f float64, bits int) []byte {
	switch {
	case math.IsNaN(f):
		return append(dst, wordNaN...)
	case math.IsInf(f, 1):
		return append(dst, wordInfinite...)
	case math.IsInf(f, -1):
		return append(dst, wordNegInfinite...)
	}
	return AppendFloatBits(dst, f, bits)
}

// Seal returns the object that text stands for: itself if that is JSON.
func Seal(text []byte) []byte {
	if !bytes.Contains(text, []byte(wordNaN)) && !bytes.Contains(text, []byte(wordInfinite)) {
		return text
	}
	return AppendCBOR(make([]byte, 0, len(text)), text)
}

// IsCBOR reports whether an object is CBOR, and not JSON.
func IsCBOR(object []byte) bool { return len(object) > 0 && object[0] >= 0x80 }

// JSON returns an object as JSON, in which numbers that are not finite are null.
func JSON(object []byte) []byte {
	if !IsCBOR(object) {
		return object
	}
	return appendObject(nil, object, false)
}

// appendObject appends an object as JSON, or as text for Seal.
func appendObject(dst, object []byte, words bool) []byte {
	if !IsCBOR(object) {
		return append(dst, object...)
	}
	from := len(dst)
	dst, err := appendFromCBOR(dst, object, words)
	if err != nil { // no broker sends such
		return append(dst[:from], "null"...)
	}
	return dst
}

// AppendObjectCBOR appends an object as CBOR.
func AppendObjectCBOR(dst, object []byte) []byte {
	if IsCBOR(object) {
		return append(dst, object...)
	}
	return AppendCBOR(dst, object)
}
