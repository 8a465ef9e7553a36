package subscribe

import (
	"maps"
	"slices"
	"sync/atomic"

	"callboard/player"
	"callboard/subscribe/condition"
	"callboard/subscribe/view"
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
	// Bare leaves Matched.Reading nil: nobody wants the reading itself.
	Bare bool
	// Observe is told of each reading after it was tested; what it points to is
	// valid during the call. nil means nobody is told.
	Observe func(*view.Arrival)
}

// Failure is an expression that failed while it ran.
type Failure struct {
	Key     Key
	ID      string
	Message string
}

// Session tests the readings of one robot, across reconnections. All methods
// belong to one goroutine, except Counts and Stats.
type Session struct {
	matcher *Matcher
	config  SessionConfig
	by      *Change // by which readings are tested; nil: by the newest
	mute    bool    // nobody is told what matches
	blind   bool    // nothing is tested
	robot   *view.Robot
	env     condition.Env
	machine condition.Machine

	snapshot *snapshot              // that the last reading met
	scopes   []uint64               // of it, that the robot is in
	upTo     uint64                 // scopes up to this number have been looked at
	indexes  [allKinds][]*kindIndex // of it, for the robot, by kind

	reading    uint64          // numbers readings
	results    table[result]   // of programs, for this reading
	seen       table[struct{}] // groups that were visited, in this index
	states     map[*entry]*state
	watching   [allKinds][]watched // by kind
	endedAt    uint64              // ended entries when the states were swept last
	told       map[*group]bool
	sure       []*entry    // that match, found at once
	candidates []candidate // to be evaluated
	found      []found     // others that match
	buffer     []byte
	lengths    map[*player.Device]int // of their last reading, encoded

	devices atomic.Pointer[[]player.Addr]
	have    atomic.Uint32 // view.Kinds that have a reading
	counts  counts
}

// result is what a program gave for a reading.
type result struct {
	truth  bool
	failed bool
}

// found is an entry that a reading matched.
type found struct {
	key   Key // the entry's
	entry *entry
	state bool
}

// NewSession makes the matching state of one robot.
func (m *Matcher) NewSession(c SessionConfig) *Session {
	s := &Session{matcher: m, config: c, states: map[*entry]*state{}, told: map[*group]bool{}, lengths: map[*player.Device]int{}, snapshot: &snapshot{}}
	s.robot = view.NewRobot(s.test)
	s.env.Robot, s.env.World = c.Robot, c.World
	s.devices.Store(new([]player.Addr))
	return s
}

// Up begins a session with the robot's Player server: trigger state begins
// anew. devices are all that were opened of this robot.
func (s *Session) Up(devices []*player.Device) {
	s.begin()
	defer s.end()
	s.leave()
	clear(s.lengths)
	s.robot.Up(devices)
	addrs := make([]player.Addr, 0, len(devices))
	for _, d := range devices {
		addrs = append(addrs, d.Addr)
	}
	s.devices.Store(&addrs)
}

// Changed takes what was learned of a device since: its geometry, its
// configuration, or that it exists.
func (s *Session) Changed(d *player.Device) {
	s.begin()
	defer s.end()
	clear(s.lengths)
	s.robot.Changed(d)
	s.know(d.Addr)
}

func (s *Session) know(a player.Addr) {
	if old := *s.devices.Load(); !slices.Contains(old, a) {
		addrs := append(slices.Clone(old), a)
		s.devices.Store(&addrs)
	}
}

// Arrive takes one reading. A scan that may still be completed is held until
// a later reading or Flush.
func (s *Session) Arrive(r player.Reading) {
	s.begin()
	defer s.end()
	s.robot.Arrive(r)
	if s.robot.Devices() != len(*s.devices.Load()) {
		s.know(r.Device.Addr)
	}
}

// Holding reports whether something is held that Flush would return.
func (s *Session) Holding() bool { return s.robot.Holding() }

// Flush returns what is held for completion: the input ran dry for now.
func (s *Session) Flush() {
	s.begin()
	defer s.end()
	s.robot.Flush()
}

// Down ends the session with the robot's Player server: what is held is
// given, states of the trigger "change" that were true are told to be false
// (with the last reading of the device that tested them), and all readings
// cease to stand.
func (s *Session) Down() {
	s.begin()
	defer s.end()
	s.robot.Flush()
	s.leave()
	s.robot.Down()
	s.devices.Store(new([]player.Addr))
}

// Find tests a reading and returns how many subscriptions it matches, without
// telling: the work of the matcher alone, for measuring. Policies see it.
func (s *Session) Find(a *view.Arrival) (matches int) {
	s.begin()
	defer s.end()
	s.find(a)
	return len(s.sure) + len(s.found)
}

func (s *Session) begin() {
	snap := s.matcher.snapshot.Load()
	if s.by != nil {
		snap = s.by.snapshot
	}
	if snap != s.snapshot {
		s.robot.Keep(slices.ContainsFunc(snap.messages, func(e *entry) bool { return e.sub.wantsRobot(s.config.Robot) }))
	}
	s.take(snap)
}

func (s *Session) end() {
	s.have.Store(uint32(s.robot.Have()))
	s.count()
}

// Counts reports whether the robot counts among those that sub matches now: it
// is one of its robots, has a device that sub asks for, and all interfaces
// that the condition names have given a reading. Safe for concurrent use.
func (s *Session) Counts(sub *Subscription) bool {
	if !view.Kinds(s.have.Load()).Has(sub.program.Named()) || !sub.wantsRobot(s.config.Robot) {
		return false
	}
	return slices.ContainsFunc(*s.devices.Load(), func(a player.Addr) bool {
		return sub.wantsDevice(a.Interf.String(), a.String())
	})
}

// take makes snap the snapshot that readings meet.
func (s *Session) take(snap *snapshot) {
	if snap == s.snapshot {
		return
	}
	before := s.snapshot.entries
	if snap.version < s.snapshot.version { // of a shadow
		s.scopes, s.upTo, s.endedAt = s.scopes[:0], 0, 0
	}
	s.snapshot = snap
	s.scopes = slices.DeleteFunc(s.scopes, func(n uint64) bool {
		_, ok := snap.scopes.get(n)
		return !ok
	})
	snap.scopes.each(s.upTo+1, func(n uint64, in scoped) {
		if s.upTo = n; in.scope.has(s.config.Robot) {
			s.scopes = append(s.scopes, n)
		}
	})
	for k := range s.indexes {
		clear(s.indexes[k])
		s.indexes[k] = s.indexes[k][:0]
	}
	own, _ := snap.robot(s.config.Robot)
	s.enter(&own)
	for _, n := range s.scopes {
		in, _ := snap.scopes.get(n)
		s.enter(&in.bucket)
	}
	clear(s.told)
	// States of what has ended go when they may be as many as those in use.
	if 2*(snap.ended-s.endedAt) > uint64(len(s.states)) {
		s.endedAt = snap.ended
		for k := range s.watching {
			s.watching[k] = slices.DeleteFunc(s.watching[k], func(w watched) bool { return s.over(w.entry) })
		}
		maps.DeleteFunc(s.states, func(e *entry, _ *state) bool { return s.over(e) })
	}
	s.watchFrom(before + 1)
}

// enter has readings test what is in a bucket.
func (s *Session) enter(b *bucket) {
	b.each(func(k int, r *kindIndex) { s.indexes[k] = append(s.indexes[k], r) })
}

// over reports that an entry is not in the snapshot any more.
func (s *Session) over(e *entry) bool {
	v := e.ended.Load()
	return v != 0 && v <= s.snapshot.version
}

// state returns the policy state of an entry. What has none has seen that its
// condition is false.
func (s *Session) state(e *entry) *state {
	st := s.states[e]
	if st == nil {
		st = &state{told: true}
		s.states[e] = st
	}
	return st
}
