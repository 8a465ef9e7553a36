package overlay

import (
	"cmp"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Instant is a time in µs since 1970. The runtime hands it in; it never runs
// back between two steps of one process.
type Instant int64

// never is when what is not due is due.
const never = Instant(math.MaxInt64)

// Duration is a length of time in µs.
type Duration int64

// Second is one second.
const Second Duration = 1_000_000

// Seconds returns t as Unix time in s.
func (t Instant) Seconds() float64 { return float64(t) / float64(Second) }

// BrokerID names a broker in the network.
type BrokerID string

// Stamp names one life of a source broker's local registry: the time in µs
// when it was made, and greater than the last. It changes when the store was
// lost and when a key was forgotten that nobody unsubscribed.
type Stamp int64

// Epoch orders what is heard of one client: by attachment, then by edge
// broker, then by revision.
type Epoch struct {
	Attachment uint64
	Edge       BrokerID
	Revision   uint64
}

// Compare returns -1, 0 or +1 as e is older than, the same as, or newer than f.
func (e Epoch) Compare(f Epoch) int {
	if c := cmp.Compare(e.Attachment, f.Attachment); c != 0 {
		return c
	}
	if c := cmp.Compare(e.Edge, f.Edge); c != 0 {
		return c
	}
	return cmp.Compare(e.Revision, f.Revision)
}

// later returns the later of two epochs.
func later(e, f Epoch) Epoch {
	if e.Compare(f) < 0 {
		return f
	}
	return e
}

// Session is a client's life in the network, named by its birth: the epoch at
// which an edge broker first heard of it.
type Session Epoch

// String returns the word that clients know the session by.
func (s Session) String() string {
	return strconv.FormatUint(s.Attachment, 10) + "." + strconv.FormatUint(s.Revision, 10) + "." + string(s.Edge)
}

// ParseSession reads the word of a welcome: what String wrote, and before it
// perhaps what tells the token.
func ParseSession(word string) (Session, error) {
	_, birth := cutOwnerMark(word)
	parts := strings.SplitN(birth, ".", 3)
	if len(parts) == 3 && parts[2] != "" {
		attachment, err1 := strconv.ParseUint(parts[0], 10, 64)
		revision, err2 := strconv.ParseUint(parts[1], 10, 64)
		s := Session{Attachment: attachment, Edge: BrokerID(parts[2]), Revision: revision}
		if err1 == nil && err2 == nil && s.String() == birth {
			return s, nil
		}
	}
	return Session{}, fmt.Errorf("session %q is none that a broker gave; expected the word from welcome", clip(word))
}

// Key is what a route, a sequence and an inbox belong to: a client's session
// at one source broker. The text's (C, F), for all F at once.
type Key struct {
	Client  string // its id, behind the name of the token that it belongs to: ClientOf
	Session Session
	Source  BrokerID
	Stamp   Stamp
}

// Compare orders keys: by client, session, source broker, stamp.
func (k Key) Compare(l Key) int {
	if c := cmp.Compare(k.Client, l.Client); c != 0 {
		return c
	}
	if c := Epoch(k.Session).Compare(Epoch(l.Session)); c != 0 {
		return c
	}
	if c := cmp.Compare(k.Source, l.Source); c != 0 {
		return c
	}
	return cmp.Compare(k.Stamp, l.Stamp)
}

// SourceWord is the word that clients know a sequence by: source broker and
// stamp. It is opaque to them.
func SourceWord(source BrokerID, stamp Stamp) string {
	return string(source) + "." + strconv.FormatInt(int64(stamp), 10)
}

// ParseSourceWord reads what SourceWord wrote.
func ParseSourceWord(word string) (BrokerID, Stamp, error) {
	if dot := strings.LastIndexByte(word, '.'); dot > 0 {
		stamp, err := strconv.ParseInt(word[dot+1:], 10, 64)
		if err == nil && stamp > 0 && SourceWord(BrokerID(word[:dot]), Stamp(stamp)) == word {
			return BrokerID(word[:dot]), Stamp(stamp), nil
		}
	}
	return "", 0, fmt.Errorf("source %q is none that a broker gave; expected the word from a notify, gap or subscribed", clip(word))
}

// clip shortens what a client sent, for messages about it.
func clip(s string) string {
	if len(s) > 64 {
		return strings.ToValidUTF8(s[:64], "") + "…"
	}
	return s
}
