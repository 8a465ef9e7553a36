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
func State(s standby.State) []byte {
	c := &coder{}
	c.state(&s)
	return seal(fileState, c.b)
}

// ParseState reads the small file of a side.
func ParseState(b []byte) (s standby.State, err error) {
	c := open(fileState, b)
	c.state(&s)
	return s, c.wrong("a side's state")
}

func (c *coder) state(s *standby.State) {
	c.term(&s.Term)
	c.stands(&s.Stands)
	c.term(&s.Floor)
	c.flags(&s.Given, &s.Lost)
	c.term(&s.Shown)
}

// Vote returns the small file that a witness has of a pair.
func Vote(v standby.Vote) []byte {
	c := &coder{}
	c.vote(&v)
	return seal(fileVote, c.b)
}

// ParseVote reads the small file that a witness has of a pair.
func ParseVote(b []byte) (v standby.Vote, err error) {
	c := open(fileVote, b)
	c.vote(&v)
	return v, c.wrong("a witness's vote")
}

func (c *coder) vote(v *standby.Vote) {
	c.term(&v.Newest)
	c.term(&v.Base)
	c.term(&v.Told[standby.A])
	c.term(&v.Told[standby.B])
}

// seal makes a small file of its content: version, kind, length (1 byte each),
// content, nothing, and the checksum of all that.
func seal(kind byte, content []byte) []byte {
	b := make([]byte, Sector)
	copy(b, []byte{version, kind, byte(len(content))})
	copy(b[3:], content)
	binary.BigEndian.PutUint32(b[Sector-4:], crc32.Checksum(b[:Sector-4], castagnoli))
	return b
}

// open returns what reads the content of a small file.
func open(kind byte, b []byte) *coder {
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
	return c
}

// wrong returns what is wrong with a small file, when all is read; nil: nothing.
func (c *coder) wrong(what string) error {
	if c.err == nil && len(c.b) > 0 {
		c.err = fmt.Errorf("%d bytes too much", len(c.b))
	}
	if c.err != nil {
		return fmt.Errorf("standby: %s cannot be read: %w", what, c.err)
	}
	return nil
}
