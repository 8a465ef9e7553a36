// Package overlay holds the rules of a broker: who gets which notification,
// in what order, and what becomes of it while its client is slow or away. It
// is a pure state machine: an input and the time go in, outputs and records
// come out. It reads no clock, starts no goroutine, touches no socket, and
// the same inputs give the same outputs. DESIGN.md tells how it is built; rule
// names (S1, L4, …) are those of the overlay's description there.
package overlay

import (
	"errors"
	"fmt"

	"callboard/subscribe/protocol"
)

// Config says how a broker behaves. Zero values are the defaults.
type Config struct {
	ID            BrokerID             // this broker's name in the network; required
	Heartbeat     Duration             // the period of heartbeats and refreshing; default 1 s
	Brokers       []protocol.BrokerURL // what welcome tells of where clients can attach
	Subscriptions int                  // of one client; default 10,000
	Clients       int                  // sessions kept, absent ones included; default 100,000
	Window        int                  // notifications of a source that go out unacknowledged; default 1,024
	WindowBytes   int                  // and their bytes; default 1 MiB
	Inbox         Limits               // of each inbox
}

// Limits bound an inbox: what is kept for one client of one source broker.
type Limits struct {
	Count int      // notifications; default 10,000
	Bytes int      // default 16 MiB
	Keep  Duration // how long one waits, and how long a session lives without its client; default 600 s
}

// Why tells why something could not be kept.
type Why uint8

// Reasons for a gap.
const (
	WhyOverflow Why = iota + 1 // more waited than the inbox may hold
	WhyExpired                 // it waited longer than the inbox keeps things
	WhyLost                    // the source broker lost its store
)

// String gives the word that clients are told.
func (w Why) String() string {
	switch w {
	case WhyOverflow:
		return "overflow"
	case WhyExpired:
		return "expired"
	case WhyLost:
		return "lost"
	}
	return fmt.Sprintf("why %d", uint8(w))
}

// Broker is the state machine of one broker. It belongs to one goroutine.
type Broker struct {
	cfg Config
}

// New makes a broker that waits for Restore and Start.
func New(cfg Config) (*Broker, error) {
	if cfg.ID == "" {
		return nil, errors.New("overlay: a broker needs an id")
	}
	return &Broker{cfg: cfg}, nil
}

// Step takes in what happened at the time now.
func (b *Broker) Step(now Instant, in Input) {}

// Records gives what the steps since the last call want stored, to be written
// before their outputs are carried out. They are valid until the next Step.
func (b *Broker) Records() []Record { return nil }

// Outputs gives what the steps since the last call want done, in order. The
// slice is valid until the next Step, what it points to for good.
func (b *Broker) Outputs() []Output { return nil }

// Deadline is when the next Tick is due.
func (b *Broker) Deadline() Instant { return 0 }

// Subscription gives a subscription of the client on conn, to merge an update with.
func (b *Broker) Subscription(conn Conn, id string) (*Subscription, bool) { return nil, false }
