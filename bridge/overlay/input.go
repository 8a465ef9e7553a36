package overlay

import (
	"iter"

	"callboard/subscribe/protocol"
)

// Input is what can happen to a broker. The types of this file are all there
// are. What an input points to belongs to the overlay from then on: the
// runtime does not change it any more. Nothing in an input can make Step
// fail: what a client may not do is answered by an Error output.
type Input interface{ input() }

// Conn names a client's connection at this broker. The runtime chooses the
// numbers, never one twice in a process.
type Conn uint64

// Handle names an entry of the local registry (a key at this source broker)
// towards the matcher and in records. It is never used again.
type Handle uint64

// Restore replays records of an earlier life, or of a broker that this one
// follows, in the order in which they were given out; several inputs may share
// them out, over any time. Only before Start.
type Restore struct{ Records []Record }

// Start begins the broker's life, after the Restores if there are any. All
// other inputs come later.
type Start struct {
	// StoreLost says that records may be missing at the end (a power cut, a
	// torn store): the broker takes a new stamp, and its keys end after what
	// is still there.
	StoreLost bool
	// Robots are those that were up and are: what is true of them stands, and their
	// clients are told nothing. A side of a pair that goes on where the other one has
	// stopped has such.
	Robots []string
}

// Tick says that the time is now. One is due when Deadline is reached; more
// do no harm.
type Tick struct{}

// Hello is a client's first message on a connection. The runtime has checked
// the token.
type Hello struct {
	Conn          Conn
	Client        string            // "": without id, so without resume
	Owner         string            // the name of its token: client ids and sessions are that token's; "" without tokens
	Allowed       []string          // patterns of the robots that the token lets it see; nil: all, empty: none
	Attachment    *uint64           // nil: a fresh take-over
	Session       string            // to resume; "" begins another session
	Num           map[string]uint64 // source word → highest number processed
	Subscriptions []*Subscription   // all that are to go on, in the client's order, compiled
	Away          *[]string         // robots that it was told are away; nil: it does not say
	Window        *uint64           // of notifications, if the client asks for a smaller one than the broker's
	Refused       []protocol.Error  // those listed that did not compile: told after welcome; they do not go on
	Tasks         []string          // keys whose answers it waits for, and words of tasks that it has in hand
	Foreign       bool              // a broker with this one's id has served it, and this one does not know all that it gave: what is numbered here ends by a gap
}

// Subscribe asks for notifications. The condition has been compiled.
type Subscribe struct {
	Conn         Conn
	Subscription *Subscription
}

// Update replaces the subscription of the same id by the merged and compiled
// one. Broker.Subscription returns what to merge with.
type Update struct {
	Conn         Conn
	Subscription *Subscription
}

// Unsubscribe ends a subscription.
type Unsubscribe struct {
	Conn Conn
	ID   string
}

// Ack says that the client has processed all of Source up to Num. For a
// client without id the runtime sends it once a notification (or a gap) was
// written to the socket.
type Ack struct {
	Conn   Conn
	Source string
	Num    uint64
}

// Disconnected says that the connection is gone, whoever ended it. Also to be
// said after a Close output and for connections whose hello was refused.
type Disconnected struct {
	Conn    Conn
	Goodbye bool // the client has said that it does not come back: its session ends
	Closed  bool // by a close frame: servers of tasks give back what they have in hand
}

// Advertise registers a robot that this broker reads, or what is newly known
// of it. The robot is away until a RobotState says otherwise.
type Advertise struct {
	Robot   string
	World   string
	Devices []string // "laser:0" …; nil: not known yet, so anything can match
	Bounds  []Bound  // of values; of what is left out nothing is known
}

// Withdraw takes a robot's advertisement back.
type Withdraw struct{ Robot string }

// RobotState says what became of a robot's session: protocol.RobotUp,
// RobotAway or RobotOverflow. Or it tells that one of its devices is away, while
// others go on, or up again; without a word of it a device of a robot that is up
// is up.
type RobotState struct {
	Robot  string
	Device string // "laser:0"; "": the robot
	State  string
	Lost   *uint64 // readings lost before they reached the broker, if known
	Since  Instant
}

// Reading is one reading as it goes to clients, shared by all who get it and
// never changed.
type Reading struct {
	Robot     string
	Interface string   // Player's name: "laser", "ranger", …
	Index     int      // of the device
	Time      float64  // s, as Player gives it
	JSON      []byte   // the reading as an object, which is JSON or CBOR (protocol.Seal); nil if nobody wants it
	Messages  []byte   // what it came of: see protocol.Notify; nil if nobody wants them
	Arrived   Instant  // when it was decoded, for measuring the way; 0: not known, or of an earlier life
	refs      int      // buffers that hold it
	held      Instant  // since when any has
	bare      *Reading // itself without messages, once it was needed
}

// of returns the reading as it is kept for those whose subscriptions are named:
// without its messages, unless one of them asks for those.
func (r *Reading) of(names []protocol.Matched) *Reading {
	if r.Messages == nil || protocol.WantsMessages(names) {
		return r
	}
	if r.bare == nil {
		r.bare = &Reading{Robot: r.Robot, Interface: r.Interface, Index: r.Index, Time: r.Time, JSON: r.JSON, Arrived: r.Arrived}
	}
	return r.bare
}

// size is how many bytes it has.
func (r *Reading) size() int { return len(r.JSON) + len(r.Messages) }

// Matched is a reading with all who get it. Readings of one robot come in
// their order.
type Matched struct {
	Reading *Reading
	Hits    []Hit
}

// Hit names the subscriptions of one key that a reading matched.
type Hit struct {
	Handle Handle
	Set    uint64 // the Install.Set by which it was tested
	Names  []protocol.Matched
}

// Installed answers an Install: every reading that is handed in from now on
// was tested by that set or a later one. Each Install of a key has one answer,
// in their order, also if it changed nothing.
type Installed struct {
	Handle Handle
	Set    uint64
	Robots map[string]int // id → robots that match now, for the ids in Install.Count; one left out counts as 0
}

// RunFailed says that a subscription's condition (or a select) failed while
// it ran. Its owner is told once per version of the subscription. Also for a restored
// subscription that does not compile any more.
type RunFailed struct {
	Handle   Handle
	ID       string
	Code     protocol.Code
	Message  string
	Position *protocol.Position
}

// LinkUp says that a session of the link with a neighbour has begun. Both
// ends must see it; a session that goes on at one end only is none.
type LinkUp struct {
	Neighbour BrokerID
	Session   uint64 // the runtime's number, never one twice in a process
	Cost      Cost   // of the link as this end has it; 0: CostOne, and it stays so
	Foreign   bool   // a broker with this one's id has been the neighbour's, and this one does not know all that it gave: what is numbered here ends by gone, for edges behind the neighbour
}

// LinkCost says that a session's link costs something else from now on. Who is told
// of it, and how often, is the runtime's to bound.
type LinkCost struct {
	Neighbour BrokerID
	Session   uint64
	Cost      Cost
}

// LinkDown says that the session has ended. What it carried and had not
// delivered is lost. A LinkUp of a neighbour that is up says it of the session
// before.
type LinkDown struct {
	Neighbour BrokerID
	Session   uint64
}

// FrameReceived is all that one step of a neighbour sent over the link. It
// takes effect as a whole, but for what Parts and Steps cut. Of a session that has
// ended it is dropped.
type FrameReceived struct {
	Neighbour BrokerID
	Session   uint64
	Messages  []Message
}

// StepMembers is about how many subscriptions a step takes in from a neighbour: a
// millisecond or two of work.
const StepMembers = 4096

// Steps cuts the messages of a frame behind subscribes, so that the sets which come
// in a step have about as many members together. One set is taken in whole.
func Steps(messages []Message, members int) iter.Seq[[]Message] {
	return func(yield func([]Message) bool) {
		first, sum := 0, 0
		for i, m := range messages {
			s, ok := m.(*SubscribeMessage)
			if !ok || s.Set == nil {
				continue
			}
			if sum += len(s.Set.Put); sum >= members && i+1 < len(messages) {
				if !yield(messages[first : i+1 : i+1]) {
					return
				}
				first, sum = i+1, 0
			}
		}
		yield(messages[first:])
	}
}

// Ask carries a question to another broker, or to the one that reads a robot.
// An Answered follows, unless the question or its answer is lost.
type Ask struct {
	Call  uint64   // the runtime's number, never one twice in a process
	To    BrokerID // another broker; "": the one that reads Robot
	Robot string   // with To "": never one that this broker reads
	Body  []byte   // for the runtime there
	Until Instant  // when nobody waits for the answer any more
}

// Answer answers an Asked.
type Answer struct {
	From BrokerID // who asked
	Call uint64
	Body []byte
	// Code and Message instead of Body: an error.
	Code    protocol.Code
	Message string
}

func (*Restore) input() {}

func (*Ask) input() {}

func (*Answer) input() {}

func (*Start) input() {}

func (*Tick) input() {}

func (*Hello) input() {}

func (*Subscribe) input() {}

func (*Update) input() {}

func (*Unsubscribe) input() {}

func (*Ack) input() {}

func (*Disconnected) input() {}

func (*Advertise) input() {}

func (*Withdraw) input() {}

func (*RobotState) input() {}

func (*Matched) input() {}

func (*Installed) input() {}

func (*RunFailed) input() {}

func (*LinkUp) input() {}

func (*LinkDown) input() {}

func (*LinkCost) input() {}

func (*FrameReceived) input() {}
