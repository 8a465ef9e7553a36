package playerlog

import (
	"fmt"
	"math"
	"strconv"
)

// text is a line in the making or in the reading. The layouts (layouts.go)
// tell its values in order, each once for both directions: reading sets the
// value, writing appends it.
type text struct {
	writing bool

	in   []byte // reading: the line
	at   int    // byte where the next token is looked for
	read int    // values read
	odd  string // the first thing that was tolerated, and
	oddy int    // the byte where it stands
	bad  string // the first fault: what is wrong and what is expected, and
	bady int    // the byte where it stands

	out  []byte // writing: the line
	made int    // values written
}

// fail keeps the first fault.
func (l *text) fail(at int, format string, args ...any) {
	if l.bad == "" {
		l.bad, l.bady = fmt.Sprintf(format, args...), at
	}
}

// tolerate keeps the first oddity.
func (l *text) tolerate(at int, format string, args ...any) {
	if l.odd == "" {
		l.odd, l.oddy = fmt.Sprintf(format, args...), at
	}
}

// token returns the next token and where it stands; empty at the line's end.
func (l *text) token() (token []byte, at int) {
	i := l.at
	for i < len(l.in) && l.in[i] <= ' ' {
		i++
	}
	at = i
	for i < len(l.in) && l.in[i] > ' ' {
		i++
	}
	l.at = i
	return l.in[at:i], at
}

// left counts the tokens that are left.
func (l *text) left() int {
	n, inside := 0, false
	for _, b := range l.in[l.at:] {
		if b > ' ' && !inside {
			n++
		}
		inside = b > ' '
	}
	return n
}

// value returns the next token of the payload, or fails.
func (l *text) value(what string) (token []byte, at int, ok bool) {
	if l.bad != "" {
		return nil, 0, false
	}
	token, at = l.token()
	l.read++
	if len(token) == 0 {
		l.fail(at, "the line ends; expected %s as value %d", what, l.read)
		return nil, at, false
	}
	return token, at, true
}

// form is how a number is written, as C's printf has it.
type form struct {
	plus  bool // the sign always
	zero  bool // zeros to fill, not blanks
	width int  // least characters
	prec  int  // digits behind the point
}

// The forms of Player's writer; s is for a sign that is always written.
var (
	f3    = form{prec: 3}
	f6    = form{prec: 6}
	f7    = form{prec: 7}
	s43   = form{plus: true, zero: true, width: 4, prec: 3}
	s73   = form{plus: true, zero: true, width: 7, prec: 3}
	s74   = form{plus: true, zero: true, width: 7, prec: 4}
	s8    = form{plus: true, prec: 8}
	s4    = form{plus: true, prec: 4}
	wide  = form{width: 7, prec: 3}
	swide = form{plus: true, width: 7, prec: 3}

	d    = form{}
	d2   = form{width: 2}
	d03  = form{zero: true, width: 3}
	d04  = form{zero: true, width: 4}
	d10  = form{width: 10}
	plus = form{plus: true}
)

// float is a number.
func (l *text) float(v *float64, f form) {
	if l.writing {
		l.out = append(l.out, ' ')
		l.out = appendFloat(l.out, *v, f)
		l.made++
		return
	}
	if l.bad != "" {
		return
	}
	if x, end, ok := decimal(l.in, l.at); ok {
		*v, l.at = x, end
		l.read++
		return
	}
	token, at, ok := l.value("a number")
	if !ok {
		return
	}
	x, n := parseFloat(token)
	if n < len(token) {
		l.notWhole(token, n, at, "a number")
	}
	*v = x
}

// float32 is a number that Player keeps as a float.
func (l *text) float32(v *float32, f form) {
	x := float64(*v)
	l.float(&x, f)
	*v = float32(x)
}

// notWhole judges a token of which only n bytes are what was expected: Player
// takes those.
func (l *text) notWhole(token []byte, n, at int, what string) {
	if n == 0 {
		l.fail(at, "%q is no number; expected %s as value %d", short(token), what, l.read)
		return
	}
	l.tolerate(at, "%q is read as %s; expected %s as value %d", short(token), token[:n], what, l.read)
}

func short(token []byte) []byte {
	if len(token) > 40 {
		return append(token[:40:40], "…"...)
	}
	return token
}

// number is a whole number, of whatever type it is in the message.
type number interface {
	uint8 | uint16 | uint32 | int8 | int16 | int32
}

// integer is a whole number. One out of its type's range is cut, as in C.
func integer[T number](l *text, v *T, f form) {
	if l.writing {
		l.out = append(l.out, ' ')
		l.out = appendInt(l.out, int64(*v), f)
		l.made++
		return
	}
	if l.bad != "" {
		return
	}
	if x, end, ok := whole(l.in, l.at); ok {
		*v, l.at = T(x), end
		l.read++
		return
	}
	token, at, ok := l.value("a whole number")
	if !ok {
		return
	}
	x, n := parseInt(token)
	if n < len(token) {
		l.notWhole(token, n, at, "a whole number")
	}
	*v = T(x)
}

// signed is a number without sign that Player's writer prints with one.
func signed(l *text, v *uint32) {
	x := int32(*v)
	integer(l, &x, d)
	*v = uint32(x)
}

// count is the number of elements that follow, each of values values. Reading
// checks it against the tokens that are left before anything is made for it.
func (l *text) count(n, values int, f form) int {
	c := uint32(n)
	integer(l, &c, f)
	if l.writing || l.bad != "" {
		return n
	}
	// A value takes two bytes at least, its blank included.
	if need := uint64(c) * uint64(values); 2*need > uint64(len(l.in)-l.at)+1 {
		l.fail(l.at, "%d values follow; expected %d for %d elements", l.left(), need, c)
		return 0
	}
	return int(c)
}

// elements makes s as long as a count says, in its own memory if that does.
func elements[T any](l *text, s *[]T, values int, f form) []T {
	n := l.count(len(*s), values, f)
	if l.writing {
		return *s
	}
	if n > cap(*s) {
		*s = make([]T, n)
	}
	*s = (*s)[:n]
	return *s
}

// blank is what ends the lines whose last values are in an array: Player's
// writer puts a blank behind each of them.
func (l *text) blank() {
	if l.writing {
		l.out = append(l.out, ' ')
	}
}

// appendFloat writes as C's printf does with %f.
func appendFloat(b []byte, v float64, f form) []byte {
	from := len(b)
	switch {
	case math.IsNaN(v):
		b = append(b, "nan"...)
		f.zero = false
	case math.IsInf(v, 1):
		b = append(b, "inf"...)
		f.zero = false
	case math.IsInf(v, -1):
		b = append(b, "-inf"...)
		f.zero = false
	default:
		b = strconv.AppendFloat(b, v, 'f', f.prec, 64)
	}
	return fill(b, from, f)
}

// appendInt writes as C's printf does with %d.
func appendInt(b []byte, v int64, f form) []byte {
	from := len(b)
	return fill(strconv.AppendInt(b, v, 10), from, f)
}

// fill puts the sign, and zeros or blanks, before the number at from.
func fill(b []byte, from int, f form) []byte {
	if f.plus && b[from] != '-' {
		b = append(b, 0)
		copy(b[from+1:], b[from:])
		b[from] = '+'
	}
	missing := f.width - (len(b) - from)
	if missing <= 0 {
		return b
	}
	with := byte(' ')
	if f.zero {
		with = '0'
		if b[from] == '+' || b[from] == '-' {
			from++
		}
	}
	for range missing {
		b = append(b, 0)
	}
	copy(b[from+missing:], b[from:])
	for i := range missing {
		b[from+i] = with
	}
	return b
}
