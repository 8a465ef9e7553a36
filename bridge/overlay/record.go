package overlay

import "callboard/subscribe/protocol"

// Record is a change of what must outlive a crash. Replaying all records in
// order by Restore rebuilds the state; so does replaying a state that a store
// has condensed: Stamp, Sessions, Subscriptions, Entries, their Subscriptions,
// Givens and Gaps by number, then what is true of states. The types of this file
// are all there are.
type Record interface{ record() }

// StampRecord has the broker's present stamp.
type StampRecord struct{ Stamp Stamp }

// ClaimRecord says since when this broker reads a robot, or (negative) until when it
// did: the older claim to a name counts (D4), and the robot is away when the broker
// begins again. 0: nothing is known of it.
type ClaimRecord struct {
	Robot string
	Since Instant
}

// SessionRecord puts a client's session at this edge broker.
type SessionRecord struct {
	Client  string
	Session Session
	Epoch   Epoch // the newest
	Unsure  bool  // the store had lost its end: what the client's set is is not known before its hello
}

// SessionEnded takes a session away, with its subscriptions.
type SessionEnded struct{ Client string }

// SubscriptionRecord puts a subscription into a session's set.
type SubscriptionRecord struct {
	Client       string
	Born         uint64 // revision of its subscribe
	Subscription *Subscription
}

// SubscriptionEnded takes one out.
type SubscriptionEnded struct {
	Client string
	ID     string
}

// EntryRecord puts a key into the local registry, or changes it; or, if its
// source is another broker, it is an inbox of the session here.
type EntryRecord struct {
	Handle Handle
	Key    Key
	Epoch  Epoch
	Set    uint64 // the newest Install.Set
	Next   uint64 // the seq to give next
	Num    uint64 // the highest that the client has acknowledged
	Ended  bool   // the store was lost: it gives no more numbers
	Own    bool   // the edge is elsewhere: its set is what EntrySubscriptions say; else it is that of the session here, and those go
}

// EntrySubscription puts a subscription into the set of a key whose edge is
// elsewhere.
type EntrySubscription struct {
	Handle       Handle
	Born         uint64
	Subscription *Subscription
}

// EntrySubscriptionEnded takes one out.
type EntrySubscriptionEnded struct {
	Handle Handle
	ID     string
}

// EntryEnded takes a key out, with all it retained.
type EntryEnded struct{ Handle Handle }

// GivenRecord retains a notification for each key of Hits: the next number of
// each has been given. The reading is one for all.
type GivenRecord struct {
	Reading *Reading
	At      Instant
	Hits    []GivenHit
}

// GivenHit is what one key was given.
type GivenHit struct {
	Handle   Handle
	Seq      uint64
	Revision uint64 // of the set that it was tested by
	Names    []protocol.Matched
}

// AckedRecord drops all up to Num.
type AckedRecord struct {
	Handle Handle
	Num    uint64
}

// GapRecord says that From to To could not be kept: it replaces what is
// retained of them.
type GapRecord struct {
	Handle   Handle
	From, To uint64
	New      uint64 // the first number that was not in the gap before
	Why      Why
}

// PassedRecord says that From to To were passed over on purpose: what is
// retained of them goes.
type PassedRecord struct {
	Handle   Handle
	From, To uint64
}

// StateRecord says that a subscription to changes was given as true of the
// reading's robot, and not as false since. A broker does not give it: it follows
// from what Givens name, and from StatesEnded between them. A store has only some
// of those left, so it ends what they say and gives StateRecords behind them.
type StateRecord struct {
	Handle  Handle
	ID      string
	Seq     uint64 // that it was given with
	Reading *Reading
	Values  []byte // of a subscription that selects
}

// StatesEnded says that the states of a subscription to changes count no more.
type StatesEnded struct {
	Handle Handle
	ID     string // "": of all that the key has
}

// ToldRecord says that a session's client was told what has become of Source's
// robots, up to Version (0: as before); and that it was told that Robot is away,
// or not any more. Robot "": none. Source "": what it was told elsewhere, before it
// came here under the attachment Version, is awaited; 1: not any more.
type ToldRecord struct {
	Client  string
	Source  BrokerID
	Version uint64
	Robot   string
	Away    bool
}

func (*StateRecord) record() {}

func (*StatesEnded) record() {}

func (*ToldRecord) record() {}

func (*StampRecord) record() {}

func (*ClaimRecord) record() {}

func (*SessionRecord) record() {}

func (*SessionEnded) record() {}

func (*SubscriptionRecord) record() {}

func (*SubscriptionEnded) record() {}

func (*EntryRecord) record() {}

func (*EntryEnded) record() {}

func (*EntrySubscription) record() {}

func (*EntrySubscriptionEnded) record() {}

func (*GivenRecord) record() {}

func (*AckedRecord) record() {}

func (*GapRecord) record() {}

func (*PassedRecord) record() {}
