package run

import (
	"time"

	"callboard/player"
	"callboard/player/problem"
)

// Kind is what a Record says.
type Kind uint8

// Kinds of records. Up, Known, Data and Down are the calls of a live session
// (player/client's Handler): who hands them on in order does what was done
// live.
const (
	Up    Kind = iota + 1 // a session with a robot's Player server begins: Devices
	Known                 // more is known of Device: that it exists, its geometry or configuration
	Data                  // a message of Device: Header, Payload
	Lost                  // Count messages of the robot never came, or were not recorded
	Down                  // the session with the robot has ended
)

// String returns the kind's name.
func (k Kind) String() string {
	switch k {
	case Up:
		return "up"
	case Known:
		return "known"
	case Data:
		return "data"
	case Lost:
		return "lost"
	case Down:
		return "down"
	}
	return "nothing"
}

// Record is one thing that happened in a recorded run. It is valid until the
// next call of Next; Devices and what they point to are immutable and stay.
type Record struct {
	Kind   Kind
	Robot  string    // its name in the network
	World  string    // the world it is in, "" if not known
	Player string    // host:port of its Player server, "" if not known
	Logged time.Time // when it was recorded; zero if the format does not tell

	Devices []*player.Device // Up: all that were opened, in the server's order
	// Continued: the session of this Up began in an earlier file of the same
	// recording, which went on in this one. Who reads both in order takes it as
	// no new session.
	Continued bool
	Device    *player.Device // Known, Data: with all that is known from here on
	// Header is that of the message, as the Player server sent it (Data), or of
	// the answer that told the geometry or configuration (Known; Type is Ack, and
	// zero if nothing but the recorder told it). Timestamp is in s, by the
	// server's clock. Host and Robot may differ from the server's in a Player log
	// that joins several servers.
	Header player.Header
	// Payload is a pointer to the message's struct in package iface (*iface.Raw
	// if the table does not know it). It is nil for what Options.Want refuses,
	// and for lines without payload, which Player writes for what it cannot
	// format.
	Payload any
	// Object is the reading as a broker told it, JSON, when one is recorded: an
	// MCAP file keeps it beside the message. Readers do not give it.
	Object []byte
	Count  uint64 // Lost: how many messages; 0 is not known

	Line   int              // in a Player log, from 1
	Offset int64            // byte at which it begins in the file, unpacked
	Odd    *problem.Problem // what was tolerated in it, nil: nothing
}

// Reading returns a Data record as what a live session hands over.
func (r *Record) Reading() player.Reading {
	return player.Reading{Device: r.Device, Subtype: r.Header.Subtype, Time: r.Header.Timestamp, Payload: r.Payload}
}
