package standby

import "callboard/bridge/overlay"

// Line is one of the two networks over which the sides speak.
type Line uint8

// The lines. Batches, snapshots and joins go over the inner one only.
const (
	Inner Line = iota // between the two sides only
	Outer             // that clients, neighbours and the witness are in
	lines
)

// Input is what can happen to a side. The types of this file are all there are.
// Before a verdict that silence leads to, all that waits in the sockets is to be
// handed in (H3): a Tick comes behind it.
type Input interface{ input() }

// Tick says that the time is now. One is due every T/4.
type Tick struct{}

// FromOther is a message of the other side.
type FromOther struct {
	Line    Line
	Message Message
}

// FromWitness is a message of the witness.
type FromWitness struct{ Message Message }

// Dead says that the other side's process is: a connection has ended with a reset,
// and its address refuses the next one (H2).
type Dead struct{}

// OuterLives says that somebody has answered on this side's outer line: a client,
// a neighbour, the reference. What the witness sends counts as well.
type OuterLives struct{}

// Append is what one step of the active's broker wants stored, perhaps nothing.
// What the step puts out waits for the batch: Released.
type Append struct {
	Records []overlay.Record
	Beside  []byte // see Batch
	Bytes   int    // that both take in a message, about
}

// Switch has an active whose standby is in step stop, so that the other side goes
// on (P1); or not any more.
type Switch struct{ Cancel bool }

// Lose has a side that is not active become so though it may lack something, while
// the other is not heard of as the active (L3).
type Lose struct{}

func (*Tick) input() {}

func (*FromOther) input() {}

func (*FromWitness) input() {}

func (*Dead) input() {}

func (*OuterLives) input() {}

func (*Append) input() {}

func (*Switch) input() {}

func (*Lose) input() {}

// Output is what the runtime is to do. The types of this file are all there are.
// They are carried out in order: nothing goes out before what stands before it is
// done.
type Output interface{ output() }

// Save stores a State, on the disk before anything behind it is done (S1).
type Save struct{ State State }

// ToOther sends the other side a message. Records of a Snapshot are for the
// runtime to fill in.
type ToOther struct {
	Line    Line
	Message Message
}

// ToWitness sends the witness a message.
type ToWitness struct{ Message Message }

// Write appends batches to the store, as one write. Restore: they are the other
// side's, and this side's broker restores their records (D2).
type Write struct {
	Batches []Batch
	Restore bool
}

// Replace puts a snapshot in the place of all that is stored, and a new broker
// that has restored it in the place of the one there was.
type Replace struct {
	Last    Position
	Terms   []Term
	Records []overlay.Record
}

// Begin makes this side active: its broker starts, clients and links come.
type Begin struct {
	Term      Term
	StoreLost bool // for the broker's Start (L2)
}

// Announce has all connections be told of a term, with what the batch Index puts
// out and before what later ones do (C1).
type Announce struct {
	Term  Term
	Index uint64
}

// Stop ends this side's being active: connections and links end, the virtual
// address goes, what waits to go out does not go, and the broker is one anew that
// has restored what is stored.
type Stop struct{}

func (*Save) output() {}

func (*ToOther) output() {}

func (*ToWitness) output() {}

func (*Write) output() {}

func (*Replace) output() {}

func (*Begin) output() {}

func (*Announce) output() {}

func (*Stop) output() {}
