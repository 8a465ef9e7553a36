package multicast

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// assembler puts a stream's fragments together again, in the order of their
// datagrams.
type assembler struct {
	begun bool // a first fragment has come: what was under way at the start is passed over
	open  bool // a frame is being put together
	frame []byte
}

// take hands what a datagram completes to whole: it is a part of the fragments, or
// memory of its own. The fragments have been checked.
func (a *assembler) take(fragments []byte, whole func(frame []byte) error) error {
	for at := 0; at < len(fragments); {
		head := binary.BigEndian.Uint16(fragments[at:])
		n := int(head & fragmentLength)
		fragment := fragments[at+fragmentHead : at+fragmentHead+n]
		at += fragmentHead + n
		first, last := head&fragmentFirst != 0, head&fragmentLast != 0
		switch {
		case first && a.open:
			return errors.New("a series begins in the middle of another")
		case !first && !a.open && a.begun:
			return errors.New("a series goes on that has not begun")
		case !first && !a.open:
			continue
		case len(a.frame)+n > MaxSeries:
			return fmt.Errorf("a series of more than %d bytes", MaxSeries)
		}
		a.begun = true
		var err error
		switch {
		case first && last:
			err = whole(fragment)
		case last:
			a.open = false
			err = whole(append(a.frame, fragment...))
			a.frame = nil // it is who took it's
		default:
			a.open = true
			a.frame = append(a.frame, fragment...)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
