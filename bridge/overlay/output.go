package overlay

import (
	"iter"

	"callboard/subscribe/protocol"
)

// Output is what the runtime is to do. The types of this file are all there
// are. Outputs are carried out in order, after the records of the same steps
// were written (Broker.Records). They are the runtime's to keep.
type Output interface{ output() }

// Send sends a client a message: a *protocol.Welcome, *protocol.Subscribed,
// *protocol.Gap, *protocol.Robot, *protocol.Reply or *protocol.Error, with Op
// set.
type Send struct {
	Conn    Conn
	Message any
}

// Notify sends a client a notification. The reading's bytes are shared. Of them
// goes out what its subscriptions want: protocol.WantsReading, WantsMessages.
type Notify struct {
	Conn          Conn
	Source        string
	Seq           uint64
	Skipped       uint64
	Reading       *Reading
	Latest        bool               // only subscriptions that keep the latest name it: the next one of its device waits for its acknowledgement
	Subscriptions []protocol.Matched // shared with the store and later resends: not to be changed
}

// Close ends a connection, after what was sent on it before. The Error that
// says why has been sent.
type Close struct {
	Conn   Conn
	Code   protocol.Code
	Reason string
}

// Heartbeat is for every connection that has had its welcome, once a period.
// (The overlay gives it, and not the socket's side, so that it proves that
// the broker is alive; one output serves all connections.)
type Heartbeat struct{ Message protocol.Heartbeat }

// Install puts a change of a key's set of subscriptions into the matcher.
// Once every reading that is handed in was tested by it, the runtime answers
// Installed. Only what is in Put begins anew; the others keep the state of
// their policies. An Install that changes nothing asks for the counts alone.
type Install struct {
	Handle Handle
	Set    uint64          // counts up, one more than the key's last if there is a change; Hit.Set tells it back
	Whole  bool            // the set begins empty (a new key, or after a restart)
	Drop   []string        // ids that end
	Put    []*Subscription // those that come or change
	Count  []string        // ids for which Installed tells how many robots match
}

// Uninstall takes a key out of the matcher.
type Uninstall struct{ Handle Handle }

// Frame is all that one step sends to a neighbour, or the same to several, in
// order: over the sessions that were up then, or nowhere. It takes effect as a
// whole, but for replays: Parts.
type Frame struct {
	To       []Link // one at least; each neighbour once
	Messages []Message
}

// Link is a session of the link with a neighbour.
type Link struct {
	Neighbour BrokerID
	Session   uint64
}

// Parts cuts the messages of a frame behind replays, so that about as many bytes
// of notifications are in each part. The parts are frames of their own: the
// first of them may arrive, and the others be lost with the link.
func Parts(messages []Message, bytes int) iter.Seq[[]Message] {
	return func(yield func([]Message) bool) {
		first, size := 0, 0
		for i, m := range messages {
			replay, ok := m.(*ReplayMessage)
			if !ok {
				continue
			}
			for n := range replay.Items {
				size += replay.Items[n].size()
			}
			if size >= bytes/2 && i+1 < len(messages) {
				if !yield(messages[first : i+1 : i+1]) {
					return
				}
				first, size = i+1, 0
			}
		}
		yield(messages[first:])
	}
}

// Asked is a question of another broker: an Answer is due within Left.
type Asked struct {
	From BrokerID
	Call uint64 // From's number
	Left Duration
	Body []byte
}

// Answered is the answer to an Ask: Body, or Code and Message of an error.
type Answered struct {
	Call    uint64
	From    BrokerID // who answered; the broker that cannot be reached
	Body    []byte
	Code    protocol.Code
	Message string
}

// RobotRefused reports what has become of a robot's name in the network. Refused:
// Holder reads a robot of that name, and this one's readings go to nobody.
// Else it is in force, and Rival, if there is one, was refused another.
type RobotRefused struct {
	Robot   string
	Refused bool
	Holder  BrokerID
	Rival   BrokerID
}

// QueueDoubled reports that another broker declares a queue that this one does, too.
// Tasks go to Holder.
type QueueDoubled struct {
	Queue  string
	Rival  BrokerID
	Holder BrokerID
}

func (*QueueDoubled) output() {}

func (*RobotRefused) output() {}

func (*Asked) output() {}

func (*Answered) output() {}

func (*Send) output() {}

func (*Notify) output() {}

func (*Close) output() {}

func (*Heartbeat) output() {}

func (*Install) output() {}

func (*Uninstall) output() {}

func (*Frame) output() {}
