package standby

import "callboard/bridge/overlay"

// Message is what the sides of a pair, and their witness, say to each other. The
// types of this file are all there are.
type Message interface{ message() }

// Beat says that a side lives, and how it stands. It goes over both lines every T,
// and at once when anything in it changes but Index and ID.
type Beat struct {
	Life   uint64 // of the sender's process
	Number uint64 // counts the beats of that life
	Echo   Echo   // the newest beat that it has heard on this line
	Status
}

// Echo names a beat of whom it is sent to.
type Echo struct{ Life, Number uint64 }

// Status is how a side stands.
type Status struct {
	Term   Term
	Stands Stands
	Active bool     // it has clients and links
	Lost   bool     // its store has lost its end
	Last   Position // of its store
	Floor  Term
	Warm   bool // its broker has all that its store has
	Outer  bool // its outer line is well
}

// Ask wants a Beat at once.
type Ask struct{ Life uint64 }

// Batches are what the active has stored, for the standby: one after the other,
// the first behind the batch that Before names.
type Batches struct {
	Term    Term // of the active
	Before  Position
	Batches []Batch
}

// Acked says up to where the standby has what the active has stored.
type Acked struct {
	Term   Term
	Last   Position
	Stands Stands
}

// Snapshot takes the place of all that a side which is out has stored.
type Snapshot struct {
	Term    Term     // of the active
	Last    Position // up to where it reaches
	Terms   []Term   // that it leads through
	Records []overlay.Record
}

// Join asks the standby whether it is in step from now on: it has, or can append,
// all that leads to the term, which begins when it accepts (J3).
type Join struct {
	Term    Term
	Before  Position // the batch behind which Batches go on
	Batches []Batch  // the last begins the term, or goes on in it
}

// Claim asks for a voice.
type Claim struct {
	Number  Term // the term that is to begin
	Kind    Kind
	Base    Term            // the newest term that the claimant knows
	History []Term          // that its store leads through, the newest of them
	Asked   overlay.Instant // by the claimant's clock
	Shown   Term            // the newest claim to which the other side has given its voice
}

// Kind is the way in which a term begins, or is to begin.
type Kind uint8

// Ways in which a term begins.
const (
	TakeOver  Kind = iota + 1 // a side that is not active becomes so; it has all that was promised
	GoOn                      // the active goes on alone
	LostStart                 // a side becomes active that may lack something
	Joined                    // both are in step again; nobody claims that
	kinds
)

// String returns the word that metrics have.
func (k Kind) String() string {
	switch k {
	case TakeOver:
		return "take"
	case GoOn:
		return "alone"
	case LostStart:
		return "lost"
	case Joined:
		return "join"
	}
	return "none"
}

// Voice answers a claim. A side that refuses sends a Beat instead.
type Voice struct {
	Number Term
	Given  bool
	Newest Term            // that a witness knows
	Asked  overlay.Instant // from the claim
}

// Renew tells the witness every T how a side stands.
type Renew struct {
	Term    Term
	Stands  Stands
	Active  bool
	History []Term
	Shown   Term
	Sent    overlay.Instant // by the sender's clock
}

// Lease answers a Renew.
type Lease struct {
	Sent   overlay.Instant // from the Renew
	Newest Term            // that the witness knows; 0: it does not know the pair
}

func (*Beat) message() {}

func (*Ask) message() {}

func (*Batches) message() {}

func (*Acked) message() {}

func (*Snapshot) message() {}

func (*Join) message() {}

func (*Claim) message() {}

func (*Voice) message() {}

func (*Renew) message() {}

func (*Lease) message() {}
