package playerlog

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/gzip"

	"callboard/player"
	"callboard/player/problem"
)

// Limits of Player's own reader.
const (
	MaxTokens = 4096    // in a line, the prefix's 7 included; more corrupt its memory
	MaxLine   = 8388606 // bytes of a line
)

// ReaderConfig says what to read.
type ReaderConfig struct {
	R    io.Reader // required: the log's text, also compressed with gzip
	Name string    // in problems; "" is "log"
	// Want reports whether a message's payload is to be read, by its header; nil:
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
	parser
	in    *bufio.Reader
	buf   []byte // of a line that is longer than in's
	line  Line
	reuse map[uint32]any // payloads by layout
	next  int64          // byte of the line after the one that is read now
	torn  uint8          // the input is compressed and ends early: 1, and 2 once that is told
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
	Skipped bool             // ReaderConfig.Want did not want the payload
	Odd     *problem.Problem // what was tolerated, nil: nothing
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
	r := &Reader{parser: parser{name: c.Name, want: c.Want, remark: c.Remark}, in: bufio.NewReaderSize(c.R, 64<<10), reuse: map[uint32]any{}}
	r.payloadOf = func(k uint32, l layout) any {
		p := r.reuse[k]
		if p == nil {
			p = l.make()
			r.reuse[k] = p
		}
		return p
	}
	if magic, err := r.in.Peek(2); err == nil && magic[0] == 0x1f && magic[1] == 0x8b {
		z, err := gzip.NewReader(r.in)
		if err != nil {
			return nil, fmt.Errorf("playerlog: reading %s: %w", c.Name, err)
		}
		r.in = bufio.NewReaderSize(z, 64<<10)
	}
	return r, nil
}

// Version returns the file version and the version of the Player that wrote the
// log, as far as its head has told them.
func (r *Reader) Version() (file, player string) { return r.version, r.player }

// Number is that of the line that was read last, from 1.
func (r *Reader) Number() int { return max(1, r.number) }

// Next returns the next message. A *problem.Problem reports a line that is none:
// reading goes on after it. io.EOF is the end, anything else an error that
// ends the reading. A compressed log that ends early, as when its writer was
// killed, ends where it does, with a warning.
func (r *Reader) Next() (*Line, error) {
	for {
		text, whole, err := r.nextLine()
		if err != nil {
			return nil, err
		}
		r.text = textOf(text)
		r.line = Line{}
		message, err := r.parse(&r.line)
		if p, ok := err.(*problem.Problem); ok && !whole {
			tear(p)
		}
		switch {
		case err != nil:
			return nil, err
		case message:
			return &r.line, nil
		}
	}
}

func textOf(line []byte) text { return text{in: line} }

// nextLine returns the bytes of the next line without its end; whole reports that
// it had one.
func (r *Reader) nextLine() (line []byte, whole bool, err error) {
	r.number++
	r.offset = r.next
	if r.torn > 0 {
		return nil, false, r.end()
	}
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
	if errors.Is(err, io.ErrUnexpectedEOF) {
		r.torn, err = 1, io.EOF
	}
	if err != nil && err != io.EOF {
		return nil, false, fmt.Errorf("playerlog: reading %s after line %d: %w", r.name, r.number-1, err)
	}
	if long || len(r.buf)+len(part) > MaxLine {
		return nil, false, r.problem(0, false, fmt.Sprintf("the line has more than %d bytes", MaxLine))
	}
	r.buf = append(r.buf, part...)
	if err == io.EOF && len(r.buf) == 0 {
		return nil, false, r.end()
	}
	return trimEnd(r.buf), err == nil, nil
}

// end is how the reading ends.
func (r *Reader) end() error {
	if r.torn != 1 {
		return io.EOF
	}
	r.torn = 2
	r.text = text{}
	return r.tornHere()
}

// tear makes a problem that of a line that the log ends within.
func tear(p *problem.Problem) {
	p.Warning = true
	p.Message += "; the log ends within this line, as when its writer was stopped"
}

// tornHere is the problem of a compressed log whose end is missing.
func (r *parser) tornHere() *problem.Problem {
	p := r.problem(0, true, "the compressed log ends early, as when its writer was stopped; expected its checksum")
	p.Ends = true
	return p
}

func trimEnd(line []byte) []byte {
	return bytes.TrimSuffix(bytes.TrimSuffix(line, []byte("\n")), []byte("\r"))
}
