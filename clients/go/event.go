package callboard

import (
	"fmt"

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
// *Fault, *Resubscribed, *Attached or *Detached.
type Event interface{ event() }

// Notification is a reading that matched.
type Notification struct {
	protocol.Notify
	Raw []byte // the whole message as it came
}

// Gap says that notifications From to To of a source could not be kept; see
// protocol.Gap. Without To the source's sequence has ended.
type Gap struct{ protocol.Gap }

// Robot tells that a robot came, went, or lost readings.
type Robot struct{ protocol.Robot }

// Failure is an error that the broker tells of later on, for example a
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
	Resumed    bool // the session goes on
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
func (*Detached) event()     {}

// Error implements error.
func (f *Fault) Error() string {
	if f.Source == "" {
		return f.Reason
	}
	return fmt.Sprintf("source %s: %s", f.Source, f.Reason)
}
