package protocol

import "encoding/binary"

// maxDepth is how deep JSON may be, as encoding/json has it.
const maxDepth = 10_000

// Valid reports what json.Valid does, several times as fast: texts are passed over
// eight bytes at a time, and most of what comes is texts and numbers.
func Valid(text []byte) bool {
	end, ok := validValue(text, skipBlanks(text, 0), 0)
	return ok && skipBlanks(text, end) == len(text)
}

// validValue returns where the value ends that begins at i, if it is one.
func validValue(text []byte, i, depth int) (end int, ok bool) {
	if i >= len(text) || depth > maxDepth {
		return i, false
	}
	switch c := text[i]; {
	case c == '"':
		return validText(text, i+1)
	case c == '{':
		return validMembers(text, skipBlanks(text, i+1), depth+1)
	case c == '[':
		return validElements(text, skipBlanks(text, i+1), depth+1)
	case c == '-' || isDigit(c):
		return validNumber(text, i)
	}
	for _, word := range [...]string{"true", "false", "null"} {
		if end := i + len(word); end <= len(text) && string(text[i:end]) == word {
			return end, true
		}
	}
	return i, false
}

func validMembers(text []byte, i, depth int) (end int, ok bool) {
	if i < len(text) && text[i] == '}' {
		return i + 1, depth <= maxDepth
	}
	for i < len(text) && text[i] == '"' {
		if i, ok = validText(text, i+1); !ok {
			return i, false
		}
		if i = skipBlanks(text, i); i >= len(text) || text[i] != ':' {
			return i, false
		}
		if i, ok = validValue(text, skipBlanks(text, i+1), depth); !ok {
			return i, false
		}
		if i = skipBlanks(text, i); i >= len(text) || text[i] != ',' {
			return i + 1, i < len(text) && text[i] == '}'
		}
		i = skipBlanks(text, i+1)
	}
	return i, false
}

func validElements(text []byte, i, depth int) (end int, ok bool) {
	if i < len(text) && text[i] == ']' {
		return i + 1, depth <= maxDepth
	}
	for {
		if i, ok = validValue(text, i, depth); !ok {
			return i, false
		}
		if i = skipBlanks(text, i); i >= len(text) || text[i] != ',' {
			return i + 1, i < len(text) && text[i] == ']'
		}
		i = skipBlanks(text, i+1)
	}
}

// validText returns the end of the text whose opening quote is before i.
func validText(text []byte, i int) (end int, ok bool) {
	for {
		if i = skipPlain(text, i); i >= len(text) {
			return i, false
		}
		switch text[i] {
		case '"':
			return i + 1, true
		case '\\':
			if i+1 >= len(text) {
				return i, false
			}
			switch text[i+1] {
			case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
				i += 2
			case 'u':
				if i+6 > len(text) || !isHex(text[i+2]) || !isHex(text[i+3]) || !isHex(text[i+4]) || !isHex(text[i+5]) {
					return i, false
				}
				i += 6
			default:
				return i, false
			}
		default: // a control character
			return i, false
		}
	}
}

// skipPlain returns where the next quote, backslash or control character is.
func skipPlain(text []byte, i int) int {
	const (
		ones  = 0x0101010101010101
		highs = 0x8080808080808080
	)
	for ; i+8 <= len(text); i += 8 {
		w := binary.LittleEndian.Uint64(text[i:])
		quote, slash := w^ones*'"', w^ones*'\\'
		if ((w-ones*' ')&^w|(quote-ones)&^quote|(slash-ones)&^slash)&highs != 0 {
			break
		}
	}
	for i < len(text) && text[i] >= ' ' && text[i] != '"' && text[i] != '\\' {
		i++
	}
	return i
}

func validNumber(text []byte, i int) (end int, ok bool) {
	if text[i] == '-' {
		i++
	}
	switch {
	case i < len(text) && text[i] == '0':
		i++
	default:
		if i, ok = digits(text, i); !ok {
			return i, false
		}
	}
	if i < len(text) && text[i] == '.' {
		if i, ok = digits(text, i+1); !ok {
			return i, false
		}
	}
	if i < len(text) && (text[i] == 'e' || text[i] == 'E') {
		if i++; i < len(text) && (text[i] == '+' || text[i] == '-') {
			i++
		}
		return digits(text, i)
	}
	return i, true
}

// digits returns the end of one or more digits.
func digits(text []byte, i int) (end int, ok bool) {
	from := i
	for i < len(text) && isDigit(text[i]) {
		i++
	}
	return i, i > from
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func isHex(c byte) bool { return isDigit(c) || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F' }
