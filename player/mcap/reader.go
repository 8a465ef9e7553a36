package mcap

import (
	"bufio"
	"bytes"
	"callboard/player/problem"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"

	"github.com/klauspost/compress/zstd"
)

// ReaderConfig says what to read.
type ReaderConfig struct {
	R    io.Reader // required: the file from its beginning
	Name string    // in problems; "" is "mcap"
	// Attachment takes an attachment with its data, valid during the call; nil:
	// they are passed over. An error ends the reading.
	Attachment func(a *Attachment) error
	// Metadata takes a metadata record; nil: nobody does.
	Metadata func(m *Metadata) error
}

// Reader reads a file from its beginning, also one that is not finished. It
// holds a chunk at a time. It belongs to one goroutine.
type Reader struct {
	config   ReaderConfig
	in       *bufio.Reader
	at       int64 // bytes read
	known    known
	unpacker unpacker
	content  []byte  // of the record that is read
	chunk    records // of the chunk that is gone through
	message  Message
	crc      uint32 // of what was read
	done     bool
	began    int64 // of the record or chunk that the last message stands in
}

// NewReader makes a Reader and reads the file's first bytes.
func NewReader(c ReaderConfig) (*Reader, error) {
	if c.R == nil {
		return nil, errors.New("mcap: nothing to read, expected ReaderConfig.R")
	}
	if c.Name == "" {
		c.Name = "mcap"
	}
	r := &Reader{config: c, in: bufio.NewReaderSize(c.R, 64<<10), known: newKnown()}
	magic := make([]byte, len(Magic))
	if _, err := io.ReadFull(r.in, magic); err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return nil, fmt.Errorf("mcap: reading %s: %w", c.Name, err)
	}
	if string(magic) != Magic {
		return nil, &problem.Problem{Place: problem.Place{File: c.Name}, Binary: true, Message: fmt.Sprintf("the file begins with %q, expected %q", bytes.TrimRight(magic, "\x00"), Magic)}
	}
	r.note(magic)
	return r, nil
}

// note counts bytes that were read.
func (r *Reader) note(b []byte) {
	r.at += int64(len(b))
	r.crc = crc32.Update(r.crc, crc32.IEEETable, b)
}

// Close frees what unpacking holds; the last message is not valid any more.
func (r *Reader) Close() { r.unpacker.close() }

// Channel returns the channel of a message that Next gave.
func (r *Reader) Channel(id uint16) *Channel { return r.known.channels[id] }

// Schema returns a channel's schema, nil if it has none.
func (r *Reader) Schema(id uint16) *Schema { return r.known.schemas[id] }

// Offset is where the record or chunk begins that the last message stands in,
// and within where in the chunk's unpacked records; -1 if in none.
func (r *Reader) Offset() (offset, within int64) {
	if r.chunk.b == nil {
		return r.began, -1
	}
	return r.chunk.place, int64(r.chunk.from)
}

// Next returns the next message, valid until the next call. A *Problem reports
// a place without one: reading goes on after it. io.EOF is the end,
// anything else an error that ends the reading.
func (r *Reader) Next() (*Message, error) {
	for {
		if r.chunk.b != nil {
			ok, p := r.chunk.next(&r.message)
			switch {
			case p != nil:
				return nil, p
			case ok:
				return &r.message, nil
			}
			r.chunk.b = nil
		}
		if r.done {
			return nil, io.EOF
		}
		if given, err := r.record(); err != nil {
			return nil, err
		} else if given {
			return &r.message, nil
		}
	}
}

// record reads a record of the file; given reports whether it was a message.
func (r *Reader) record() (given bool, err error) {
	r.began = r.at
	var head [recordHead]byte
	before := r.crc
	if n, err := io.ReadFull(r.in, head[:]); err != nil {
		if n == 0 && err == io.EOF {
			return false, r.cut("the file has no end, as when its writer was stopped")
		}
		return false, r.failed(err)
	}
	r.note(head[:])
	op, n := Opcode(head[0]), binary.LittleEndian.Uint64(head[1:])
	switch op {
	case opMessage, opSchema, opChannel, opChunk, opDataEnd, opFooter:
	case opAttachment:
		if r.config.Attachment == nil {
			return false, r.skip(n)
		}
	case opMetadata:
		if r.config.Metadata == nil {
			return false, r.skip(n)
		}
	default:
		return false, r.skip(n)
	}
	if n > maxRecord {
		p := r.problem(fmt.Sprintf("a %s of %d bytes, expected at most %d", op, n, maxRecord))
		if err := r.skip(n); err != nil && !r.done {
			return false, err
		}
		return false, p
	}
	if err := r.read(n); err != nil {
		if op == opChunk && errors.Is(err, errCut) {
			return false, r.salvage()
		}
		return false, r.cutOr(err, op)
	}
	return r.take(op, before)
}

// errCut is the end of the file within a record.
var errCut = errors.New("the file ends")

func (r *Reader) cutOr(err error, op Opcode) error {
	if errors.Is(err, errCut) {
		return r.cut(fmt.Sprintf("the file ends within a %s, as when its writer was stopped", op))
	}
	return err
}

// failed reports an error of the input, which the end is within a record.
func (r *Reader) failed(err error) error {
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return r.cut("the file ends within a record, as when its writer was stopped")
	}
	return fmt.Errorf("mcap: reading %s at byte %d: %w", r.config.Name, r.at, err)
}

// cut ends the reading where the file does.
func (r *Reader) cut(message string) error {
	r.done = true
	p := r.problem(message)
	p.Warning, p.Ends = true, true // what came before is whole
	return p
}

func (r *Reader) problem(message string) *problem.Problem {
	return &problem.Problem{Place: problem.Place{File: r.config.Name}, Binary: true, Offset: r.began, Message: message}
}

// skip passes over n bytes.
func (r *Reader) skip(n uint64) error {
	for n > 0 {
		part, err := r.in.Peek(int(min(n, 64<<10)))
		r.note(part)
		r.in.Discard(len(part))
		n -= uint64(len(part))
		if err != nil && n > 0 {
			return r.failed(err)
		}
	}
	return nil
}

// read reads n bytes into content, which grows as they come.
func (r *Reader) read(n uint64) error {
	r.content = r.content[:0]
	for uint64(len(r.content)) < n {
		if len(r.content) == cap(r.content) {
			grown := make([]byte, len(r.content), min(int(n), max(64<<10, 2*cap(r.content))))
			copy(grown, r.content)
			r.content = grown
		}
		to := min(int(n), cap(r.content))
		got, err := io.ReadFull(r.in, r.content[len(r.content):to])
		from := len(r.content)
		r.content = r.content[:from+got]
		r.note(r.content[from:])
		switch {
		case err == io.EOF || err == io.ErrUnexpectedEOF:
			return errCut
		case err != nil:
			return fmt.Errorf("mcap: reading %s at byte %d: %w", r.config.Name, r.at, err)
		}
	}
	return nil
}

// take takes the record in content; crc is that of what came before it.
func (r *Reader) take(op Opcode, crc uint32) (given bool, err error) {
	c := cursor{b: r.content}
	switch op {
	case opMessage:
		if c.message(&r.message); c.fault != "" {
			return false, r.problem("in a message " + c.fault)
		}
		if r.known.channels[r.message.ChannelID] == nil {
			return false, r.problem(fmt.Sprintf("a message of channel %d, of which the file has not told", r.message.ChannelID))
		}
		return true, nil
	case opSchema, opChannel:
		if err := know(&r.known, op, &c); err != nil {
			return false, r.problem(err.Error())
		}
	case opChunk:
		return false, r.open(&c)
	case opAttachment:
		a, fault := attachmentOf(r.content)
		if fault != "" {
			return false, r.problem("in an attachment " + fault)
		}
		return false, r.config.Attachment(a)
	case opMetadata:
		m := c.metadata()
		if c.fault != "" {
			return false, r.problem("in a metadata record " + c.fault)
		}
		return false, r.config.Metadata(m)
	case opDataEnd:
		if want := c.u32("its CRC"); c.fault == "" && want != 0 && want != crc {
			return false, r.problem(fmt.Sprintf("the CRC of all data is %08x, expected %08x", crc, want))
		}
	case opFooter:
		return false, r.end()
	}
	return false, nil
}

// open unpacks a chunk.
func (r *Reader) open(c *cursor) error {
	p := c.packed()
	if c.fault != "" {
		return r.problem("in a chunk " + c.fault)
	}
	b, err := r.unpacker.unpack(&p)
	if err != nil {
		return r.problem(err.Error())
	}
	r.chunk = records{known: &r.known, name: r.config.Name, place: r.began, b: b}
	return nil
}

// salvage takes what is there of a chunk within which the file ends.
func (r *Reader) salvage() error {
	end := r.cut("the file ends within a chunk, as when its writer was stopped")
	c := cursor{b: r.content}
	p := packed{start: c.u64("its start"), end: c.u64("its end"), size: c.u64("its size"), crc: c.u32("its CRC"), compression: c.text("its compression")}
	c.u64("its records")
	if c.fault != "" {
		return end
	}
	b := r.content[c.at:]
	if p.compression == Zstd {
		z, err := zstd.NewReader(bytes.NewReader(b), zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(64<<20), zstd.WithDecoderLowmem(true))
		if err != nil {
			return end
		}
		defer z.Close()
		b, _ = io.ReadAll(io.LimitReader(z, min(int64(min(p.size, maxChunk)), max(freeChunk, maxRatio*int64(len(b))))))
	} else if p.compression != "" && p.compression != None {
		return end
	}
	r.chunk = records{known: &r.known, name: r.config.Name, place: r.began, b: b, cut: true}
	return end
}

// end looks at what stands behind the footer.
func (r *Reader) end() error {
	r.done = true
	magic := make([]byte, len(Magic))
	if n, err := io.ReadFull(r.in, magic); err != nil || string(magic) != Magic {
		if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
			return r.failed(err)
		}
		p := r.problem(fmt.Sprintf("behind the footer is %q, expected %q", magic[:n], Magic))
		p.Warning, p.Ends = err != nil, err != nil
		return p
	}
	return nil
}

// attachmentOf reads an attachment's content and checks its CRC.
func attachmentOf(b []byte) (*Attachment, string) {
	c := cursor{b: b}
	x := c.attachment()
	data := c.take(x.DataSize, "its data")
	from := c.at
	crc := c.u32("its CRC")
	if c.fault == "" && crc != 0 && crc != crc32.ChecksumIEEE(b[:from]) {
		c.fail("the CRC is %08x, expected %08x", crc32.ChecksumIEEE(b[:from]), crc)
	}
	return &Attachment{LogTime: x.LogTime, CreateTime: x.CreateTime, Name: x.Name, MediaType: x.MediaType, Data: data}, c.fault
}
