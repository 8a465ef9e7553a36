// Package protocol holds the messages of callboard.v1, the WebSocket protocol
// between brokers and robot programs, and its error codes. Encoders and the
// broker's behaviour are elsewhere; this package imports nothing of ours, so
// that client libraries may use it alone.
package protocol

import (
	"encoding/json"
	"slices"
	"strings"
)

// Subprotocols that a broker offers, best first.
const (
	Subprotocol     = "callboard.v1"      // JSON text
	SubprotocolCBOR = "callboard.v1.cbor" // the same objects in CBOR
)

// Limits of one message, in bytes: of a client whose token is not known yet, of a
// hello whose client has shown one in its request, and of others.
const (
	MaxFirst   = 64 << 10
	MaxHello   = 64 << 20
	MaxMessage = 1 << 20
)

// Operations: the value of "op".
const (
	OpHello       = "hello"
	OpSubscribe   = "subscribe"
	OpUpdate      = "update"
	OpUnsubscribe = "unsubscribe"
	OpAck         = "ack"
	OpCommand     = "command"
	OpList        = "list"

	OpWelcome    = "welcome"
	OpSubscribed = "subscribed"
	OpNotify     = "notify"
	OpGap        = "gap"
	OpRobot      = "robot"
	OpReply      = "reply"
	OpHeartbeat  = "heartbeat"
	OpError      = "error"
	OpStandby    = "standby"
	OpActive     = "active"
)

// Goodbye is the reason of a close frame, with status 1000, by which a client says
// that it does not come back.
const Goodbye = "goodbye"

// Code says what kind of error it is; programs decide by it.
type Code string

// The error codes.
const (
	BadMessage   Code = "bad_message"   // not JSON, unknown op, a wrong or unknown field or option
	BadCondition Code = "bad_condition" // the condition, or a selected expression, is wrong; position tells where
	TooCostly    Code = "too_costly"    // well formed, but would cost more than is allowed
	Unauthorized Code = "unauthorized"  // no token, or none that is known
	Forbidden    Code = "forbidden"     // the token does not allow it
	NotFound     Code = "not_found"     // no such robot, device, subscription
	Conflict     Code = "conflict"      // the id is in use; another connection has taken over
	Overloaded   Code = "overloaded"    // a limit is reached
	Unavailable  Code = "unavailable"   // not now: robot away, no answer, shutting down
	Expired      Code = "expired"       // the task was not done in its time
	Cancelled    Code = "cancelled"     // the task was taken back before anybody had it
	Failed       Code = "failed"        // the server answered the task by an error
	Unknown      Code = "unknown"       // the command may have been carried out: its broker was stopped meanwhile
)

// Position is a place in a condition: line and column count from 1, columns
// in characters.
type Position struct {
	Line   int `json:"line"`
	Column int `json:"column"`
}

// Triggers of a subscription.
const (
	TriggerEvery  = "every"  // each matching reading; the default
	TriggerRising = "rising" // when the condition becomes true, also if true at first
	TriggerChange = "change" // its state at first and whenever it changes
)

// What to keep for a slow or absent client.
const (
	KeepAll    = "all"    // everything, up to the inbox limit; the default
	KeepLatest = "latest" // of what waits only the newest per robot and device
)

// Subscription is what a program asks for. Zero values are the defaults.
type Subscription struct {
	ID          string            `json:"id"`
	Condition   string            `json:"condition"`
	Robots      []string          `json:"robots,omitempty"`       // names or path.Match patterns; none means all
	Devices     []string          `json:"devices,omitempty"`      // "laser:0", "laser", or patterns of them; none means all
	Trigger     string            `json:"trigger,omitempty"`      // TriggerEvery, TriggerRising, TriggerChange
	MinInterval float64           `json:"min_interval,omitempty"` // s, of the readings' time, per robot
	For         float64           `json:"for,omitempty"`          // s that the condition must hold
	Select      map[string]string `json:"select,omitempty"`       // name to expression, sent instead of the reading
	Keep        string            `json:"keep,omitempty"`         // KeepAll, KeepLatest
	// Messages asks for the messages that the reading came of, as Player sends
	// them, instead of the reading.
	Messages bool `json:"messages,omitempty"`
}

// Hello is a client's first message.
type Hello struct {
	Op            string            `json:"op"`
	Client        string            `json:"client,omitempty"`
	Token         string            `json:"token,omitempty"`
	Attachment    *uint64           `json:"attachment,omitempty"`
	Session       string            `json:"session,omitempty"`
	Num           map[string]uint64 `json:"num,omitempty"`
	Subscriptions []Subscription    `json:"subscriptions,omitempty"`
	// Window asks for fewer notifications of a source to go out unacknowledged
	// than the broker would let go. Left out: as many as that.
	Window *uint64 `json:"window,omitempty"`
	// Away lists the robots, and the devices of robots, that the client was last
	// told are away, by Robot.Name. Left out: what was written to its connections
	// counts as told.
	Away *[]string `json:"away,omitempty"`
	// Term is the newest of a pair of brokers that the client has been told of. 0:
	// none.
	Term uint64 `json:"term,omitempty"`
	// Standby begins no session: the connection is only for being told which side of
	// a pair is active.
	Standby bool `json:"standby,omitempty"`
	// Tasks lists the keys whose answers the client still waits for, and the words
	// of tasks that it has in hand.
	Tasks []string `json:"tasks,omitempty"`
}

// Subscribe asks for notifications.
type Subscribe struct {
	Op string `json:"op"`
	Subscription
}

// Update changes a subscription; a field left out stays as it is.
type Update struct {
	Op          string             `json:"op"`
	ID          string             `json:"id"`
	Condition   *string            `json:"condition,omitempty"`
	Robots      *[]string          `json:"robots,omitempty"`
	Devices     *[]string          `json:"devices,omitempty"`
	Trigger     *string            `json:"trigger,omitempty"`
	MinInterval *float64           `json:"min_interval,omitempty"`
	For         *float64           `json:"for,omitempty"`
	Select      *map[string]string `json:"select,omitempty"`
	Keep        *string            `json:"keep,omitempty"`
	Messages    *bool              `json:"messages,omitempty"`
}

// Unsubscribe ends a subscription.
type Unsubscribe struct {
	Op string `json:"op"`
	ID string `json:"id"`
}

// Ack acknowledges all notifications of a source up to Num; or with Key, and no
// source, the answer to a task or a command.
type Ack struct {
	Op     string `json:"op"`
	Source string `json:"source,omitempty"`
	Num    uint64 `json:"num,omitempty"`
	Key    string `json:"key,omitempty"`
}

// Command is for a robot: one device, a name and its arguments.
type Command struct {
	Op        string  `json:"op"`
	ID        string  `json:"id"`
	Robot     string  `json:"robot"`
	Interface string  `json:"interface,omitempty"`
	Index     *int    `json:"index,omitempty"`
	Name      string  `json:"name"`
	Args      []any   `json:"args,omitempty"`
	TTL       float64 `json:"ttl,omitempty"` // s that it may wait for the robot
	Key       string  `json:"key,omitempty"` // lasting name, unique for the client: it is carried out once
}

// List asks for what a broker knows: "robots", "brokers", "subscriptions".
type List struct {
	Op   string `json:"op"`
	ID   string `json:"id"`
	What string `json:"what"`
}

// BrokerURL is where a broker serves clients.
type BrokerURL struct {
	ID  string `json:"id"`
	URL string `json:"url"`
}

// Welcome answers Hello.
type Welcome struct {
	Op         string      `json:"op"`
	Broker     string      `json:"broker"`
	Client     string      `json:"client"`
	Session    string      `json:"session"`
	Attachment uint64      `json:"attachment"`
	Heartbeat  float64     `json:"heartbeat"` // s between heartbeats
	Window     int         `json:"window"`    // unacknowledged notifications of one source
	Brokers    []BrokerURL `json:"brokers"`
	// Of a broker that is a pair: the term in which what follows is said, and where
	// its sides are.
	Term  uint64    `json:"term,omitempty"`
	Sides []SideURL `json:"sides,omitempty"`
}

// SideURL is where one side of a pair of brokers serves clients.
type SideURL struct {
	URL string `json:"url"`
}

// Standby says to who listens only that this side of a pair is not active.
type Standby struct {
	Op   string `json:"op"`
	Term uint64 `json:"term"`          // the newest that this side knows
	URL  string `json:"url,omitempty"` // of the other side
}

// Active says to who listens only that this side of a pair is active.
type Active struct {
	Op   string `json:"op"`
	Term uint64 `json:"term"`
}

// Subscribed says that a subscription is in force at Sources.
type Subscribed struct {
	Op      string   `json:"op"`
	ID      string   `json:"id"`
	Sources []string `json:"sources"`
	Robots  int      `json:"robots"`
	Warning string   `json:"warning,omitempty"`
}

// Matched names a subscription inside a Notify.
type Matched struct {
	ID     string          `json:"id"`
	State  *bool           `json:"state,omitempty"`  // for TriggerChange
	Values json.RawMessage `json:"values,omitempty"` // for Select: an object; for Messages: an empty one
}

// NoValues are the Values of a subscription that asks for Messages.
var NoValues = json.RawMessage("{}")

// WantsMessages reports whether any of the subscriptions gets the messages that
// the reading came of.
func WantsMessages(matched []Matched) bool {
	return slices.ContainsFunc(matched, func(m Matched) bool { return len(m.Values) == len(NoValues) })
}

// WantsReading reports whether any of the subscriptions gets the reading.
func WantsReading(matched []Matched) bool {
	return slices.ContainsFunc(matched, func(m Matched) bool { return m.Values == nil })
}

// Notify is one reading that matched. Seq is the last one + 1 + Skipped.
type Notify struct {
	Op            string    `json:"op"`
	Source        string    `json:"source"`
	Seq           uint64    `json:"seq"`
	Skipped       uint64    `json:"skipped,omitempty"`
	Robot         string    `json:"robot"`
	Interface     string    `json:"interface"`
	Index         int       `json:"index"`
	Time          float64   `json:"time"` // s, as Player gives it
	Subscriptions []Matched `json:"subscriptions"`
	// Messages are those that the reading came of, as Player sends them, one
	// behind the other: header and body. Before a ranger's stands the answer
	// that told its configuration.
	Messages []byte          `json:"messages,omitempty"`
	Reading  json.RawMessage `json:"reading,omitempty"`

	// Latest is not sent: only subscriptions that keep the latest name the
	// reading, and the next one of its device waits for the acknowledgement.
	Latest bool `json:"-"`
}

// Gap says that From to To could not be kept. Without To the sequence has
// ended and Next is the source that follows it.
type Gap struct {
	Op     string  `json:"op"`
	Source string  `json:"source"`
	From   uint64  `json:"from"`
	To     *uint64 `json:"to,omitempty"`
	Why    string  `json:"why"`
	Next   string  `json:"next,omitempty"`
}

// States of a robot.
const (
	RobotUp       = "up"
	RobotAway     = "away"
	RobotOverflow = "overflow"
)

// Robot reports that a robot came, went, or that readings of it were lost before
// they reached the broker. It is away, whatever the reason, when its Player
// server is gone, or the broker that reads it is, or has not answered for three
// heartbeats. Away and up take turns: a robot of which nothing was told is up.
// Since is when that began; for one that is up, from when on its broker has read
// it without a break: what it sent between the two is missing. Of a device it
// tells that it alone is away, while others of the robot go on, and up again.
type Robot struct {
	Op     string  `json:"op"`
	Robot  string  `json:"robot"`
	Device string  `json:"device,omitempty"` // "laser:0"; "": the robot
	Source string  `json:"source"`
	State  string  `json:"state"`
	Lost   *uint64 `json:"lost,omitempty"` // readings, if known
	Since  float64 `json:"since"`          // s, Unix
}

// Name returns what is away or up: "r1", or of its devices "r1 laser:0". Names of
// robots have no blanks.
func (r *Robot) Name() string { return AwayName(r.Robot, r.Device) }

// AwayName returns the name of a robot or, unless that is "", of its device.
func AwayName(robot, device string) string {
	if device == "" {
		return robot
	}
	return robot + " " + device
}

// SplitAwayName returns what AwayName made the name of.
func SplitAwayName(name string) (robot, device string) {
	robot, device, _ = strings.Cut(name, " ")
	return robot, device
}

// Reply answers unsubscribe, command, list, request and unserve. With a Key it is kept
// until it is acknowledged.
type Reply struct {
	Op     string     `json:"op"`
	ID     string     `json:"id"`
	Key    string     `json:"key,omitempty"`
	OK     bool       `json:"ok"`
	Result any        `json:"result,omitempty"`
	Error  *ErrorInfo `json:"error,omitempty"`
}

// ErrorInfo is the error of a Reply.
type ErrorInfo struct {
	Code     Code      `json:"code"`
	Message  string    `json:"message"`
	Position *Position `json:"position,omitempty"`
}

// Heartbeat says that the broker lives.
type Heartbeat struct {
	Op     string  `json:"op"`
	Broker string  `json:"broker"`
	Time   float64 `json:"time"`           // s, Unix
	Term   uint64  `json:"term,omitempty"` // of a pair, in which what follows is said
}

// Error answers what could not be done, or tells of a fault later on.
type Error struct {
	Op         string    `json:"op"`
	ID         string    `json:"id,omitempty"`
	Code       Code      `json:"code"`
	Message    string    `json:"message"`
	Position   *Position `json:"position,omitempty"`
	Attachment *uint64   `json:"attachment,omitempty"` // for Conflict: the newest
}
