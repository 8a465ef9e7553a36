package mcap

import (
	"callboard/player/problem"
	"encoding/binary"
	"fmt"
)

// records goes through the records of a chunk.
type records struct {
	known *known
	name  string // of the file
	place int64  // of the chunk in it
	b     []byte
	at    int
	from  int  // where the record that was given last begins
	cut   bool // the rest of the chunk is missing: no fault
}

// next returns the next message; nil at the end. A problem is told and what it
// is about skipped.
func (r *records) next(m *Message) (bool, *problem.Problem) {
	for r.at < len(r.b) {
		r.from = r.at
		left := r.b[r.at:]
		if len(left) < recordHead {
			return r.ends()
		}
		op, n := Opcode(left[0]), binary.LittleEndian.Uint64(left[1:])
		if n > uint64(len(left)-recordHead) {
			return r.ends()
		}
		r.at += recordHead + int(n)
		c := cursor{b: left[recordHead : recordHead+int(n)]}
		switch op {
		case opMessage:
			if c.message(m); c.fault != "" {
				return false, r.problem("in a message " + c.fault)
			}
			if r.known.channels[m.ChannelID] == nil {
				return false, r.problem(fmt.Sprintf("a message of channel %d, of which the file has not told", m.ChannelID))
			}
			return true, nil
		case opSchema, opChannel:
			if err := r.know(op, &c); err != nil {
				return false, r.problem(err.Error())
			}
		}
	}
	return false, nil
}

func (r *records) know(op Opcode, c *cursor) error { return know(r.known, op, c) }

// know takes a schema or channel record.
func know(k *known, op Opcode, c *cursor) error {
	if op == opSchema {
		s := c.schema()
		if c.fault != "" {
			return fmt.Errorf("in a schema %s", c.fault)
		}
		return k.addSchema(s, len(c.b))
	}
	channel := c.channel()
	if c.fault != "" {
		return fmt.Errorf("in a channel %s", c.fault)
	}
	return k.addChannel(channel, len(c.b))
}

func (r *records) ends() (bool, *problem.Problem) {
	r.at = len(r.b)
	if r.cut {
		return false, nil
	}
	return false, r.problem("the chunk ends within a record")
}

func (r *records) problem(message string) *problem.Problem {
	return &problem.Problem{Place: problem.Place{File: r.name}, Binary: true, Offset: r.place, Message: message,
		Detail: fmt.Sprintf("at byte %d of the chunk's records", r.from)}
}
