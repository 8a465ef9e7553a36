package callboard

import (
	"fmt"
	"time"

	"callboard/subscribe/protocol"
)

// The protocol's objects that programs see.
type (
	Subscription = protocol.Subscription // what a program asks for
	Update       = protocol.Update       // what changes in a subscription
	Subscribed   = protocol.Subscribed   // the broker's answer to both
	Command      = protocol.Command      // for a robot
)

// Event is what a client delivers: *Notification, *Gap, *Robot, *Failure,
// *Fault, *Resubscribed, *Attached, *HandedOver, *Stayed or *Detached.
type Event interface{ event() }

// Notification is a reading that matched. Seq is the last one given + 1 +
// Skipped, also across a hand-over.
type Notification struct {
	protocol.Notify
	Raw []byte // the whole message as it came, but for skipped after a hand-over
}

// Gap says that notifications From to To of a source could not be kept; see
// protocol.Gap. Without To the source's sequence has ended.
type Gap struct{ protocol.Gap }

// Robot reports that a robot came, went, or lost readings.
type Robot struct{ protocol.Robot }

// Failure is an error that the broker reports later, for example a
// condition that fails while it runs. Ended: the subscription is no more.
type Failure struct {
	Error
	Ended bool
}

// Fault is a broken promise of the protocol: a sequence number that is not
// the last one + 1 + skipped, or a message that makes no sense. The client
// goes on with what comes.
type Fault struct {
	Source string // "" if the message belongs to none
	Reason string
}

// Resubscribed says that a subscription is in force again after a resume.
type Resubscribed struct{ protocol.Subscribed }

// Attached says that the client hangs on a broker now.
type Attached struct {
	URL        string
	Broker     string
	Session    string
	Attachment uint64
	Resumed    bool      // the session goes on
	Handover   *Handover // nil unless it does
}

// Handover is how a session came from one connection to the next.
type Handover struct {
	From   string            // URL of the broker before, which may be the same
	Moved  bool              // the connection before was dropped only after this one was there
	Took   time.Duration     // from Move, or the loss, to the broker's welcome
	Last   map[string]uint64 // last number by source that came over the connection before
	Silent time.Duration     // from the last notification over the connection before to the welcome; 0 if there was none
}

// HandedOver says that a source's notifications go on over a new connection:
// all up to Last had come over the one before, First is the first one that
// comes over this one, and whatever there was in between was replayed.
type HandedOver struct {
	Source      string
	From, URL   string
	Last, First uint64        // First is Last + 1, or more if numbers were skipped or lost
	Repeated    int           // messages that came again and were dropped
	Took        time.Duration // from Move, or the loss, to First
	Silent      time.Duration // from Last to First
}

// Stayed says that an attempt to move has failed, by Move or by choice: the
// client goes on where it is.
type Stayed struct {
	URL string // of the broker that did not take it
	Err error
}

// Detached says that the connection was lost; the client tries again.
type Detached struct {
	URL string
	Err error
}

func (*Notification) event() {}
func (*Gap) event()          {}
func (*Robot) event()        {}
func (*Failure) event()      {}
func (*Fault) event()        {}
func (*Resubscribed) event() {}
func (*Attached) event()     {}
func (*HandedOver) event()   {}
func (*Stayed) event()       {}
func (*Detached) event()     {}

// Error implements error.
func (f *Fault) Error() string {
	if f.Source == "" {
		return f.Reason
	}
	return fmt.Sprintf("source %s: %s", f.Source, f.Reason)
}
