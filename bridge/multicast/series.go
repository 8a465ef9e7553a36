package multicast

import (
	"encoding/binary"
	"fmt"
)

// A series is what one step says to several neighbours: how many shared readings
// and how many sections (2 bytes each), the readings' lengths (4 each), the
// sections' heads (rank 2, pair number 4, length 4) by ascending rank, the
// readings, and the sections' frames.
const (
	// MaxSeries is the length of the longest series, bytes: what is longer goes over
	// TCP.
	MaxSeries   = 1 << 20
	seriesHead  = 4
	lengthSize  = 4
	sectionHead = 10
)

// Section is what a series says to one member.
type Section struct {
	Rank  uint16
	Pair  uint32 // number of the frame
	Frame []byte
}

// Series is what one step says to several neighbours.
type Series struct {
	Readings [][]byte // that frames refer to, by their position
	Sections []Section
}

// Size is how many bytes Append appends.
func (s *Series) Size() int {
	n := seriesHead + lengthSize*len(s.Readings) + sectionHead*len(s.Sections)
	for _, r := range s.Readings {
		n += len(r)
	}
	for i := range s.Sections {
		n += len(s.Sections[i].Frame)
	}
	return n
}

// Append appends the series to b. The sections ascend by rank.
func (s *Series) Append(b []byte) []byte {
	b = binary.BigEndian.AppendUint16(b, uint16(len(s.Readings)))
	b = binary.BigEndian.AppendUint16(b, uint16(len(s.Sections)))
	for _, r := range s.Readings {
		b = binary.BigEndian.AppendUint32(b, uint32(len(r)))
	}
	for i := range s.Sections {
		c := &s.Sections[i]
		b = binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint16(b, c.Rank), c.Pair)
		b = binary.BigEndian.AppendUint32(b, uint32(len(c.Frame)))
	}
	for _, r := range s.Readings {
		b = append(b, r...)
	}
	for i := range s.Sections {
		b = append(b, s.Sections[i].Frame...)
	}
	return b
}

// ReadSeries finds what a series says to the member with a rank, and the readings
// that it shares, appended to into; found is false if the series does not name it.
// Both are parts of b.
func ReadSeries(into [][]byte, b []byte, rank uint16) (section Section, readings [][]byte, found bool, err error) {
	readings = into
	if len(b) < seriesHead {
		return section, nil, false, fmt.Errorf("a series of %d bytes; expected %d at least", len(b), seriesHead)
	}
	shared, sections := int(binary.BigEndian.Uint16(b)), int(binary.BigEndian.Uint16(b[2:]))
	at := seriesHead + lengthSize*shared + sectionHead*sections
	if at > len(b) {
		return section, nil, false, fmt.Errorf("a series of %d bytes with %d readings and %d sections", len(b), shared, sections)
	}
	lengths, heads, rest := b[seriesHead:], b[seriesHead+lengthSize*shared:], b[at:]
	for i := range shared {
		n := binary.BigEndian.Uint32(lengths[lengthSize*i:])
		if uint64(n) > uint64(len(rest)) {
			return section, nil, false, fmt.Errorf("reading %d of a series takes %d bytes where %d are left", i, n, len(rest))
		}
		readings, rest = append(readings, rest[:n:n]), rest[n:]
	}
	last := 0
	for i := range sections {
		h := heads[sectionHead*i:]
		of, n := binary.BigEndian.Uint16(h), binary.BigEndian.Uint32(h[6:])
		if int(of) <= last {
			return section, nil, false, fmt.Errorf("section %d of a series is rank %d's, behind rank %d's", i, of, last)
		}
		if uint64(n) > uint64(len(rest)) {
			return section, nil, false, fmt.Errorf("section %d of a series takes %d bytes where %d are left", i, n, len(rest))
		}
		if of == rank {
			section, found = Section{of, binary.BigEndian.Uint32(h[2:]), rest[:n:n]}, true
		}
		last, rest = int(of), rest[n:]
	}
	if len(rest) > 0 {
		return section, nil, false, fmt.Errorf("%d bytes behind the last section of a series", len(rest))
	}
	return section, readings, found, nil
}
