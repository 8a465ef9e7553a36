package view

import (
	"math"
	"strconv"
	"unicode/utf8"

	"callboard/subscribe/protocol"
)

// AppendFloat appends f as JSON has it: the shortest text that reads back as
// the same float64. One that is not finite is a word for protocol.Seal.
func AppendFloat(dst []byte, f float64) []byte {
	if f == math.Trunc(f) && math.Abs(f) < 1e15 {
		if f == 0 && math.Signbit(f) {
			return append(dst, "-0"...)
		}
		return strconv.AppendInt(dst, int64(f), 10)
	}
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return protocol.AppendWord(dst, f, 64)
	}
	if dst, ok := appendNarrow(dst, f); ok {
		return dst
	}
	format := byte('f')
	if a := math.Abs(f); a < 1e-6 || a >= 1e21 {
		format = 'e'
	}
	dst = strconv.AppendFloat(dst, f, format, -1, 64)
	// 1e-07 is 1e-7.
	if n := len(dst); format == 'e' && dst[n-4] == 'e' && dst[n-2] == '0' {
		dst = append(dst[:n-2], dst[n-1])
	}
	return dst
}

// AppendFloats appends a JSON array of numbers.
func AppendFloats(dst []byte, fs []float64) []byte {
	dst = append(dst, '[')
	for i, f := range fs {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = AppendFloat(dst, f)
	}
	return append(dst, ']')
}

// AppendString appends a text as JSON.
func AppendString(dst []byte, s string) []byte {
	const hex = "0123456789abcdef"
	dst = append(dst, '"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			dst = append(dst, '\\', byte(r))
		case r < 0x20 || r == 0x7f || r == '\u2028' || r == '\u2029':
			dst = append(dst, '\\', 'u', hex[r>>12&15], hex[r>>8&15], hex[r>>4&15], hex[r&15])
		default:
			dst = utf8.AppendRune(dst, r)
		}
	}
	return append(dst, '"')
}

// appendStrings appends a JSON array of texts.
func appendStrings(dst []byte, texts []string) []byte {
	dst = append(dst, '[')
	for i, s := range texts {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = AppendString(dst, s)
	}
	return append(dst, ']')
}
