package relay

import (
	"slices"
	"strconv"
	"strings"

	callboard "callboard/clients/go"
	"callboard/subscribe/protocol"

	"github.com/nats-io/nats.go"
)

// The headers of a message. Those of a notification are all there but for Part, which
// only one of several has, and To.
const (
	headerKind         = "Callboard-Kind"   // one of the kinds
	headerSource       = "Callboard-Source" // the notification's source and its number there
	headerSeq          = "Callboard-Seq"
	headerTo           = "Callboard-To"   // of a gap: its last number; none: the sequence has ended
	headerNext         = "Callboard-Next" // of a gap: the source that follows
	headerPart         = "Callboard-Part" // "1/2": of a notification of several subscriptions
	headerRobot        = "Callboard-Robot"
	headerDevice       = "Callboard-Device"
	headerState        = "Callboard-State" // of a robot
	headerTime         = "Callboard-Time"  // s: the reading's, or since when the robot's state is so
	headerSubscription = "Callboard-Subscription"
	headerError        = "Callboard-Error" // why there is no body, or of an answer: the code
)

// Kinds of messages.
const (
	kindNotify = "notify"
	kindGap    = "gap"
	kindRobot  = "robot"
)

// memory is what a relay knows of its past: what a client needs to go on, as of some
// message of the stream. It is kept beside the stream now and then; what has come
// since is read from the stream's messages.
type memory struct {
	Stream   string          `json:"stream"`
	Sequence uint64          `json:"sequence"` // of the stream's message
	State    callboard.State `json:"state"`    // with the subscriptions that were asked for
	Parts    map[string]part `json:"parts,omitempty"`
}

// part is how far a source's notification of several subscriptions has come.
type part struct {
	Seq  uint64 `json:"seq"`
	Done int    `json:"done"`
}

// begun starts a session.
func (m *memory) begun(session string) {
	m.State.Session, m.State.Num, m.State.Away, m.Parts = session, map[string]uint64{}, nil, map[string]part{}
}

// learn takes a message that is in the stream.
func (m *memory) learn(h nats.Header) {
	source := h.Get(headerSource)
	switch h.Get(headerKind) {
	case kindNotify:
		seq, _ := strconv.ParseUint(h.Get(headerSeq), 10, 64)
		if k, of, several := strings.Cut(h.Get(headerPart), "/"); several && k != of {
			done, _ := strconv.Atoi(k)
			m.Parts[source] = part{seq, done}
			return
		}
		delete(m.Parts, source)
		m.State.Num[source] = max(m.State.Num[source], seq)
	case kindGap:
		delete(m.Parts, source)
		if to, err := strconv.ParseUint(h.Get(headerTo), 10, 64); err == nil {
			m.State.Num[source] = max(m.State.Num[source], to)
			return
		}
		delete(m.State.Num, source)
		if next := h.Get(headerNext); next != "" {
			m.State.Num[next] = 0
		}
	case kindRobot:
		name := protocol.AwayName(h.Get(headerRobot), h.Get(headerDevice))
		switch at, found := slices.BinarySearch(m.State.Away, name); {
		case h.Get(headerState) == protocol.RobotAway && !found:
			m.State.Away = slices.Insert(m.State.Away, at, name)
		case h.Get(headerState) == protocol.RobotUp && found:
			m.State.Away = slices.Delete(m.State.Away, at, at+1)
		}
	}
}

// has reports whether a numbered message is in the stream: one that the broker sends
// again.
func (m *memory) has(h nats.Header) bool {
	source, number := h.Get(headerSource), h.Get(headerSeq)
	if h.Get(headerKind) == kindGap {
		number = h.Get(headerTo)
	}
	n, err := strconv.ParseUint(number, 10, 64)
	if err != nil {
		return false // it has no number
	}
	if k, _, several := strings.Cut(h.Get(headerPart), "/"); several && n == m.Parts[source].Seq {
		done, _ := strconv.Atoi(k)
		return done <= m.Parts[source].Done
	}
	return n <= m.State.Num[source]
}
