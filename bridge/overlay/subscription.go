package overlay

import (
	"crypto/sha256"
	"encoding/binary"
	"math"
	"slices"

	"callboard/subscribe/protocol"
)

// Subscription is what a client asks for, with what its broker adds. It is
// immutable once it has been handed to the overlay. Its condition has been
// compiled by the runtime before; the program does not come here.
type Subscription struct {
	protocol.Subscription
	// Allowed are the robot patterns that the client's token grants; none
	// means all. A robot must match one of them and one of Robots.
	Allowed []string
	// Needs are the devices without which the condition is never true, for the
	// registry's test of which robots can match: of each group one interface
	// (Player's names: {{"laser", "ranger"}, {"position2d"}}). None: not known,
	// so every robot can.
	Needs [][]string
	// Requires is what must hold of a robot's values and names too. None: not known.
	Requires []Requirement

	sealed Hash // by Seal
}

// Requirement is something without which a condition is never true: that a
// value lies between Lo and Hi, or a text is one of Texts.
type Requirement struct {
	Name   string // of a value: "laser.min", "index"; of a text: "robot", "world", "interface"
	Lo, Hi float64
	Texts  []string // nil: it is a number
}

// Bound is what is known of a robot's value: it lies between Lo and Hi.
type Bound struct {
	Name   string
	Lo, Hi float64
}

// Hash names a set of subscriptions, or one. The hash of a set is the sum of
// those of its members (mod 2¹²⁸), so that a change costs what has changed.
type Hash struct{ Hi, Lo uint64 }

// Seal computes the hash once for all, so that the broker's goroutine need not.
// The subscription must not be changed any more.
func (s *Subscription) Seal() { s.sealed = s.Hash() }

// Hash returns the hash of all that decides what the subscription matches and
// how it is delivered.
func (s *Subscription) Hash() Hash {
	if s.sealed != (Hash{}) {
		return s.sealed
	}
	h := sha256.Sum256(s.canonical())
	return Hash{Hi: binary.BigEndian.Uint64(h[:8]), Lo: binary.BigEndian.Uint64(h[8:16])}
}

func (h Hash) add(o Hash) Hash {
	lo := h.Lo + o.Lo
	hi := h.Hi + o.Hi
	if lo < h.Lo {
		hi++
	}
	return Hash{hi, lo}
}

func (h Hash) sub(o Hash) Hash {
	lo := h.Lo - o.Lo
	hi := h.Hi - o.Hi
	if h.Lo < o.Lo {
		hi--
	}
	return Hash{hi, lo}
}

// canonical writes the fields in a fixed order, lengths first, defaults
// spelled out, so that equal subscriptions have equal bytes and others have not.
func (s *Subscription) canonical() []byte {
	b := make([]byte, 0, s.size()+2*(len(s.Robots)+len(s.Devices))+64)
	text := func(t string) {
		b = binary.AppendUvarint(b, uint64(len(t)))
		b = append(b, t...)
	}
	list := func(ts []string) {
		b = binary.AppendUvarint(b, uint64(len(ts)))
		for _, t := range ts {
			text(t)
		}
	}
	text(s.ID)
	text(s.Condition)
	list(s.Robots)
	list(s.Devices)
	text(orDefault(s.Trigger, protocol.TriggerEvery))
	b = binary.BigEndian.AppendUint64(b, math.Float64bits(s.MinInterval+0)) // -0 is 0
	b = binary.BigEndian.AppendUint64(b, math.Float64bits(s.For+0))
	names := make([]string, 0, len(s.Select))
	for name := range s.Select {
		names = append(names, name)
	}
	slices.Sort(names)
	b = binary.AppendUvarint(b, uint64(len(names)))
	for _, name := range names {
		text(name)
		text(s.Select[name])
	}
	text(orDefault(s.Keep, protocol.KeepAll))
	list(s.Allowed)
	if s.Messages {
		text("messages") // of the others as it was before there were any
	}
	return b
}

func orDefault(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}

// latest reports whether only the newest of what waits is kept.
func (s *Subscription) latest() bool { return s.Keep == protocol.KeepLatest }
