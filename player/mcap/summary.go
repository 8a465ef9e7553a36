package mcap

import (
	"callboard/player/problem"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"slices"
)

// ErrNoSummary is the error for a file without index: one that is not
// finished, or whose writer made none. Reader reads it.
var ErrNoSummary = errors.New("the file has no index")

// Summary is what stands behind the data of a finished file.
type Summary struct {
	Statistics  *Statistics // nil: none
	Chunks      []ChunkIndex
	Attachments []AttachmentIndex
	Metadata    []MetadataIndex

	name  string
	r     io.ReaderAt
	known known
}

// ReadSummary reads the summary of the size bytes in r; name is for problems.
func ReadSummary(r io.ReaderAt, size int64, name string) (*Summary, error) {
	s := &Summary{name: name, r: r, known: newKnown()}
	tail := int64(recordHead + footerSize + len(Magic))
	if size < int64(len(Magic))+tail {
		return nil, fmt.Errorf("mcap: %s: %w", name, ErrNoSummary)
	}
	end, err := s.bytes(uint64(size-tail), uint64(tail))
	if err != nil {
		return nil, err
	}
	footer := cursor{b: end}
	op, n := Opcode(footer.u8("")), footer.u64("")
	start, _, crc := footer.u64(""), footer.u64(""), footer.u32("")
	if op != opFooter || n != footerSize || string(footer.b[footer.at:]) != Magic || start == 0 {
		return nil, fmt.Errorf("mcap: %s: %w", name, ErrNoSummary)
	}
	at := uint64(size - tail)
	if start > at || start < uint64(len(Magic)) {
		return nil, s.problem(at, fmt.Sprintf("the index begins at byte %d, expected from %d to %d", start, len(Magic), at))
	}
	b, err := s.bytes(start, at-start+recordHead+footerSize)
	if err != nil {
		return nil, err
	}
	if got := crc32.ChecksumIEEE(b[:len(b)-4]); crc != 0 && got != crc {
		return nil, s.problem(start, fmt.Sprintf("the index' CRC is %08x, expected %08x", got, crc))
	}
	return s, s.parse(b[:at-start], start)
}

// parse reads the records of the summary, which begins at byte start.
func (s *Summary) parse(b []byte, start uint64) error {
	for at := 0; at < len(b); {
		left := b[at:]
		place := start + uint64(at)
		if len(left) < recordHead || binary.LittleEndian.Uint64(left[1:]) > uint64(len(left)-recordHead) {
			return s.problem(place, "the index ends within a record")
		}
		op, n := Opcode(left[0]), int(binary.LittleEndian.Uint64(left[1:]))
		c := cursor{b: left[recordHead : recordHead+n]}
		at += recordHead + n
		switch op {
		case opSchema, opChannel:
			if err := know(&s.known, op, &c); err != nil {
				return s.problem(place, err.Error())
			}
		case opStatistics:
			s.Statistics = c.statistics()
		case opChunkIndex:
			s.Chunks = append(s.Chunks, c.chunkIndex())
		case opAttachmentIndex:
			s.Attachments = append(s.Attachments, c.attachmentIndex())
		case opMetadataIndex:
			s.Metadata = append(s.Metadata, c.metadataIndex())
		}
		if c.fault != "" {
			return s.problem(place, fmt.Sprintf("in a %s %s", op, c.fault))
		}
	}
	return nil
}

func (s *Summary) problem(at uint64, message string) *problem.Problem {
	return &problem.Problem{Place: problem.Place{File: s.name}, Binary: true, Offset: int64(at), Message: message}
}

// bytes reads a part of the file, in memory that grows as it comes.
func (s *Summary) bytes(at, n uint64) ([]byte, error) { return s.bytesInto(nil, at, n) }

// bytesInto reads them into memory that is used again.
func (s *Summary) bytesInto(out []byte, at, n uint64) ([]byte, error) {
	if at > math.MaxInt64 || n > maxRecord+recordHead {
		return nil, s.problem(at, fmt.Sprintf("%d bytes at %d, expected at most %d", n, at, maxRecord))
	}
	out = out[:0]
	for uint64(len(out)) < n {
		from := len(out)
		more := int(min(n-uint64(from), uint64(max(64<<10, from, cap(out)-from))))
		out = slices.Grow(out, more)[:from+more]
		if got, err := s.r.ReadAt(out[from:], int64(at)+int64(from)); got < len(out)-from {
			if err == io.EOF || err == nil {
				return out[:from], s.problem(at, "the file ends early")
			}
			return out[:from], fmt.Errorf("mcap: reading %s at byte %d: %w", s.name, at, err)
		}
	}
	return out, nil
}

// record reads the record at a place and returns its content.
func (s *Summary) record(at, length uint64, want Opcode) ([]byte, error) {
	return s.recordInto(new([]byte), at, length, want)
}

// recordInto reads it into memory that is used again.
func (s *Summary) recordInto(buf *[]byte, at, length uint64, want Opcode) ([]byte, error) {
	b, err := s.bytesInto(*buf, at, length)
	*buf = b
	if err != nil {
		return nil, err
	}
	if len(b) < recordHead || Opcode(b[0]) != want || binary.LittleEndian.Uint64(b[1:]) != uint64(len(b)-recordHead) {
		return nil, s.problem(at, fmt.Sprintf("no %s of %d bytes is here, expected one by the index", want, length))
	}
	return b[recordHead:], nil
}

// Channels returns the channels by id.
func (s *Summary) Channels() map[uint16]*Channel { return s.known.channels }

// Schema returns a channel's schema, nil if it has none.
func (s *Summary) Schema(id uint16) *Schema { return s.known.schemas[id] }

// Attachment reads an attachment.
func (s *Summary) Attachment(x AttachmentIndex) (*Attachment, error) {
	b, err := s.record(x.Offset, x.Length, opAttachment)
	if err != nil {
		return nil, err
	}
	a, fault := attachmentOf(b)
	if fault != "" {
		return nil, s.problem(x.Offset, "in an attachment "+fault)
	}
	return a, nil
}

// ReadMetadata reads a metadata record.
func (s *Summary) ReadMetadata(x MetadataIndex) (*Metadata, error) {
	b, err := s.record(x.Offset, x.Length, opMetadata)
	if err != nil {
		return nil, err
	}
	c := cursor{b: b}
	m := c.metadata()
	if c.fault != "" {
		return nil, s.problem(x.Offset, "in a metadata record "+c.fault)
	}
	return m, nil
}
