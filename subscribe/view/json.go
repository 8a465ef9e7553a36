package view

import (
	"math"
	"strconv"
)

// AppendFloat appends f as JSON has it: the shortest text that reads back as
// the same float64; null if f is not finite.
func AppendFloat(dst []byte, f float64) []byte {
	if f == math.Trunc(f) && math.Abs(f) < 1e15 {
		if f == 0 && math.Signbit(f) {
			return append(dst, "-0"...)
		}
		return strconv.AppendInt(dst, int64(f), 10)
	}
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return append(dst, "null"...)
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

func appendNumber(dst []byte, name string, f float64) []byte {
	dst = append(dst, name...)
	return AppendFloat(dst, f)
}

func appendInt(dst []byte, name string, i int) []byte {
	dst = append(dst, name...)
	return strconv.AppendInt(dst, int64(i), 10)
}

func appendBool(dst []byte, name string, b bool) []byte {
	dst = append(dst, name...)
	return strconv.AppendBool(dst, b)
}

func appendFloats(dst []byte, name string, fs []float64) []byte {
	dst = append(dst, name...)
	return AppendFloats(dst, fs)
}
