package protocol

import (
	"bytes"
	"math"
)

// JSON has no word for numbers that are not finite: they are null. Between the
// source of a reading and a client that may speak CBOR, which has such numbers, the
// text is exact: blanks before a null tell which number it stands for. They mean
// nothing to JSON, and what goes out as JSON is without them: Plain.
const (
	BlanksNaN         = 1
	BlanksInfinite    = 2
	BlanksNegInfinite = 3
)

// AppendExact appends a number as AppendFloatBits does; one that is not finite is
// null behind the blanks that tell which it is.
func AppendExact(dst []byte, f float64, bits int) []byte {
	blanks := 0
	switch {
	case math.IsNaN(f):
		blanks = BlanksNaN
	case math.IsInf(f, 1):
		blanks = BlanksInfinite
	case math.IsInf(f, -1):
		blanks = BlanksNegInfinite
	}
	return AppendFloatBits(append(dst, "   "[:blanks]...), f, bits)
}

// Plain returns exact text without the blanks between its parts: the text itself
// if there are none, as nearly always.
func Plain(text []byte) []byte {
	if bytes.IndexByte(text, ' ') < 0 {
		return text
	}
	plain, inText := make([]byte, 0, len(text)), false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '"':
			inText = !inText
		case c == '\\' && inText && i+1 < len(text):
			plain = append(plain, c)
			i++
		case c == ' ' && !inText:
			continue
		}
		plain = append(plain, text[i])
	}
	return plain
}
