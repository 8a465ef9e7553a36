package playerlog

import (
	"bytes"
	"fmt"
	"unicode/utf8"

	"callboard/player"
	"callboard/player/problem"
)

// prefixTokens is the number of tokens before the payload: time, host, robot,
// interface, index, type, subtype.
const prefixTokens = 7

// parser reads lines, one after the other.
type parser struct {
	name    string // in problems
	number  int    // of the line, from 1
	text    text   // the line
	offset  int64  // of the line in the text
	version string
	player  string
	want    func(*player.Header) bool
	remark  func([]byte) error
	// payloadOf returns the struct that a message of a kind is read into.
	payloadOf func(kind uint32, l layout) any
}

// problem makes a Problem of the line that is read now; at is a byte of it.
func (r *parser) problem(at int, warning bool, message string) *problem.Problem {
	column := utf8.RuneCount(r.text.in[:min(at, len(r.text.in))]) + 1
	return &problem.Problem{Place: problem.Place{File: r.name, Line: r.number, Column: column}, Warning: warning, Message: message}
}

// parse reads the line that is set into line; it reports whether the line is a
// message, and no comment.
func (r *parser) parse(line *Line) (message bool, err error) {
	l := &r.text
	first, at := l.token()
	if len(first) > 0 && first[0] == '#' && (len(first) == 1 || string(first) == "##") {
		return false, r.head(first)
	}
	if len(first) == 0 {
		return false, r.problem(0, true, "the line is empty; expected a message: time host robot interface index type subtype …")
	}
	l.at = at
	h, err := r.prefix()
	if err != nil {
		return false, err
	}
	line.Number, line.Offset, line.Header = r.number, r.offset, h
	if r.want != nil && !r.want(&line.Header) {
		line.Skipped = true
		return true, nil
	}
	r.payload(line)
	if l.bad != "" {
		return false, r.problem(l.bady, false, fmt.Sprintf("%s, in a %s", l.bad, h))
	}
	if l.odd != "" {
		line.Odd = r.problem(l.oddy, true, l.odd)
	}
	if prefixTokens+l.read > MaxTokens {
		line.Odd = r.problem(0, false, fmt.Sprintf("the line has %d tokens; expected at most %d: Player's reader would corrupt its memory",
			prefixTokens+l.read, MaxTokens))
	}
	return true, nil
}

// head reads a line of the head: the fourth of exactly four tokens may be a
// version.
func (r *parser) head(mark []byte) error {
	if len(mark) != 2 {
		return nil
	}
	if r.remark != nil {
		at := r.text.at
		if err := r.remark(bytes.TrimLeft(r.text.in[at:], " \t")); err != nil {
			return r.problem(at+1, false, err.Error())
		}
	}
	if r.text.left() != 3 {
		return nil
	}
	what, _ := r.text.token()
	_, _ = r.text.token()
	version, _ := r.text.token()
	switch string(what) {
	case "File":
		r.version = string(version)
	case "Player":
		r.player = string(version)
	}
	return nil
}

// prefix reads what stands before the payload.
func (r *parser) prefix() (h player.Header, err error) {
	l := &r.text
	l.float(&h.Timestamp, form{})
	if l.bad == "" && !(h.Timestamp > -1e15 && h.Timestamp < 1e15) {
		l.fail(0, "time %v; expected seconds", h.Timestamp)
	}
	integer(l, &h.Host, form{})
	integer(l, &h.Robot, form{})
	name, at, _ := l.value("the name of an interface")
	interf, known := interfaces[string(name)]
	h.Interf = interf
	integer(l, &h.Index, form{})
	typ := uint8(0)
	integer(l, &typ, form{})
	h.Type = player.Type(typ)
	integer(l, &h.Subtype, form{})
	if l.bad != "" {
		return h, r.problem(l.bady, false, l.bad+"; a line is time host robot interface index type subtype …")
	}
	if !known {
		return h, r.problem(at, true, fmt.Sprintf("interface %q is not known; expected one of Player's", short(name)))
	}
	l.read = 0
	return h, nil
}

// payload reads what follows the prefix into a struct of its own for each kind
// of message.
func (r *parser) payload(line *Line) {
	l := &r.text
	from := l.at
	if token, _ := l.token(); len(token) == 0 {
		l.tolerate(from, "a %s without payload, as Player writes what it cannot format", line.Header)
		return
	}
	l.at = from
	k := key(line.Header.Interf, line.Header.Type, line.Header.Subtype)
	layout, ok := layouts[k]
	if !ok {
		l.tolerate(from, "no log format is known for a %s", line.Header)
		l.read = l.left()
		return
	}
	p := r.payloadOf(k, layout)
	layout.do(l, p)
	if l.bad != "" {
		return
	}
	from = l.at
	if token, at := l.token(); len(token) > 0 {
		l.at = from
		n := l.left()
		l.read += n
		l.tolerate(at, "%d values more than a %s has", n, line.Header)
	}
	line.Payload = p
}
