package push

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// The WebSocket library takes permessage-deflate whatever its parameters are, and
// answers none of them. So the offers are read here (RFC 7692, 7.1): what the
// library sees is an offer that it can take, or none.

const (
	extensionsHeader = "Sec-Websocket-Extensions"
	deflateExtension = "permessage-deflate"
	deflateWindow    = 15 // bits of the window that messages are compressed with
)

// extension is an offer: a name and its parameters.
type extension struct {
	name   string
	params []param
}

type param struct {
	name, value string
	given       bool // it has a value
}

// chooseDeflate leaves in a handshake's header the first offer of
// permessage-deflate that can be taken, without parameters, or none. It returns
// what the answer must say beside what the library does.
func chooseDeflate(h http.Header) (answer string) {
	offers := parseExtensions(strings.Join(h.Values(extensionsHeader), ","))
	h.Del(extensionsHeader)
	for _, offer := range offers {
		if more, ok := offer.takeDeflate(); ok {
			h.Set(extensionsHeader, deflateExtension)
			return more
		}
	}
	return ""
}

// takeDeflate reports whether the offer is one of permessage-deflate that can be
// taken: no parameter is unknown, wrong or there twice, and the window that the
// client has for what comes is as large as the one used. Any window of the
// client's own will do.
func (e *extension) takeDeflate() (answer string, ok bool) {
	if e.name != deflateExtension {
		return "", false
	}
	for i, p := range e.params {
		if slices.ContainsFunc(e.params[:i], func(q param) bool { return q.name == p.name }) {
			return "", false
		}
		switch p.name {
		case "server_no_context_takeover", "client_no_context_takeover":
			if p.given {
				return "", false
			}
		case "client_max_window_bits":
			if _, valid := windowBits(p.value); p.given && !valid {
				return "", false
			}
		case "server_max_window_bits":
			if bits, valid := windowBits(p.value); !valid || bits < deflateWindow {
				return "", false
			}
			answer = "; server_max_window_bits=" + strconv.Itoa(deflateWindow)
		default:
			return "", false
		}
	}
	return answer, true
}

// windowBits reads 8 to 15, without a leading zero.
func windowBits(text string) (bits int, valid bool) {
	bits, err := strconv.Atoi(text)
	return bits, err == nil && bits >= 8 && bits <= 15 && text == strconv.Itoa(bits)
}

// parseExtensions reads a Sec-WebSocket-Extensions header (RFC 6455, 9.1). What
// comes after a fault in it is left out.
func parseExtensions(header string) []extension {
	var all []extension
	s := scanner{rest: header}
	for s.rest != "" && !s.wrong {
		if s.take(',') { // empty elements are allowed
			continue
		}
		e := extension{name: strings.ToLower(s.token())}
		for s.take(';') && !s.wrong {
			p := param{name: strings.ToLower(s.token())}
			if p.given = s.take('='); p.given {
				p.value = s.value()
			}
			e.params = append(e.params, p)
		}
		if s.wrong || s.rest != "" && s.rest[0] != ',' {
			break
		}
		all = append(all, e)
	}
	return all
}

// scanner reads the parts of a header, and the blanks behind them.
type scanner struct {
	rest  string
	wrong bool
}

func (s *scanner) blanks() { s.rest = strings.TrimLeft(s.rest, " \t") }

// take passes a separator if it is next.
func (s *scanner) take(c byte) bool {
	s.blanks()
	if s.rest == "" || s.rest[0] != c {
		return false
	}
	s.rest = s.rest[1:]
	s.blanks()
	return true
}

func (s *scanner) token() string {
	end := strings.IndexFunc(s.rest, func(r rune) bool {
		return r <= ' ' || r >= 0x7f || strings.ContainsRune(`()<>@,;:\"/[]?={}`, r)
	})
	if end < 0 {
		end = len(s.rest)
	}
	word := s.rest[:end]
	s.rest = s.rest[end:]
	s.wrong = s.wrong || word == ""
	s.blanks()
	return word
}

// value reads a token, or a quoted one.
func (s *scanner) value() string {
	if !strings.HasPrefix(s.rest, `"`) {
		return s.token()
	}
	var word strings.Builder
	for i := 1; i < len(s.rest); i++ {
		switch c := s.rest[i]; c {
		case '"':
			s.rest = s.rest[i+1:]
			s.blanks()
			return word.String()
		case '\\':
			if i++; i < len(s.rest) {
				word.WriteByte(s.rest[i])
			}
		default:
			word.WriteByte(c)
		}
	}
	s.wrong = true
	return ""
}
