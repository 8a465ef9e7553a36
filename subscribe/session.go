package subscribe

import (
	"callboard/player"
)

// SessionConfig configures a Session.
type SessionConfig struct {
	Robot string // the robot's name in the network
	World string // the world it is in, "" if not known
	// Emit takes what matched, in order, in the session's goroutine. What it
	// points to is the receiver's for good and must not be changed.
	Emit func(*Matched)
	// Failed is told once per subscription that its condition, or a selected
	// expression, failed while it ran; nil means nobody is told.
	Failed func(Failure)
}

// Failure is an expression that failed while it ran.
type Failure struct {
	Key     Key
	ID      string
	Message string
}

// Matched is one reading that subscriptions matched.
type Matched struct {
	Device    *player.Device
	Interface string // as Player names it: laser, ranger, …
	Index     int
	Time      float64 // s, the reading's
	// Reading is the reading's JSON object, encoded once for all; nil if
	// every matching subscription selects.
	Reading []byte
	Matches []KeyMatches // by ascending key
}

// KeyMatches are the subscriptions of one key that a reading matched.
type KeyMatches struct {
	Key           Key
	Subscriptions []Match // by ascending id
}

// Match is one subscription that a reading matched.
type Match struct {
	ID     string
	State  *bool  // for the trigger "change": the state that it changed to
	Values []byte // for select: a JSON object; nil if the reading itself goes out
	Latest bool   // keep is "latest": of what waits only the newest counts
}

// Session tests the readings of one robot, across reconnections. All methods
// belong to one goroutine, except Counts, Sees and Stats.
type Session struct{}

// Up begins a session with the robot's Player server: trigger state begins
// anew. devices are all that were opened of this robot.
func (s *Session) Up(devices []*player.Device) {}

// Changed takes what was learned of a device since: its geometry, its
// configuration, or that it exists.
func (s *Session) Changed(d *player.Device) {}

// Arrive takes one reading. A scan that may still be completed is held until
// a later reading or Flush.
func (s *Session) Arrive(r player.Reading) {}

// Flush gives what is held for completion: the input ran dry for now.
func (s *Session) Flush() {}

// Down ends the session with the robot's Player server: what is held is
// given, states of the trigger "change" that were true are told to be false
// (with the last reading of the robot), and all readings cease to stand.
func (s *Session) Down() {}

// Counts tells whether the robot counts among those that sub matches now: it
// is one of its robots, has a device that sub asks for, and all interfaces
// that the condition names have given a reading. Safe for concurrent use.
func (s *Session) Counts(sub *Subscription) bool { return false }

// Sees tells that everything up to version of the matcher is visible to the
// session: a reading that it tests from now on, or is testing, is tested by
// that version or a later one. Safe for concurrent use.
func (s *Session) Sees(version uint64) bool { return false }

// Stats counts what a session did, for metrics. Safe for concurrent use.
func (s *Session) Stats() Stats { return Stats{} }

// Stats are a session's counts since it was made.
type Stats struct {
	Readings uint64            // readings tested (one scan is one)
	Matched  uint64            // of them, those that something matched
	Failures uint64            // expressions that failed while they ran
	Skipped  map[string]uint64 // messages that gave no reading, by reason
}
