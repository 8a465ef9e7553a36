package overlay

import (
	"slices"

	"callboard/subscribe/protocol"
)

// Message is what one broker tells another. The types of this file are all
// there are. What a message points to is shared with the
// broker that gave it and never changed after; a message that comes in belongs
// to the broker that takes it (its readings must not be shared with another
// broker's).
type Message interface{ message() }

// SubscribeMessage asks for a key's notifications along a path (S1…S7).
type SubscribeMessage struct {
	Key     Key
	Epoch   Epoch
	Num     uint64     // the highest number that the client has processed
	Known   uint64     // the highest number that the client or its edge knows of
	Path    []BrokerID // from the receiver to the source broker
	Hash    Hash       // of the set
	Set     *SetChange // nil: the source has the set
	Missing *Missing   // a renewal: all the way to the source, which sends these again
}

// SetChange brings a set of subscriptions: whole, or as the change from
// another.
type SetChange struct {
	Whole bool
	From  Hash // unless Whole
	Drop  []string
	Put   []Member // that come or change; the whole set if Whole
}

// Member is a subscription of a set.
type Member struct {
	Subscription *Subscription
	Since        Epoch // of one that is told at first what holds: when it began, if one of its id may have ended before
}

// Missing names numbers that a renewal asks for again; From 0: none.
type Missing struct {
	From, To uint64 // To 0: all from From on
}

// RefreshMessage renews the leases of a key's route (L1) and acknowledges (A1).
type RefreshMessage struct {
	Key   Key
	Epoch Epoch
	Num   uint64
	Known uint64 // as of a subscribe
}

// HeadMessage tells the last number given, before a silence (A2).
type HeadMessage struct {
	Key  Key
	Last uint64
}

// UnsubscribeMessage ends a key for good (U1).
type UnsubscribeMessage struct {
	Key  Key
	Path []BrokerID // from the receiver to the source broker, for where there is no route; may be empty
}

// GoneMessage says that a key is over.
type GoneMessage struct {
	Key   Key
	Stamp Stamp // the source's present one, if it has forgotten the key; 0: unsubscribed
}

// NotifyMessage is a reading with all keys that go on over this link.
type NotifyMessage struct {
	Reading *Reading // its JSON is nil if nobody wants it
	Hits    []KeyHit
}

// KeyHit is what one key was given.
type KeyHit struct {
	Key Key
	Seq uint64
	// The epoch of the subscribe that brought the set by which it was tested;
	// zero: not known.
	Attachment uint64
	Edge       BrokerID
	Revision   uint64
	Names      []protocol.Matched
}

func newHit(k Key, seq uint64, set Epoch, names []protocol.Matched) KeyHit {
	return KeyHit{Key: k, Seq: seq, Attachment: set.Attachment, Edge: set.Edge, Revision: set.Revision, Names: names}
}

// Set returns the epoch of the set by which it was tested.
func (h *KeyHit) Set() Epoch { return Epoch{h.Attachment, h.Edge, h.Revision} }

// FetchID names a fetch: its broker and that broker's counter. The zero value
// is none.
type FetchID struct {
	Broker BrokerID
	Number uint64
}

// FetchMessage runs down an abandoned branch, takes its routes away and asks
// for what the old edge holds (F1…F3).
type FetchMessage struct {
	Key   Key
	Epoch Epoch
	Num   uint64
	ID    FetchID
}

// ReplayMessage carries what the old edge held, or what the source sends again
// (R1…R3, S6).
type ReplayMessage struct {
	Key   Key
	Items []Item
	Last  bool    // ends the fetch ID
	ID    FetchID // if Last
}

// ItemKind is what an Item is.
type ItemKind uint8

// Kinds of items.
const (
	ItemNotification ItemKind = iota + 1
	ItemGap                   // could not be kept
	ItemPassed                // passed over on purpose
)

// Item is a notification, or a range of numbers that has none.
type Item struct {
	Kind     ItemKind
	From, To uint64
	Why      Why                // of a gap
	Reading  *Reading           // of a notification
	Names    []protocol.Matched // of a notification
	Set      Epoch              // of a notification, as KeyHit.Set
}

// size is about how many bytes the item holds.
func (it *Item) size() int {
	if it.Reading == nil {
		return itemOverhead
	}
	return itemSize(it.Reading, it.Names)
}

// EventMessage tells a client's edge something that is not numbered: a
// condition that failed, or how many robots match.
type EventMessage struct {
	Key    Key
	Error  *protocol.Error // ID is the subscription's
	Counts []RobotCount
	Set    Epoch // of the set that is counted for
}

// RobotCount tells how many robots of the source broker match a subscription.
type RobotCount struct {
	ID     string
	Robots int
}

// BrokenMessage says that the way up is lost (B2).
type BrokenMessage struct {
	Key  Key
	Link *LinkState // of the broker that lost a link, if that is why
}

// LinkState is what a broker says of its links. It is flooded; the highest
// number counts.
type LinkState struct {
	Broker     BrokerID
	Number     uint64
	Neighbours []BrokerID // whose links are up, sorted
	URL        string     // where clients reach the broker; "": not told
	Costs      []Cost     // of the links, in the order of Neighbours; none: each is CostOne
}

// Cost is what a link costs: how many sendings a message takes over it (H2), in
// quarters.
type Cost uint64

// CostOne is the cost of a link that loses nothing, the least that there is; MaxCost
// is the highest.
const (
	CostOne Cost = 4
	MaxCost Cost = 100 * CostOne
)

// costsRight reports whether a link state has a cost for each of its links, or none.
func (s *LinkState) costsRight() bool {
	return len(s.Costs) == 0 || len(s.Costs) == len(s.Neighbours) &&
		!slices.ContainsFunc(s.Costs, func(c Cost) bool { return c < CostOne || c > MaxCost })
}

// BulletinMessage is what a broker says of itself where each has the registry: its
// advertisement (D1) and which clients hang on it (D3). It is flooded, as a change
// of what its neighbours have.
type BulletinMessage struct {
	Broker        BrokerID
	Stamp         Stamp
	From          uint64 // the version that it is the change from; 0: it is whole
	Version       uint64
	Age           Duration        // since when the broker has said so, if another one passes on the whole
	Robots        []Advertisement // new or changed
	Withdrawn     []string        // robots that are not advertised any more
	StatesVersion uint64          // of the broker's robots' states, as in Robots
	States        []Availability  // that have changed
	Forgotten     []string        // robots and devices of which nothing is told any more
	Clients       []ClientPlace   // that have attached
	Left          []string        // clients whose session has ended
}

// ClientPlace says that a client is attached to a broker, or was last.
type ClientPlace struct {
	Client     string
	Attachment uint64
	Began      Instant // to be kept by an edge
}

// KnownMessage lists the versions of bulletins that a broker has: whoever has newer
// ones sends them.
type KnownMessage struct {
	All     bool // those that are not listed are not known at all
	Brokers []KnownBulletin
}

// KnownBulletin is the version of a broker's bulletin that is known; 0: none.
type KnownBulletin struct {
	Broker  BrokerID
	Version uint64
}

// RoutedMessage goes hop by hop to a broker by the link states of those that
// pass it: to and from the registry, and what brokers ask each other.
type RoutedMessage struct {
	From, To BrokerID
	Hops     int // that it may still go
	Body     RegistryMessage
}

func (*SubscribeMessage) message() {}

func (*RefreshMessage) message() {}

func (*HeadMessage) message() {}

func (*UnsubscribeMessage) message() {}

func (*GoneMessage) message() {}

func (*NotifyMessage) message() {}

func (*FetchMessage) message() {}

func (*ReplayMessage) message() {}

func (*EventMessage) message() {}

func (*BrokenMessage) message() {}

func (*LinkState) message() {}

func (*BulletinMessage) message() {}

func (*KnownMessage) message() {}

func (*RoutedMessage) message() {}

// RegistryMessage is what a RoutedMessage carries. Brokers and the registry
// tell each other a *Register, *RegisterAgain, *Refusals, *Lookup or *Sources; brokers ask
// each other by *Call and *CallAnswer; edges watch source brokers' robots by
// *Watch and *Robots, and hand over what a client was told of them by *Told.
type RegistryMessage interface{ registryMessage() }

// Register tells the registry a source broker's stamp and robots. Once a
// period without the robots: it lives.
type Register struct {
	Stamp    Stamp
	Version  uint64 // of Robots
	Whole    bool   // Robots are there
	Robots   []Advertisement
	Refusals uint64 // version of those that it has; 0: none
}

// Advertisement is what the registry knows of a robot.
type Advertisement struct {
	Robot   string
	World   string
	Devices []string // nil: not known yet
	Bounds  []Bound
	Refused bool    // the registry has given its name to another broker
	Claimed Instant // since when the broker advertises it, of a bulletin
}

// Refusals tells a broker which of its robots have the name of another
// broker's: the registry sends it when it changes, and until a Register has its
// version.
type Refusals struct {
	Version uint64
	Refused []Refusal // that are not in force
	Rivals  []Refusal // other brokers' that were refused for this one's sake
}

// Refusal is a robot whose name another broker has too.
type Refusal struct {
	Robot  string
	Broker BrokerID // the other; "": not known yet
}

// RegisterAgain asks a broker for all its robots: the registry lacks that version.
type RegisterAgain struct{ Version uint64 }

// Lookup tells where clients are and asks for the source brokers that their
// sets can match (G1). Once a period it lists all clients of the edge, without
// wants where they are unchanged.
type Lookup struct{ Clients []ClientLookup }

// ClientLookup asks for one client.
type ClientLookup struct {
	Client     string
	Session    Session
	Attachment uint64
	New        bool    // the session has just begun
	Claims     bool    // it has the client id, as far as the edge knows
	Began      Instant // to be kept by the edge
	Hash       Hash    // of the set
	Version    uint64  // of the answer that the edge had last
	Whole      bool    // Wants are there
	Wants      []Want
	Ask        []string // subscriptions of which it is asked whether any robot can match them
}

// Want is what the registry's test needs to know of a subscription.
type Want struct {
	ID       string
	Robots   []string
	Allowed  []string
	Devices  []string
	Needs    [][]string
	Requires []Requirement
}

// Sources answers a Lookup. It lists the clients of whom there is news, all
// those that were asked for with wants among them; and is sent unasked when a
// source appears (6).
type Sources struct{ Clients []ClientSources }

// ClientSources are the source brokers of one client's set.
type ClientSources struct {
	Client    string
	Session   Session
	Hash      Hash           // that they are of
	Version   uint64         // changes with them
	Again     bool           // the registry lacks the wants of that hash
	Forbidden bool           // its id is another token's client's
	Claims    bool           // it has it
	Newest    Epoch          // the newest attachment and edge known, if it is another (G2)
	Sources   []SourceBroker // all that were ever named in this session
	Missing   []string       // of those that were asked for: no registered robot can match them
}

// SourceBroker is a source broker with its stamp.
type SourceBroker struct {
	Broker BrokerID
	Stamp  Stamp
}

// Watch asks a source broker for its robots' availability: once a period, and
// at once by an edge that knows nothing of them. That an answer comes shows
// that the source broker is in reach. For a lease it tells of changes unasked.
type Watch struct {
	Version uint64
	Again   []StateAgain // states to be given again
	Asked   uint64       // numbers these: the answer tells it
	Of      BrokerID     // for another broker than the source: what it knows of that one's robots that is newer
}

// StateAgain asks for what is true of a robot, for a key's subscription to
// changes: its client was told that it is false, and of what was given up to the
// number Seq nothing has told it that it is true again. Without an ID: all that is
// true. With Since: for all that the subscription is told at first, if it has begun
// after the source broker has heard of it.
type StateAgain struct {
	Key   Key
	Robot string
	ID    string
	Seq   uint64
	Since Epoch
}

// Robots answers a Watch, or tells of a change: all that has changed since a
// version, maybe nothing.
type Robots struct {
	From, Version uint64
	Whole         bool // Robots are all there are
	Robots        []Availability
	Asked         uint64   // of the Watch that it answers
	Of            BrokerID // the source broker, if another one answers for it
}

// Availability is what has become of a robot, as the broker that reads it sees
// it. Versions count the changes of that broker's robots, across restarts too.
type Availability struct {
	Robot     string // or one of its devices, by protocol.AwayName
	Up        bool
	Since     Instant // of the state
	Before    Instant // of the state before
	Changed   uint64  // the version with which anything of this changed last
	Gone      uint64  // with which it was last found to be away
	Dropped   uint64  // with which readings of it were lost last; 0: never
	Lost      uint64  // how many in all, as far as known
	Uncounted bool    // the last time it was not known how many
}

// Told hands over to a client's new edge what the client was told of robots.
type Told struct {
	Client     string
	Session    Session
	Attachment uint64 // under which it was told
	Whole      bool   // of source brokers that are not in Seen it was told nothing
	Seen       []SeenSource
	Awaited    []SeenSource // that edge was waiting itself; since these it has told nothing
	Away       []AwayRobot
	States     []HeldState
	Blind      bool           // there may have been others that it told to be false
	Named      []SourceBroker // that the session has keys at, if the registry does not know
	Begun      []Begun
}

// Begun is a subscription whose first notification tells what holds already, and
// that has begun after another one of its id: its source brokers may not have heard
// of that, and it may be alike.
type Begun struct {
	ID    string
	Since Epoch // as in Member
}

// HeldState is a state of a subscription to changes that has come to a client as
// true; Over, if it is not 0: and was told to be false in the source broker's
// place, as this number of the source By.
type HeldState struct {
	ID      string
	Source  BrokerID
	Stamp   Stamp // of the key whose number Seq is
	Seq     uint64
	Reading *Reading
	Values  []byte
	Over    uint64
	By      string
}

// SeenSource is a source broker, and the version of its robots up to which a
// client was told what has become of them.
type SeenSource struct {
	Broker  BrokerID
	Version uint64
	At      uint64 // the attachment under which that was; 0: not known
}

// AwayRobot is a robot that a client was told is away, and not yet that it is
// back.
type AwayRobot struct {
	Robot  string
	Broker BrokerID // that reads it
}

// Call is a question to a broker.
type Call struct {
	Number   uint64 // of whoever asks
	Robot    string // that it is about, if any
	Registry bool   // for the registry, which passes it on to the broker that reads Robot
	Left     Duration
	Body     []byte
}

// CallAnswer answers a Call: Body, or Code and Message of an error.
type CallAnswer struct {
	Number  uint64
	Body    []byte
	Code    protocol.Code
	Message string
}

func (*Call) registryMessage() {}

func (*CallAnswer) registryMessage() {}

func (*Register) registryMessage() {}

func (*Refusals) registryMessage() {}

func (*RegisterAgain) registryMessage() {}

func (*Lookup) registryMessage() {}

func (*Sources) registryMessage() {}

func (*Watch) registryMessage() {}

func (*Robots) registryMessage() {}

func (*Told) registryMessage() {}
