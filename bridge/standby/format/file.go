package format

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"

	"callboard/bridge/standby"
)

// Sector is the size of a small file, in bytes: a sector of a disk, which is
// written in place and as a whole.
const Sector = 512

// version is that of the small files.
const version = 1

// Kinds of small files.
const (
	fileState = 's'
	fileVote  = 'v'
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// State returns the small file of a side.
func State(s standby.State) []byte { return seal(fileState, &s, (*coder).state) }

// ParseState reads the small file of a side.
func ParseState(b []byte) (standby.State, error) {
	return open(fileState, "a side's state", b, (*coder).state)
}

func (c *coder) state(s *standby.State) {
	c.term(&s.Term)
	c.stands(&s.Stands)
	c.term(&s.Floor)
	c.flags(&s.Given, &s.Lost)
	c.term(&s.Shown)
}

// Vote returns the small file that a witness has of a pair.
func Vote(v standby.Vote) []byte { return seal(fileVote, &v, (*coder).vote) }

// ParseVote reads the small file that a witness has of a pair.
func ParseVote(b []byte) (standby.Vote, error) {
	return open(fileVote, "a witness's vote", b, (*coder).vote)
}

func (c *coder) vote(v *standby.Vote) {
	c.term(&v.Newest)
	c.term(&v.Base)
	c.term(&v.Told[standby.A])
	c.term(&v.Told[standby.B])
}

// seal makes a small file of what code writes: version, kind, length (1 byte each),
// content, nothing, and the checksum of all that.
func seal[T any](kind byte, v *T, code func(*coder, *T)) []byte {
	c := &coder{}
	code(c, v)
	b := make([]byte, Sector)
	copy(b, []byte{version, kind, byte(len(c.b))})
	copy(b[3:], c.b)
	binary.BigEndian.PutUint32(b[Sector-4:], crc32.Checksum(b[:Sector-4], castagnoli))
	return b
}

// open reads with code what a small file has.
func open[T any](kind byte, what string, b []byte, code func(*coder, *T)) (v T, err error) {
	c := &coder{reading: true}
	switch {
	case len(b) != Sector:
		c.fail(fmt.Errorf("%d bytes; expected %d", len(b), Sector))
	case crc32.Checksum(b[:Sector-4], castagnoli) != binary.BigEndian.Uint32(b[Sector-4:]):
		c.fail(errors.New("its checksum is wrong"))
	case b[0] != version:
		c.fail(fmt.Errorf("its version is %d, and this program reads version %d", b[0], version))
	case b[1] != kind:
		c.fail(fmt.Errorf("it is of kind %q; expected %q", b[1], kind))
	default:
		c.b = b[3 : 3+int(b[2])]
	}
	code(c, &v)
	if c.err == nil && len(c.b) > 0 {
		c.err = fmt.Errorf("%d bytes too much", len(c.b))
	}
	if c.err != nil {
		return v, fmt.Errorf("standby: %s cannot be read: %w", what, c.err)
	}
	return v, nil
}
