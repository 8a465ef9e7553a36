package playerlog

import (
	"math"
	"strconv"
	"strings"
)

// powers of ten that float64 holds exactly.
var powers = [...]float64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18,
	1e19, 1e20, 1e21, 1e22}

// parseFloat reads the longest prefix of a token that is a number, as C's
// strtod does, and returns its length. Of numbers of up to 15 digits, which logs
// are full of, both parts are exact, so one division rounds right.
func parseFloat(token []byte) (v float64, n int) {
	i := 0
	negative := false
	if i < len(token) && (token[i] == '+' || token[i] == '-') {
		negative = token[i] == '-'
		i++
	}
	mantissa, digits, behind := uint64(0), 0, 0
	point := false
	for ; i < len(token); i++ {
		c := token[i]
		if c >= '0' && c <= '9' {
			mantissa = mantissa*10 + uint64(c-'0')
			digits++
			if point {
				behind++
			}
			if digits > 18 {
				return parseSlow(token)
			}
		} else if c == '.' && !point {
			point = true
		} else {
			return parseSlow(token)
		}
	}
	if digits == 0 {
		return parseSlow(token)
	}
	if mantissa >= 1<<53 {
		return parseSlow(token)
	}
	v = float64(mantissa)
	if behind > 0 {
		v /= powers[behind]
	}
	if negative {
		v = -v
	}
	return v, len(token)
}

// parseSlow reads what is no plain decimal number.
func parseSlow(token []byte) (float64, int) {
	n := prefix(token)
	if n == 0 {
		return 0, 0
	}
	s := string(token[:n])
	bare := strings.TrimLeft(s, "+-")
	if len(bare) >= 2 && (bare[1] == 'x' || bare[1] == 'X') && !strings.ContainsAny(bare, "pP") {
		s += "p0" // Go wants the exponent of a hexadecimal number
	}
	v, err := strconv.ParseFloat(s, 64)
	if err != nil && !math.IsInf(v, 0) {
		if strings.EqualFold(bare, "nan") { // Go knows no -nan
			return math.NaN(), n
		}
		return 0, 0
	}
	return v, n
}

// prefix returns the length of the longest prefix that is a number to strtod.
func prefix(t []byte) int {
	i := 0
	if i < len(t) && (t[i] == '+' || t[i] == '-') {
		i++
	}
	word := strings.ToLower(string(t[i:min(len(t), i+8)]))
	for _, w := range []string{"infinity", "inf", "nan"} {
		if strings.HasPrefix(word, w) {
			return i + len(w)
		}
	}
	if len(word) > 2 && word[:2] == "0x" && isHex(word[2]) {
		i += 2
		return exponent(t, run(t, i, isHex), 'p')
	}
	from := i
	end := run(t, i, isDigit)
	if end == from || end == from+1 && t[from] == '.' {
		return 0
	}
	return exponent(t, end, 'e')
}

// run passes over digits with at most one point among them.
func run(t []byte, i int, digit func(byte) bool) int {
	point := false
	for i < len(t) && (digit(t[i]) || t[i] == '.' && !point) {
		point = point || t[i] == '.'
		i++
	}
	return i
}

// exponent passes over an exponent that has digits.
func exponent(t []byte, end int, mark byte) int {
	if end >= len(t) || t[end]|0x20 != mark {
		return end
	}
	i := end + 1
	if i < len(t) && (t[i] == '+' || t[i] == '-') {
		i++
	}
	from := i
	for i < len(t) && isDigit(t[i]) {
		i++
	}
	if i == from {
		return end
	}
	return i
}

func isDigit(b byte) bool { return b >= '0' && b <= '9' }
func isHex(b byte) bool   { return isDigit(b) || b|0x20 >= 'a' && b|0x20 <= 'f' }

// parseInt reads the longest prefix of a token that is a whole number, as C's
// atoi does, and returns its length. What is beyond 64 bits is the largest.
func parseInt(token []byte) (v int64, n int) {
	i := 0
	negative := false
	if i < len(token) && (token[i] == '+' || token[i] == '-') {
		negative = token[i] == '-'
		i++
	}
	from := i
	for ; i < len(token) && isDigit(token[i]); i++ {
		if v > (math.MaxInt64-9)/10 {
			v = (math.MaxInt64 - 9) / 10 // further digits leave it at the top
		}
		v = v*10 + int64(token[i]-'0')
	}
	if i == from {
		return 0, 0
	}
	if negative {
		v = -v
	}
	return v, i
}
