package protocol

import (
	"encoding/binary"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"callboard/subscribe/protocol/cbor"
)

// callboard.v1.cbor carries the same objects as the JSON protocol, so both
// ways go through text, without a tree in between: what is behind them is the
// same code, and a message cannot become many times its size.

// AppendCBOR appends text, which must be valid, as CBOR: JSON, in which numbers
// may be the words of AppendWord too. Arrays and objects are of indefinite length:
// their ends are found only later.
func AppendCBOR(dst, text []byte) []byte {
	for i := 0; i < len(text); {
		switch c := text[i]; c {
		case '{':
			dst = append(dst, cbor.Map|cbor.Indefinite)
			i++
		case '[':
			dst = append(dst, cbor.Array|cbor.Indefinite)
			i++
		case '}', ']':
			dst = append(dst, cbor.Break)
			i++
		case ',', ':', ' ', '\t', '\n', '\r':
			i++
		case '"':
			end := skipValue(text, i)
			dst = cbor.AppendText(dst, unquote(text[i:end]))
			i = end
		default:
			end := skipValue(text, i)
			dst = appendCBORScalar(dst, string(text[i:end]))
			i = end
		}
	}
	return dst
}

func appendCBORScalar(dst []byte, word string) []byte {
	half := func(bits uint16) []byte { return binary.BigEndian.AppendUint16(append(dst, cbor.Float16), bits) }
	switch word {
	case "true":
		return append(dst, cbor.True)
	case "false":
		return append(dst, cbor.False)
	case "null":
		return append(dst, cbor.Null)
	case wordNaN:
		return half(0x7e00)
	case wordInfinite:
		return half(0x7c00)
	case wordNegInfinite:
		return half(0xfc00)
	}
	if !strings.ContainsAny(word, ".eE") && word != "-0" {
		if n, err := strconv.ParseUint(word, 10, 64); err == nil {
			return cbor.AppendHead(dst, cbor.Uint, n)
		}
		if n, err := strconv.ParseInt(word, 10, 64); err == nil {
			return cbor.AppendHead(dst, cbor.Negative, uint64(-(n + 1)))
		}
	}
	f, _ := strconv.ParseFloat(word, 64) // valid; out of range is infinite
	return binary.BigEndian.AppendUint64(append(dst, cbor.Float64), math.Float64bits(f))
}

// cborReader reads CBOR from b and appends text to out.
type cborReader struct {
	b     []byte
	at    int
	out   []byte
	words bool // numbers that are not finite are words; else null
	err   error
}

// AppendFromCBOR appends the JSON text of one CBOR item, in which numbers that are
// not finite are null. Keys must be text, byte strings have no counterpart, tags
// are passed over.
func AppendFromCBOR(dst, b []byte) ([]byte, error) { return appendFromCBOR(dst, b, false) }

func appendFromCBOR(dst, b []byte, words bool) ([]byte, error) {
	r := &cborReader{b: b, out: dst, words: words}
	r.item(0)
	if r.err == nil && r.at != len(b) {
		r.wrong("more than one item")
	}
	return r.out, r.err
}

func (r *cborReader) wrong(what string) {
	if r.err == nil {
		r.err = fmt.Errorf("not CBOR as expected: %s, at byte %d; expected one map", what, r.at)
	}
}

func (r *cborReader) float(f float64) {
	if r.words {
		r.out = AppendWord(r.out, f, 64)
	} else {
		r.out = AppendFloat(r.out, f)
	}
}

// head reads an item's first byte and its number.
func (r *cborReader) head() (major, info byte, n uint64) {
	if r.at >= len(r.b) {
		r.wrong("it ends too early")
		return 0, 0, 0
	}
	first := r.b[r.at]
	r.at++
	major, info = first&cbor.Major, first&^cbor.Major
	if info < 24 || info == cbor.Indefinite {
		return major, info, uint64(info)
	}
	size := 1 << (info - 24)
	if info > 27 {
		r.wrong("a reserved length")
		return 0, 0, 0
	}
	if len(r.b)-r.at < size {
		r.wrong("it ends too early")
		return 0, 0, 0
	}
	for _, c := range r.b[r.at : r.at+size] {
		n = n<<8 | uint64(c)
	}
	r.at += size
	return major, info, n
}

func (r *cborReader) item(depth int) {
	major, info, n := r.head()
	if depth > maxNesting {
		r.wrong("nested too deep")
	}
	if r.err != nil {
		return
	}
	switch major {
	case cbor.Uint, cbor.Negative:
		r.integer(major, info, n)
	case cbor.Text:
		r.out = AppendText(r.out, r.text(info, n))
	case cbor.Array:
		r.list(info, n, depth)
	case cbor.Map:
		r.object(info, n, depth)
	case cbor.Tag:
		r.item(depth + 1)
	case cbor.Simple:
		r.simple(info, n)
	default:
		r.wrong("a byte string")
	}
}

func (r *cborReader) integer(major, info byte, n uint64) {
	switch {
	case info == cbor.Indefinite:
		r.wrong("an integer without a length")
	case major == cbor.Uint:
		r.out = strconv.AppendUint(r.out, n, 10)
	case n > math.MaxInt64:
		r.float(-1 - float64(n))
	default:
		r.out = strconv.AppendInt(r.out, -1-int64(n), 10)
	}
}

// text reads what a text says, in pieces if its length is not told.
func (r *cborReader) text(info byte, n uint64) string {
	if info != cbor.Indefinite {
		if uint64(len(r.b)-r.at) < n {
			r.wrong("it ends too early")
			return ""
		}
		s := string(r.b[r.at : r.at+int(n)])
		r.at += int(n)
		if !utf8.ValidString(s) {
			r.wrong("a text that is not UTF-8")
		}
		return s
	}
	var all strings.Builder
	for !r.broke() && r.err == nil {
		major, info, n := r.head()
		if major != cbor.Text || info == cbor.Indefinite {
			r.wrong("a piece of a text that is none")
			break
		}
		all.WriteString(r.text(info, n))
	}
	return all.String()
}

// broke passes the end of an item without a length, if it is there.
func (r *cborReader) broke() bool {
	if r.at < len(r.b) && r.b[r.at] == cbor.Break {
		r.at++
		return true
	}
	return false
}

// more reports whether element i of a list of n, or of one without a length,
// comes.
func (r *cborReader) more(info byte, n uint64, i uint64) bool {
	if r.err != nil {
		return false
	}
	if info == cbor.Indefinite {
		return !r.broke()
	}
	return i < n
}

func (r *cborReader) list(info byte, n uint64, depth int) {
	r.out = append(r.out, '[')
	for i := uint64(0); r.more(info, n, i); i++ {
		if i > 0 {
			r.out = append(r.out, ',')
		}
		r.item(depth + 1)
	}
	r.out = append(r.out, ']')
}

func (r *cborReader) object(info byte, n uint64, depth int) {
	r.out = append(r.out, '{')
	for i := uint64(0); r.more(info, n, i); i++ {
		if i > 0 {
			r.out = append(r.out, ',')
		}
		major, info, n := r.head()
		if major != cbor.Text {
			r.wrong("a key that is no text")
			return
		}
		r.out = append(AppendText(r.out, r.text(info, n)), ':')
		r.item(depth + 1)
	}
	r.out = append(r.out, '}')
}

func (r *cborReader) simple(info byte, n uint64) {
	switch info {
	case 20, 21:
		r.out = strconv.AppendBool(r.out, info == 21)
	case 22, 23: // null and undefined
		r.out = append(r.out, "null"...)
	case 25:
		r.float(halfFloat(uint16(n)))
	case 26:
		r.float(float64(math.Float32frombits(uint32(n))))
	case 27:
		r.float(math.Float64frombits(n))
	default:
		r.wrong("a value that JSON does not have")
	}
}

// halfFloat returns the value of an IEEE 754 half.
func halfFloat(bits uint16) float64 {
	sign, exponent, fraction := 1.0, int(bits>>10&0x1f), float64(bits&0x3ff)
	if bits>>15 == 1 {
		sign = -1
	}
	switch exponent {
	case 0:
		return sign * math.Ldexp(fraction, -24)
	case 31:
		if fraction != 0 {
			return math.NaN()
		}
		return math.Inf(int(sign))
	}
	return sign * math.Ldexp(1024+fraction, exponent-25)
}
