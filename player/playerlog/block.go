package playerlog

import (
	"bytes"
	"fmt"

	"callboard/player"
	"callboard/player/iface"
	"callboard/player/problem"
)

// Choice is what is to be made of the lines of an interface.
type Choice uint8

// Choices.
const (
	Whole      Choice = iota // the message
	HeaderOnly               // the message without its payload, unless that tells a device's geometry
	Nothing                  // not even faults are found
)

// Block is some lines of a log, read at once. What Parse returns is valid until
// the block is filled again, which uses its memory again.
type Block struct {
	parser
	text     []byte
	lines    int   // in it
	first    int   // number of its first line
	start    int64 // byte at which it begins
	passed   int64 // bytes of a line that is too long, which it does not hold
	messages []Line
	remarks  []Remark
	problems []*problem.Problem
	shelves  map[uint32]*shelf
	whole    bool // the payload of the line that is read now is wanted
}

// Remark is a line of metadata, what follows its ##.
type Remark struct {
	Number int // of the line
	Text   []byte
	column int
}

// shelf has the structs for messages of one kind.
type shelf struct {
	all  []any
	used int
}

func (b *Block) reset(name string) {
	b.name, b.number, b.lines, b.first = name, 0, 0, 1
	b.start, b.offset, b.passed = 0, 0, 0
	b.messages, b.remarks, b.problems = b.messages[:0], b.remarks[:0], b.problems[:0]
	b.version, b.parser.player = "", ""
	for _, s := range b.shelves {
		s.used = 0
	}
	if b.shelves == nil {
		b.shelves = map[uint32]*shelf{}
		b.payloadOf = b.take
		b.want = func(h *player.Header) bool {
			return b.whole || h.Type != player.Data || iface.Describes(h.Interf, h.Subtype)
		}
		b.remark = func(text []byte) error {
			column := cap(b.parser.text.in) - cap(text) + 1
			b.remarks = append(b.remarks, Remark{b.number, text, column})
			return nil
		}
	}
}

// take returns a struct for a message.
func (b *Block) take(kind uint32, l layout) any {
	s := b.shelves[kind]
	if s == nil {
		s = &shelf{}
		b.shelves[kind] = s
	}
	if s.used == len(s.all) {
		s.all = append(s.all, l.make())
	}
	s.used++
	return s.all[s.used-1]
}

// Size is the bytes of its text.
func (b *Block) Size() int { return len(b.text) }

// Messages are what Parse found, in order. Lines and bytes are counted from
// the block's beginning until Place.
func (b *Block) Messages() []Line { return b.messages }

// Remarks are the lines of metadata, in order.
func (b *Block) Remarks() []Remark { return b.remarks }

// Problems are the faults that Parse found, in order.
func (b *Block) Problems() []*problem.Problem { return b.problems }

// Place says where in the log the block is: the number of its first line and
// the byte at which that begins. It returns where the next block is. That a
// remark is wrong is a Problem that Fault makes.
func (b *Block) Place(line int, start int64) (nextLine int, nextStart int64) {
	lines, bytes := line-b.first, start-b.start
	for _, p := range b.problems {
		p.Line += lines
	}
	for i := range b.messages {
		m := &b.messages[i]
		m.Number += lines
		m.Offset += bytes
		if m.Odd != nil {
			m.Odd.Line += lines
		}
	}
	for i := range b.remarks {
		b.remarks[i].Number += lines
	}
	b.first, b.start = line, start
	return line + b.lines, start + int64(len(b.text)) + b.passed
}

// Fault makes a Problem of a remark.
func (b *Block) Fault(r *Remark, message string) *problem.Problem {
	return &problem.Problem{Place: problem.Place{File: b.name, Line: r.Number, Column: r.column}, Message: message}
}

// tooLong notes that the line which was counted last is no line of a log.
func (b *Block) tooLong() {
	b.number, b.parser.text = b.lines, text{}
	b.problems = append(b.problems, b.problem(0, false, fmt.Sprintf("the line has more than %d bytes", MaxLine)))
}

// Parse reads the block's lines. choose says what to make of those of an
// interface, known by its number; nil wants all whole. It does not block, and
// blocks can be parsed at the same time.
func (b *Block) Parse(choose func(player.Interface) Choice) {
	chosen := choices{choose: choose}
	for rest := b.text; len(rest) > 0; {
		b.lines++
		b.number, b.offset = b.lines, int64(len(b.text)-len(rest))
		line, complete := rest, false
		if end := bytes.IndexByte(rest, '\n'); end >= 0 {
			line, complete = rest[:end+1], true
		}
		rest = rest[len(line):]
		if len(line) > MaxLine {
			b.tooLong()
			continue
		}
		choice := chosen.of(line)
		if choice == Nothing {
			continue
		}
		b.parser.text, b.whole = text{in: trimEnd(line)}, choice == Whole
		b.messages = append(b.messages, Line{})
		message, err := b.parse(&b.messages[len(b.messages)-1])
		if !message {
			b.messages = b.messages[:len(b.messages)-1]
		}
		if p, ok := err.(*problem.Problem); ok {
			if !complete {
				tear(p)
			}
			b.problems = append(b.problems, p)
		}
	}
}

// choices remember what was chosen for an interface, by its name: it is asked
// for each line.
type choices struct {
	choose func(player.Interface) Choice
	known  []choiceOf
}

type choiceOf struct {
	name   string
	choice Choice
}

// of returns the choice for a line. One that may be no message is wanted whole,
// so that it is told.
func (c *choices) of(line []byte) Choice {
	if c.choose == nil {
		return Whole
	}
	at := 0
	for range 3 {
		for at < len(line) && line[at] <= ' ' {
			at++
		}
		if at < len(line) && line[at] == '#' {
			return Whole
		}
		for at < len(line) && line[at] > ' ' {
			at++
		}
	}
	for at < len(line) && line[at] <= ' ' {
		at++
	}
	end := at
	for end < len(line) && line[end] > ' ' {
		end++
	}
	name := line[at:end]
	for i := range c.known {
		if c.known[i].name == string(name) {
			return c.known[i].choice
		}
	}
	code, ok := interfaces[string(name)]
	if !ok {
		return Whole
	}
	choice := c.choose(code)
	c.known = append(c.known, choiceOf{string(name), choice})
	return choice
}
