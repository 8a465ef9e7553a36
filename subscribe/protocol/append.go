package protocol

import (
	"encoding/base64"
	"math"
	"strconv"
	"unicode/utf8"

	"callboard/subscribe/protocol/cbor"
)

// AppendNotify appends a notification in JSON: a head of its own and the
// reading's shared bytes. It allocates nothing if these are JSON.
func AppendNotify(dst []byte, n *Notify) []byte {
	return AppendNotifyTail(appendNotifyNumbers(dst, n), n)
}

// AppendNotifyHead appends it up to its reading, which comes last: what remains
// to be appended is that, in JSON, and a closing brace.
func AppendNotifyHead(dst []byte, n *Notify) []byte {
	dst = appendNotifyParts(appendNotifyNumbers(dst, n), n, false)
	return append(dst, `,"reading":`...)
}

// AppendNotifyTail appends what follows the numbers of a notification: all
// that is known before they are given.
func AppendNotifyTail(dst []byte, n *Notify) []byte {
	dst = appendNotifyParts(dst, n, false)
	if n.Reading != nil {
		dst = appendObject(append(dst, `,"reading":`...), n.Reading, false)
	}
	return append(dst, '}')
}

// AppendNotifyCBOR appends a notification in CBOR. It uses the room of text.
func AppendNotifyCBOR(dst []byte, n *Notify, text []byte) (_, used []byte) {
	text = append(appendNotifyParts(appendNotifyNumbers(text[:0], n), n, true), '}')
	dst = AppendCBOR(dst, text)
	if n.Reading != nil {
		dst = cbor.AppendText(dst[:len(dst)-1], "reading") // before the end of the map
		dst = append(AppendObjectCBOR(dst, n.Reading), cbor.Break)
	}
	return dst, text
}

func appendNotifyNumbers(dst []byte, n *Notify) []byte {
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

// appendNotifyParts appends what stands between the numbers and the reading: as
// JSON, or as text for Seal.
func appendNotifyParts(dst []byte, n *Notify, words bool) []byte {
	dst = append(dst, `,"robot":`...)
	dst = AppendText(dst, n.Robot)
	dst = append(dst, `,"interface":`...)
	dst = AppendText(dst, n.Interface)
	dst = append(dst, `,"index":`...)
	dst = strconv.AppendInt(dst, int64(n.Index), 10)
	dst = append(dst, `,"time":`...)
	if words {
		dst = AppendWord(dst, n.Time, 64)
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
			dst = appendObject(append(dst, `,"values":`...), m.Values, words)
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
