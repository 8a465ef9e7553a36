package protocol

import (
	"encoding/base64"
	"math"
	"strconv"
	"unicode/utf8"
)

// AppendNotify appends a notification in JSON: a head of its own and the
// reading's shared bytes. It allocates nothing.
func AppendNotify(dst []byte, n *Notify) []byte {
	return AppendNotifyTail(appendNotifyHead(dst, n), n)
}

// AppendNotifyExact appends it as exact text: see Plain.
func AppendNotifyExact(dst []byte, n *Notify) []byte {
	return appendNotifyTail(appendNotifyHead(dst, n), n, true)
}

// AppendNotifyHead appends it up to its reading, which comes last: what remains
// to be appended is that and a closing brace.
func AppendNotifyHead(dst []byte, n *Notify) []byte {
	dst = appendNotifyParts(appendNotifyHead(dst, n), n, false)
	return append(dst, `,"reading":`...)
}

func appendNotifyHead(dst []byte, n *Notify) []byte {
	dst = append(dst, `{"op":"notify","source":`...)
	dst = AppendText(dst, n.Source)
	dst = append(dst, `,"seq":`...)
	dst = strconv.AppendUint(dst, n.Seq, 10)
	if n.Skipped != 0 {
		dst = append(dst, `,"skipped":`...)
		dst = strconv.AppendUint(dst, n.Skipped, 10)
	}
	return dst
}

// AppendNotifyTail appends what follows the numbers of a notification: all
// that is known before they are given.
func AppendNotifyTail(dst []byte, n *Notify) []byte { return appendNotifyTail(dst, n, false) }

func appendNotifyTail(dst []byte, n *Notify, exact bool) []byte {
	dst = appendNotifyParts(dst, n, exact)
	if n.Reading != nil {
		dst = append(dst, `,"reading":`...)
		dst = append(dst, as(n.Reading, exact)...)
	}
	return append(dst, '}')
}

// as returns text as it goes out.
func as(text []byte, exact bool) []byte {
	if exact {
		return text
	}
	return Plain(text)
}

// appendNotifyParts appends what stands between the numbers and the reading.
func appendNotifyParts(dst []byte, n *Notify, exact bool) []byte {
	dst = append(dst, `,"robot":`...)
	dst = AppendText(dst, n.Robot)
	dst = append(dst, `,"interface":`...)
	dst = AppendText(dst, n.Interface)
	dst = append(dst, `,"index":`...)
	dst = strconv.AppendInt(dst, int64(n.Index), 10)
	dst = append(dst, `,"time":`...)
	if exact {
		dst = AppendExact(dst, n.Time, 64)
	} else {
		dst = AppendFloat(dst, n.Time)
	}
	dst = append(dst, `,"subscriptions":[`...)
	for i := range n.Subscriptions {
		m := &n.Subscriptions[i]
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, `{"id":`...)
		dst = AppendText(dst, m.ID)
		if m.State != nil {
			dst = append(dst, `,"state":`...)
			dst = strconv.AppendBool(dst, *m.State)
		}
		if m.Values != nil {
			dst = append(dst, `,"values":`...)
			dst = append(dst, as(m.Values, exact)...)
		}
		dst = append(dst, '}')
	}
	dst = append(dst, ']')
	if n.Messages != nil {
		dst = append(dst, `,"messages":"`...)
		dst = append(base64.StdEncoding.AppendEncode(dst, n.Messages), '"')
	}
	return dst
}

// AppendFloat appends a number, null if it is not finite.
func AppendFloat(dst []byte, f float64) []byte { return AppendFloatBits(dst, f, 64) }

// AppendFloatBits writes the shortest number that reads back the same, null if
// it is not finite.
func AppendFloatBits(dst []byte, f float64, bits int) []byte {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return append(dst, "null"...)
	}
	format := byte('f')
	if abs := math.Abs(f); abs != 0 && (abs < 1e-6 || abs >= 1e21) {
		format = 'e'
	}
	return strconv.AppendFloat(dst, f, format, -1, bits)
}

const hexDigits = "0123456789abcdef"

// AppendText appends a JSON string. What is not UTF-8 becomes U+FFFD.
func AppendText(dst []byte, s string) []byte {
	dst = append(dst, '"')
	from := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c >= utf8.RuneSelf {
			r, size := utf8.DecodeRuneInString(s[i:])
			// U+2028 and U+2029 end lines in old JavaScript.
			if r == utf8.RuneError && size == 1 || r == '\u2028' || r == '\u2029' {
				dst = append(dst, s[from:i]...)
				dst = append(dst, '\\', 'u')
				for shift := 12; shift >= 0; shift -= 4 {
					dst = append(dst, hexDigits[r>>shift&15])
				}
				from = i + size
			}
			i += size
			continue
		}
		if c >= ' ' && c != '"' && c != '\\' {
			i++
			continue
		}
		dst = append(dst, s[from:i]...)
		switch c {
		case '"', '\\':
			dst = append(dst, '\\', c)
		case '\n':
			dst = append(dst, '\\', 'n')
		case '\t':
			dst = append(dst, '\\', 't')
		case '\r':
			dst = append(dst, '\\', 'r')
		default:
			dst = append(dst, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
		}
		i++
		from = i
	}
	dst = append(dst, s[from:]...)
	return append(dst, '"')
}
