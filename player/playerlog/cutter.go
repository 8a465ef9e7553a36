package playerlog

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/gzip"
)

// BlockSize is how many bytes of a log a Block has about: few enough to stay
// in a processor's cache until they are read.
const BlockSize = 256 << 10

// Cutter cuts a log into blocks of whole lines, so that several can be read at
// the same time.
type Cutter struct {
	name string
	in   io.Reader
	rest []byte // what has been read of the next block
	end  error  // what ended the input
	torn bool   // the input is compressed and ends early
}

// NewCutter makes a Cutter. It reads as far as it needs to see whether the
// text is compressed.
func NewCutter(c ReaderConfig) (*Cutter, error) {
	if c.R == nil {
		return nil, errors.New("playerlog: nothing to cut, expected ReaderConfig.R")
	}
	if c.Name == "" {
		c.Name = "log"
	}
	k := &Cutter{name: c.Name, in: c.R, rest: make([]byte, 2, BlockSize)}
	n, err := io.ReadFull(c.R, k.rest)
	k.rest = k.rest[:n]
	switch {
	case err == io.EOF || errors.Is(err, io.ErrUnexpectedEOF):
		k.end = io.EOF
	case err != nil:
		return nil, fmt.Errorf("playerlog: reading %s: %w", c.Name, err)
	case k.rest[0] == 0x1f && k.rest[1] == 0x8b:
		z, err := gzip.NewReader(io.MultiReader(bytes.NewReader([]byte{0x1f, 0x8b}), c.R))
		if err != nil {
			return nil, fmt.Errorf("playerlog: reading %s: %w", c.Name, err)
		}
		k.in, k.rest = z, k.rest[:0]
	}
	return k, nil
}

// Next fills a block. io.EOF is the end, anything else an error that ends the
// reading. A compressed log that ends early, as when its writer was killed,
// ends where it does, with a warning.
func (c *Cutter) Next(b *Block) error {
	b.reset(c.name)
	if cap(b.text) > 8*BlockSize { // it had a long line
		b.text = nil
	}
	b.text = append(b.text[:0], c.rest...)
	c.rest = c.rest[:0]
	for {
		cut := -1
		if len(b.text) >= BlockSize || c.end != nil {
			cut = bytes.LastIndexByte(b.text, '\n')
		}
		switch {
		case c.end != nil && len(b.text) > 0:
			return nil
		case c.torn:
			c.torn = false
			b.number, b.parser.text = 1, text{}
			b.problems = append(b.problems, b.tornHere())
			return nil
		case c.end != nil:
			return c.end
		case cut >= 0:
			c.rest = append(c.rest, b.text[cut+1:]...)
			b.text = b.text[:cut+1]
			return nil
		case len(b.text) > MaxLine:
			return c.tooLong(b)
		}
		c.read(b)
	}
}

// read reads more into the block's text, twice as much each time.
func (c *Cutter) read(b *Block) {
	want := max(BlockSize, 2*len(b.text))
	if cap(b.text) < want {
		b.text = append(make([]byte, 0, want), b.text...)
	}
	n, err := io.ReadFull(c.in, b.text[len(b.text):want])
	b.text = b.text[:len(b.text)+n]
	switch {
	case err == nil:
	case n == 0 && err == io.EOF:
		c.end = io.EOF
	case errors.Is(err, io.ErrUnexpectedEOF):
		c.end, c.torn = io.EOF, c.tornAt()
	default:
		c.end = fmt.Errorf("playerlog: reading %s: %w", c.name, err)
	}
}

// tornAt reports whether compressed input ended within its text: then reading
// on fails again, and does not end.
func (c *Cutter) tornAt() bool {
	_, err := c.in.Read(make([]byte, 1))
	return err != io.EOF
}

// tooLong passes over the rest of a line that no log has.
func (c *Cutter) tooLong(b *Block) error {
	b.passed = int64(len(b.text))
	b.text = b.text[:0]
	b.lines++
	b.tooLong()
	part := make([]byte, BlockSize)
	for c.end == nil {
		n, err := c.in.Read(part)
		if i := bytes.IndexByte(part[:n], '\n'); i >= 0 {
			b.passed += int64(i + 1)
			c.rest = append(c.rest, part[i+1:n]...)
			return nil
		}
		b.passed += int64(n)
		if err == io.EOF {
			c.end = io.EOF
		} else if err != nil {
			c.end = fmt.Errorf("playerlog: reading %s: %w", c.name, err)
		}
	}
	return nil
}
