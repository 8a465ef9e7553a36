package playerlog

import "encoding/binary"

// exactDigits is how many digits a number may have so that one division of
// two exact numbers is the float64 nearest to it, as strconv does.
const exactDigits = 15

// decimal reads a plain decimal number from byte i on, blanks before it
// passed over, and returns where it ends. It does not take anything else: a
// token with an exponent, many digits, or what is no number.
func decimal(in []byte, i int) (v float64, end int, ok bool) {
	for i < len(in) && in[i] <= ' ' {
		i++
	}
	negative := false
	if i < len(in) && (in[i] == '-' || in[i] == '+') {
		negative = in[i] == '-'
		i++
	}
	mantissa, from := uint64(0), i
	for i < len(in) && in[i]-'0' <= 9 {
		mantissa = mantissa*10 + uint64(in[i]-'0')
		i++
	}
	digits, behind := i-from, 0
	if i < len(in) && in[i] == '.' {
		i++
		from = i
		for i < len(in) && in[i]-'0' <= 9 {
			mantissa = mantissa*10 + uint64(in[i]-'0')
			i++
		}
		behind = i - from
		digits += behind
	}
	if digits == 0 || digits > exactDigits || i < len(in) && in[i] > ' ' {
		return 0, 0, false
	}
	v = float64(mantissa)
	if behind > 0 {
		v /= powers[behind]
	}
	if negative {
		v = -v
	}
	return v, i, true
}

// whole reads a plain whole number from byte i on, as decimal does.
func whole(in []byte, i int) (v int64, end int, ok bool) {
	for i < len(in) && in[i] <= ' ' {
		i++
	}
	negative := false
	if i < len(in) && (in[i] == '-' || in[i] == '+') {
		negative = in[i] == '-'
		i++
	}
	from := i
	for i < len(in) && in[i]-'0' <= 9 {
		v = v*10 + int64(in[i]-'0')
		i++
	}
	if i == from || i-from > exactDigits || i < len(in) && in[i] > ' ' {
		return 0, 0, false
	}
	if negative {
		v = -v
	}
	return v, i, true
}

// A range below 10 m as Player's writer puts it, with blanks around it, is
// seven bytes: " 0.839 ". They are read at once.
const (
	rangeBytes  = 7
	rangeText   = uint64(' ') | '0'<<8 | '.'<<16 | '0'<<24 | '0'<<32 | '0'<<40 | ' '<<48
	rangeFixed  = uint64(0xff | 0xff<<16 | 0xff<<48) // bytes that are no digits
	rangeDigits = uint64(0xff<<8 | 0xff<<24 | 0xff<<32 | 0xff<<40)
	rangeTop    = uint64(0x80<<8 | 0x80<<24 | 0x80<<32 | 0x80<<40)
	rangeOver   = uint64(0x76<<8 | 0x76<<24 | 0x76<<32 | 0x76<<40) // takes a digit above 9 to the top bit
)

// thousandths reads such a range from eight bytes, in thousandths.
func thousandths(eight uint64) (n uint64, ok bool) {
	t := eight ^ rangeText
	if digits := t & rangeDigits; t&rangeFixed != 0 || (digits|(digits+rangeOver))&rangeTop != 0 {
		return 0, false
	}
	return (t>>8&0xf)*1000 + (t>>24&0xf)*100 + (t>>32&0xf)*10 + t>>40&0xf, true
}

// plainRays reads ranges with their intensities for as long as they are
// written as Player's writer does (" 0.839  1 "), and returns how many.
func (l *text) plainRays(ranges []float32, intensity []uint8) (n int) {
	in, i := l.in, l.at
	for n < len(ranges) && n < len(intensity) && i+10 <= len(in) {
		m, ok := thousandths(binary.LittleEndian.Uint64(in[i:]))
		tens, ones := in[i+7], in[i+8]-'0'
		if !ok || ones > 9 || in[i+9] != ' ' {
			break
		}
		if tens -= '0'; tens > 9 {
			if in[i+7] != ' ' {
				break
			}
			tens = 0
		}
		ranges[n], intensity[n] = float32(float64(m)/1000), tens*10+ones
		n++
		i += 9
	}
	l.at = i
	l.read += 2 * n
	return n
}

// plainRanges reads ranges for as long as they are written as Player's writer
// does (" 0.839 "), and returns how many.
func plainRanges[T float32 | float64](l *text, ranges []T) (n int) {
	in, i := l.in, l.at
	for n < len(ranges) && i+8 <= len(in) {
		m, ok := thousandths(binary.LittleEndian.Uint64(in[i:]))
		if !ok {
			break
		}
		ranges[n] = T(float64(m) / 1000)
		n++
		i += rangeBytes - 1
	}
	l.at = i
	l.read += n
	return n
}
