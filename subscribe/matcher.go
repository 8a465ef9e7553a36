package subscribe

import (
	"callboard/subscribe/protocol"
)

// Key names a client's set of subscriptions in the matcher. The broker
// chooses it; the matcher only hands it back.
type Key uint64

// Config configures a Matcher.
type Config struct {
	Zones           map[string][][2]float64 // polygons for inside(), in m; default none
	ConditionLength int                     // characters that a condition may have; default 4096
}

// Matcher holds the subscriptions and tests readings against them. Sessions
// read immutable snapshots of it and never wait; Install and Remove are for
// one goroutine at a time, Compile for any number.
type Matcher struct{}

// New makes a Matcher without subscriptions. An unusable zone is an error.
func New(c Config) (*Matcher, error) { return &Matcher{}, nil }

// Compile checks and compiles a subscription: condition, selected expressions
// and options. Identical texts share one program. Safe for concurrent use.
func (m *Matcher) Compile(s protocol.Subscription) (*Subscription, *Problem) { return nil, nil }

// Install makes set the whole set of key, as one change: each reading is
// tested by the old set or by the new one. Subscriptions that are the same as
// before (id, specification and allowed robots) keep their policy state,
// others begin anew. It returns the version in which the change is visible.
func (m *Matcher) Install(key Key, set []*Subscription) (version uint64) { return 0 }

// Remove takes the set of key away and returns the version in which it is gone.
func (m *Matcher) Remove(key Key) (version uint64) { return 0 }

// Version is that of the newest snapshot. Safe for concurrent use.
func (m *Matcher) Version() uint64 { return 0 }

// NewSession makes the matching state of one robot.
func (m *Matcher) NewSession(c SessionConfig) *Session { return nil }
