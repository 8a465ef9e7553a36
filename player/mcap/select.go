package mcap

import (
	"io"
	"math"
)

// Selection says which messages of a finished file to read.
type Selection struct {
	Channels func(*Channel) bool // nil: all
	// From and To are log times in ns, both included. To 0 is no end.
	From, To uint64
}

// Selected returns the messages of a selection in the order of the file. It
// reads only chunks that the index says have any. It belongs to one goroutine.
type Selected struct {
	summary  *Summary
	known    known
	buf      []byte
	wanted   map[uint16]bool
	from, to uint64
	next     int // chunk
	unpacker unpacker
	chunk    records
	message  Message
}

// Select makes a reader of a selection. Several may read at once.
func (s *Summary) Select(q Selection) *Selected {
	out := &Selected{summary: s, known: s.known.clone(), wanted: map[uint16]bool{}, from: q.From, to: q.To}
	if q.To == 0 {
		out.to = math.MaxUint64
	}
	for id, c := range s.known.channels {
		if q.Channels == nil || q.Channels(c) {
			out.wanted[id] = true
		}
	}
	return out
}

// Close frees what unpacking holds; the last message is not valid any more.
func (s *Selected) Close() { s.unpacker.close() }

// has reports whether a chunk may have what is wanted.
func (s *Selected) has(x *ChunkIndex) bool {
	if x.EndTime < s.from || x.StartTime > s.to {
		return false
	}
	if len(x.MessageIndexes) == 0 { // its writer made none
		return true
	}
	for id := range x.MessageIndexes {
		if s.wanted[id] {
			return true
		}
	}
	return false
}

// Next returns the next message, valid until the next call. A *Problem reports
// a place without one: reading goes on after it. io.EOF is the end,
// anything else an error that ends the reading.
func (s *Selected) Next() (*Message, error) {
	for {
		for s.chunk.b != nil {
			ok, p := s.chunk.next(&s.message)
			if p != nil {
				return nil, p
			}
			if !ok {
				s.chunk.b = nil
				break
			}
			if m := &s.message; s.wanted[m.ChannelID] && m.LogTime >= s.from && m.LogTime <= s.to {
				return m, nil
			}
		}
		if s.next == len(s.summary.Chunks) {
			return nil, io.EOF
		}
		x := &s.summary.Chunks[s.next]
		s.next++
		if s.has(x) {
			if err := s.open(x); err != nil {
				return nil, err
			}
		}
	}
}

// Offset is where the chunk begins that the last message stands in, and within
// where in its unpacked records.
func (s *Selected) Offset() (offset, within int64) { return s.chunk.place, int64(s.chunk.from) }

func (s *Selected) open(x *ChunkIndex) error {
	b, err := s.summary.recordInto(&s.buf, x.Offset, x.Length, opChunk)
	if err != nil {
		return err
	}
	c := cursor{b: b}
	p := c.packed()
	if c.fault != "" {
		return s.summary.problem(x.Offset, "in a chunk "+c.fault)
	}
	unpacked, err := s.unpacker.unpack(&p)
	if err != nil {
		return s.summary.problem(x.Offset, err.Error())
	}
	s.chunk = records{known: &s.known, name: s.summary.name, place: int64(x.Offset), b: unpacked}
	return nil
}
