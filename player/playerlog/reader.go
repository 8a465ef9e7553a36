package playerlog

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"

	"callboard/player"
)

// Limits of Player's own reader.
const (
	MaxTokens = 4096    // in a line, the prefix's 7 included; more corrupt its memory
	MaxLine   = 8388606 // bytes of a line
)

// prefixTokens is the number of tokens before the payload: time, host, robot,
// interface, index, type, subtype.
const prefixTokens = 7

// ReaderConfig says what to read.
type ReaderConfig struct {
	R    io.Reader // required: the log's text, also compressed with gzip
	Name string    // in problems; "" is "log"
	// Want tells whether a message's payload is to be read, by its header; nil:
	// all are. What is not wanted comes as a Line with Skipped set, and costs
	// little.
	Want func(h *player.Header) bool
	// Remark takes what follows the ## of a line of metadata, which Player's
	// reader ignores; nil: nobody does. The bytes are valid during the call. An
	// error comes from Next as a Problem of that line.
	Remark func(text []byte) error
}

// Reader reads a log line by line, with memory for the longest line only.
type Reader struct {
	name    string
	in      *bufio.Reader
	number  int
	buf     []byte // of a line that is longer than in's
	line    Line
	text    text
	reuse   map[uint32]any // payloads by layout
	version string
	player  string
	want    func(*player.Header) bool
	remark  func([]byte) error
	offset  int64 // of the line that is read now
	next    int64 // of the one after it
}

// Line is a message that a log holds. It is valid until the next call of Next.
type Line struct {
	Number int           // from 1
	Offset int64         // of its first byte in the text, unpacked
	Header player.Header // Timestamp in s; Robot is the recording server's port; Type is Data or Ack
	// Payload is a pointer to the message's struct, or nil: Player writes lines
	// without payload for messages that it cannot format, and a log may hold
	// messages that are not known here.
	Payload any
	Skipped bool     // ReaderConfig.Want did not want the payload
	Odd     *Problem // what was tolerated, nil: nothing
}

// NewReader makes a Reader. It reads as far as it needs to see whether the
// text is compressed.
func NewReader(c ReaderConfig) (*Reader, error) {
	if c.R == nil {
		return nil, errors.New("playerlog: nothing to read, expected ReaderConfig.R")
	}
	if c.Name == "" {
		c.Name = "log"
	}
	r := &Reader{name: c.Name, in: bufio.NewReaderSize(c.R, 64<<10), reuse: map[uint32]any{}, want: c.Want, remark: c.Remark}
	if magic, err := r.in.Peek(2); err == nil && magic[0] == 0x1f && magic[1] == 0x8b {
		z, err := gzip.NewReader(r.in)
		if err != nil {
			return nil, fmt.Errorf("playerlog: reading %s: %w", c.Name, err)
		}
		r.in = bufio.NewReaderSize(z, 64<<10)
	}
	return r, nil
}

// Version gives the file version and the version of the Player that wrote the
// log, as far as its head has told them.
func (r *Reader) Version() (file, player string) { return r.version, r.player }

// Next gives the next message. A *Problem tells of a line that is none:
// reading goes on after it. io.EOF is the end, anything else an error that
// ends the reading.
func (r *Reader) Next() (*Line, error) {
	for {
		text, whole, err := r.nextLine()
		if err != nil {
			return nil, err
		}
		r.text = textOf(text)
		line, err := r.parse()
		if err == nil && line == nil {
			continue // a comment
		}
		if p, ok := err.(*Problem); ok && !whole {
			p.Severity = Warning
			p.Message += "; the log ends within this line, as when its writer was stopped"
		}
		return line, err
	}
}

func textOf(line []byte) text { return text{in: line} }

// nextLine gives the bytes of the next line without its end; whole tells that
// it had one.
func (r *Reader) nextLine() (line []byte, whole bool, err error) {
	r.number++
	r.offset = r.next
	part, err := r.in.ReadSlice('\n')
	r.next += int64(len(part))
	if err == nil {
		return trimEnd(part), true, nil
	}
	r.buf = r.buf[:0]
	long := false
	for errors.Is(err, bufio.ErrBufferFull) {
		if len(r.buf)+len(part) > MaxLine {
			long = true
		} else {
			r.buf = append(r.buf, part...)
		}
		part, err = r.in.ReadSlice('\n')
		r.next += int64(len(part))
	}
	if err != nil && err != io.EOF {
		return nil, false, fmt.Errorf("playerlog: reading %s after line %d: %w", r.name, r.number-1, err)
	}
	if long || len(r.buf)+len(part) > MaxLine {
		return nil, false, r.problem(0, Error, fmt.Sprintf("the line has more than %d bytes", MaxLine))
	}
	r.buf = append(r.buf, part...)
	if err == io.EOF && len(r.buf) == 0 {
		return nil, false, io.EOF
	}
	return trimEnd(r.buf), err == nil, nil
}

func trimEnd(line []byte) []byte {
	return bytes.TrimSuffix(bytes.TrimSuffix(line, []byte("\n")), []byte("\r"))
}

// problem makes a Problem of the line that is read now; at is a byte of it.
func (r *Reader) problem(at int, s Severity, message string) *Problem {
	column := utf8.RuneCount(r.text.in[:min(at, len(r.text.in))]) + 1
	return &Problem{File: r.name, Line: r.number, Column: column, Severity: s, Message: message}
}

// parse reads the line; a comment gives neither line nor error.
func (r *Reader) parse() (*Line, error) {
	l := &r.text
	first, at := l.token()
	if len(first) > 0 && first[0] == '#' && (len(first) == 1 || string(first) == "##") {
		return nil, r.head(first)
	}
	if len(first) == 0 {
		return nil, r.problem(0, Warning, "the line is empty; expected a message: time host robot interface index type subtype …")
	}
	l.at = at
	h, err := r.prefix()
	if err != nil {
		return nil, err
	}
	r.line = Line{Number: r.number, Offset: r.offset, Header: h}
	if r.want != nil && !r.want(&r.line.Header) {
		r.line.Skipped = true
		return &r.line, nil
	}
	r.payload(&r.line)
	if l.bad != "" {
		return nil, r.problem(l.bady, Error, fmt.Sprintf("%s, in a %s", l.bad, h))
	}
	if l.odd != "" {
		r.line.Odd = r.problem(l.oddy, Warning, l.odd)
	}
	if prefixTokens+l.read > MaxTokens {
		r.line.Odd = r.problem(0, Error, fmt.Sprintf("the line has %d tokens; expected at most %d: Player's reader would corrupt its memory",
			prefixTokens+l.read, MaxTokens))
	}
	return &r.line, nil
}

// head reads a line of the head: the fourth of exactly four tokens may be a
// version.
func (r *Reader) head(mark []byte) error {
	if len(mark) != 2 {
		return nil
	}
	if r.remark != nil {
		at := r.text.at
		if err := r.remark(bytes.TrimLeft(r.text.in[at:], " \t")); err != nil {
			return r.problem(at+1, Error, err.Error())
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
func (r *Reader) prefix() (h player.Header, err error) {
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
		return h, r.problem(l.bady, Error, l.bad+"; a line is time host robot interface index type subtype …")
	}
	if !known {
		return h, r.problem(at, Warning, fmt.Sprintf("interface %q is not known; expected one of Player's", short(name)))
	}
	l.read = 0
	return h, nil
}

// payload reads what follows the prefix into a struct of its own for each kind
// of message.
func (r *Reader) payload(line *Line) {
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
	p := r.reuse[k]
	if p == nil {
		p = layout.make()
		r.reuse[k] = p
	}
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
