package multicast

import (
	"encoding/binary"
	"fmt"
	"time"
)

const (
	// maxRanges is how many ranges a NACK has, and maxAsked how many numbers it may
	// name.
	maxRanges = 100
	maxAsked  = 2048
	// turnUnit is the unit in which the width of a turn is told, and maxWidth the
	// widest.
	turnUnit = 16 * time.Microsecond
	maxWidth = 64

	flagRepair = 1

	beatSize  = 14 // number, held, width, flags
	rangeSize = 10
	// Overhead is what a datagram of data takes beside its fragments, bytes.
	Overhead     = headSize + beatSize + tagSize
	fragmentHead = 2

	fragmentFirst  = 0x8000
	fragmentLast   = 0x4000
	fragmentLength = 0x3fff
)

// beat is what a datagram of data and a heartbeat begin with.
type beat struct {
	number uint64 // of the datagram; in a heartbeat, of the next one
	held   uint32 // number less the lowest that can still be resent
	width  uint8  // of a turn
	repair bool   // sent again; never in a heartbeat
}

// low is the lowest number that can still be resent.
func (b *beat) low() uint64 { return b.number - uint64(b.held) }

func appendBeat(out []byte, b beat) []byte {
	out = binary.BigEndian.AppendUint64(out, b.number)
	out = binary.BigEndian.AppendUint32(out, b.held)
	flags := byte(0)
	if b.repair {
		flags = flagRepair
	}
	return append(out, b.width, flags)
}

func readBeat(content []byte, flags byte) (beat, error) {
	if len(content) < beatSize {
		return beat{}, fmt.Errorf("a content of %d bytes; expected %d at least", len(content), beatSize)
	}
	b := beat{
		number: binary.BigEndian.Uint64(content), held: binary.BigEndian.Uint32(content[8:]),
		width: content[12], repair: content[13]&flagRepair != 0,
	}
	switch {
	case uint64(b.held) >= b.number:
		return b, fmt.Errorf("number %d with %d held before it", b.number, b.held)
	case b.width > maxWidth:
		return b, fmt.Errorf("a turn of width %d; expected up to %d", b.width, maxWidth)
	case content[13]&^flags != 0:
		return b, fmt.Errorf("the flags 0x%02x; expected none but 0x%02x", content[13], flags)
	}
	return b, nil
}

// readData reads the content of data. The fragments are a part of it, and each is
// whole.
func readData(content []byte) (b beat, fragments []byte, err error) {
	if b, err = readBeat(content, flagRepair); err != nil {
		return b, nil, err
	}
	fragments = content[beatSize:]
	return b, fragments, checkFragments(fragments)
}

func readHeartbeat(content []byte) (beat, error) {
	b, err := readBeat(content, 0)
	if err == nil && len(content) > beatSize {
		err = fmt.Errorf("a heartbeat of %d bytes; expected %d", len(content), beatSize)
	}
	return b, err
}

func checkFragments(fragments []byte) error {
	if len(fragments) == 0 {
		return fmt.Errorf("data without a fragment")
	}
	for at := 0; at < len(fragments); {
		if len(fragments)-at < fragmentHead {
			return fmt.Errorf("byte %d of the fragments: a fragment's head is cut", at)
		}
		n := int(binary.BigEndian.Uint16(fragments[at:]) & fragmentLength)
		if n == 0 || n > len(fragments)-at-fragmentHead {
			return fmt.Errorf("byte %d of the fragments: a fragment of %d bytes where %d are left", at, n, len(fragments)-at-fragmentHead)
		}
		at += fragmentHead + n
	}
	return nil
}

// span is a range of numbers, of which there is one at least.
type span struct {
	from uint64
	many uint16
}

func (s span) end() uint64 { return s.from + uint64(s.many) }

func appendSpan(out []byte, s span) []byte {
	return binary.BigEndian.AppendUint16(binary.BigEndian.AppendUint64(out, s.from), s.many)
}

// readNACK appends the ranges of a NACK to into: they ascend and do not touch.
func readNACK(into []span, content []byte) ([]span, error) {
	if len(content) == 0 || len(content)%rangeSize != 0 || len(content) > maxRanges*rangeSize {
		return nil, fmt.Errorf("a NACK of %d bytes; expected 1 to %d ranges of %d", len(content), maxRanges, rangeSize)
	}
	end := uint64(0)
	for at := 0; at < len(content); at += rangeSize {
		s := span{binary.BigEndian.Uint64(content[at:]), binary.BigEndian.Uint16(content[at+8:])}
		if s.from == 0 || s.many == 0 || s.end() < s.from || s.from <= end && end > 0 {
			return nil, fmt.Errorf("a NACK of %d numbers from %d on, behind those up to %d", s.many, s.from, end)
		}
		into, end = append(into, s), s.end()
	}
	return into, nil
}

// status is what a member tells the sender.
type status struct {
	want    uint64 // the lowest number that it lacks
	room    uint32 // datagrams that it takes from there
	dropped uint32 // by its socket since it joined
}

const statusSize = 16

func appendStatus(out []byte, s status) []byte {
	out = binary.BigEndian.AppendUint64(out, s.want)
	return binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(out, s.room), s.dropped)
}

func readStatus(content []byte) (status, error) {
	if len(content) != statusSize {
		return status{}, fmt.Errorf("a status of %d bytes; expected %d", len(content), statusSize)
	}
	return status{
		binary.BigEndian.Uint64(content), binary.BigEndian.Uint32(content[8:]), binary.BigEndian.Uint32(content[12:]),
	}, nil
}
