package view

import (
	"encoding/binary"
	"math"
	"math/bits"
	"strconv"
)

// Ranges come as float32 and are printed as the float64 that they are then, in
// the fewest digits that read back as the same float64: 16 or 17 as a rule.
// strconv.AppendFloat spends a third of a notification's way on them; what is
// special in a float64 that was a float32 makes it three times faster here:
// such an m·2⁻ᵏ with m < 2²⁴ has an exact product with 10ᵖ in 128 bits.

// appendNarrow appends a float64 that was a float32, as
// strconv.AppendFloat(dst, f, 'f', -1, 64) does. With ok false it appends
// nothing: f was none, or needs more than is done here.
func appendNarrow(dst []byte, f float64) (_ []byte, ok bool) {
	narrow := float32(f)
	if float64(narrow) != f {
		return dst, false
	}
	word := math.Float32bits(narrow)
	exponent := int(word>>23&0xff) - 127 // 2^exponent ≤ |f| < 2^(exponent+1)
	fraction := uint64(word & (1<<23 - 1))
	// A power of two has a narrower interval below it; very small and large
	// numbers do not fit.
	if fraction == 0 || exponent < -10 || exponent > 9 {
		return dst, false
	}
	m := fraction | 1<<23
	digits, places, ok := shortest(m, 23-exponent)
	if !ok {
		return dst, false
	}
	if word>>31 != 0 {
		dst = append(dst, '-')
	}
	return appendFixed(dst, m>>(23-exponent), digits, places), true
}

// shortest returns the decimal digits·10^−places with the fewest digits that
// reads back as the float64 m·2^−k, 2²³ < m < 2²⁴, and is the nearest to it of
// those. What reads back differs by no more than half a unit in the last place
// of the float64, which is 2^−30 of m's unit.
func shortest(m uint64, k int) (digits uint64, places int, ok bool) {
	// 17 digits suffice; most need 16 or 17.
	places = 16 - integerDigits(m>>k)
	digits, reads, tie := nearest(m, k, places)
	for !reads && !tie && places < len(powers)-1 { // one more, or some for zeros behind the point
		places++
		digits, reads, tie = nearest(m, k, places)
	}
	for reads && !tie && places > 0 {
		fewer, enough, even := nearest(m, k, places-1)
		if even {
			tie = true
		}
		if !enough {
			break
		}
		digits, places = fewer, places-1
	}
	return digits, places, reads && !tie
}

// integerDigits counts the digits before the point, for numbers below 1024;
// below 1 there are none, and zeros behind the point make that negative.
func integerDigits(n uint64) int {
	switch {
	case n >= 1000:
		return 4
	case n >= 100:
		return 3
	case n >= 10:
		return 2
	case n >= 1:
		return 1
	}
	return 0
}

// nearest returns the integer that is nearest to m·10^places / 2^k, and whether
// it reads back as the same float64. A tie between two is left to others.
func nearest(m uint64, k, places int) (digits uint64, reads, tie bool) {
	hi, lo := bits.Mul64(m, powers[places])
	digits = hi<<(64-k) | lo>>k
	rest := lo & (1<<k - 1)
	half := uint64(1) << (k - 1)
	if rest == half {
		return 0, false, true
	}
	if rest > half {
		digits++
		rest = 1<<k - rest
	}
	// rest / 2^k units of the last digit are at most 2^−30 units of m:
	// rest · 2^30 ≤ 10^places.
	over, scaled := bits.Mul64(rest, 1<<30)
	return digits, over == 0 && scaled <= powers[places], false
}

// powers are those of ten.
var powers = [...]uint64{
	1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19,
}

// appendFixed appends digits·10^−places with all its places. The whole of it
// is known, or one more where digits was rounded up.
func appendFixed(dst []byte, whole, digits uint64, places int) []byte {
	behind := digits - whole*powers[places]
	if behind >= powers[places] {
		whole, behind = whole+1, behind-powers[places]
	}
	if whole < 10 {
		dst = append(dst, '0'+byte(whole))
	} else {
		dst = strconv.AppendUint(dst, whole, 10)
	}
	if places == 0 {
		return dst
	}
	dst = append(dst, '.')
	for ; places > 16; places-- { // rarely: for numbers below 1
		dst = append(dst, '0'+byte(behind/powers[places-1]))
		behind %= powers[places-1]
	}
	behind *= powers[16-places]
	from := len(dst)
	dst = append(dst, "0000000000000000"...)
	binary.LittleEndian.PutUint64(dst[from:], eightDigits(behind/1e8))
	binary.LittleEndian.PutUint64(dst[from+8:], eightDigits(behind%1e8))
	return dst[:from+places]
}

// eightDigits returns the eight decimal digits of n < 10⁸ as characters, the
// first in the lowest byte. It halves all parts at once: into two of four
// digits, four of two and eight of one; a part's quotient by 100 or 10 is a
// product and a shift.
func eightDigits(n uint64) uint64 {
	fours := n/10000 | n%10000<<32
	hundreds := fours * 10486 >> 20 & 0x7f_0000_007f
	twos := hundreds | (fours-100*hundreds)<<16
	tens := twos * 103 >> 10 & 0x0f_000f_000f_000f
	return 0x3030303030303030 + (tens | (twos-10*tens)<<8)
}
