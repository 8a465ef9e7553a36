package robots

import (
	"fmt"
	"path"
	"slices"
	"sync"
	"time"

	"callboard/bridge/shadow"
	"callboard/player"
	"callboard/player/client"
	"callboard/subscribe"
	"callboard/subscribe/protocol"
)

// session is the connection with one Player server, and its robots. It is the
// client's handler: except for testing, its fields belong to the client's
// goroutine once that runs.
type session struct {
	owner   *Robots
	server  Server
	client  *client.Client
	robots  []*robot
	devices map[device]*opened

	decoded time.Time // when the newest message was
	raw     []byte    // its body; of a pair
	holds   bool      // the newest message's robot holds something for completion

	// testing is held while readings are tested, see Robots.Barrier.
	testing sync.Mutex

	simulation *session // with the Player server that server.Simulation names; nil: none is known

	stands gate          // open while the session stands
	upped  chan struct{} // holds one: a session has begun
	planMu sync.Mutex
	world  string // that the server's map is of, once that is known
	plan   []byte // of it, as JSON
}

// device identifies a device within one connection.
type device struct {
	interf player.Interface
	index  uint16
}

// opened is a device that readings may come from.
type opened struct {
	robot *robot
	known *player.Device
}

func newSession(owner *Robots, server Server) (*session, error) {
	s := &session{owner: owner, server: server, upped: make(chan struct{}, 1)}
	if server.Robots == nil && server.Robot != "" {
		s.robots = append(s.robots, newRobot(s, server.Robot, server.Devices))
	}
	for _, name := range sortedKeys(server.Robots) {
		s.robots = append(s.robots, newRobot(s, name, server.Robots[name]))
	}
	var err error
	s.client, err = client.New(client.Config{
		Address: server.Address,
		Dial:    server.Dial,
		Open:    func(a player.Addr) bool { return s.robotOf(a) != nil || a.Interf == player.InterfaceMap },
		Twin:    s.named,
		Handler: s,
		Silent:  s.silent,
		Group: func(a player.Addr) string {
			if r := s.robotOf(a); r != nil {
				return r.name
			}
			return ""
		},
		Holding: func() bool { return s.holds },
		Relay:   server.Relay,
		Raw:     s.takeRaw(),
		Room:    owner.config.Room,
		Logger:  owner.log.With("player", server.Address),
	})
	if err != nil {
		return nil, fmt.Errorf("robots: Player server %s: %w", server.Address, err)
	}
	if server.Attach != nil {
		server.Attach(s.client)
	}
	return s, nil
}

// robotOf returns which robot a device belongs to; nil means that it is not to
// be opened.
func (s *session) robotOf(a player.Addr) *robot {
	for _, r := range s.robots {
		if wanted(r.patterns, a) {
			return r
		}
	}
	return nil
}

// wanted reports whether patterns ask for a device. "*" stands for all that
// conditions know; what is named is opened whatever it is.
func wanted(patterns []string, a player.Addr) bool {
	known := slices.Contains(subscribe.Interfaces(), a.Interf.String())
	if len(patterns) == 0 {
		return known
	}
	for _, p := range patterns {
		whole, _ := path.Match(p, a.String())
		kind, _ := path.Match(p, a.Interf.String())
		if (whole || kind) && (known || p != "*") {
			return true
		}
	}
	return false
}

// named reports whether a device is asked for by more than "*".
func (s *session) named(a player.Addr) bool {
	r := s.robotOf(a)
	return r != nil && slices.ContainsFunc(r.patterns, func(p string) bool { return p != "*" && wanted([]string{p}, a) })
}

// Up takes the devices of a session that begins.
func (s *session) Up(devices []client.Device) {
	s.testing.Lock()
	defer s.testing.Unlock()
	s.devices = make(map[device]*opened, len(devices))
	byRobot := map[*robot][]*player.Device{}
	for _, d := range devices {
		if r := s.robotOf(d.Addr); r != nil {
			known := s.describe(r, d)
			s.devices[device{d.Interf, d.Index}] = &opened{r, known}
			byRobot[r] = append(byRobot[r], known)
		}
	}
	for _, r := range s.robots {
		if len(byRobot[r]) == 0 {
			r.away(fmt.Errorf("the Player server %s has no device of it", s.server.Address))
			continue
		}
		r.begin(byRobot[r])
		r.up(byRobot[r])
	}
	s.stands.open()
	select {
	case s.upped <- struct{}{}:
	default:
	}
}

func (s *session) describe(r *robot, d client.Device) *player.Device {
	return &player.Device{
		Addr: d.Addr, Robot: r.name, World: s.server.World, Driver: d.Driver,
		Geometry: d.Geometry, Config: d.Config,
	}
}

// Changed takes what was learned of a device later.
func (s *session) Changed(d client.Device) {
	s.testing.Lock()
	defer s.testing.Unlock()
	if o := s.devices[device{d.Interf, d.Index}]; o != nil {
		o.known = s.describe(o.robot, d)
		o.robot.changed(o.known)
		o.robot.learned(o.known)
	}
}

// Message takes one reading.
func (s *session) Message(h player.Header, payload any) {
	s.holds = false
	o := s.devices[device{h.Interf, h.Index}]
	if o == nil {
		return
	}
	s.testing.Lock()
	defer s.testing.Unlock()
	s.decoded = time.Now()
	s.holds = o.robot.arrive(player.Reading{Device: o.known, Subtype: h.Subtype, Time: h.Timestamp, Payload: payload})
}

// silent notes that a device has fallen silent, or is heard again.
func (s *session) silent(a player.Addr, silent bool) {
	if o := s.devices[device{a.Interf, a.Index}]; o != nil {
		o.robot.silence(a.String(), silent)
	}
}

// Round releases readings that were held for completion.
func (s *session) Round() {
	s.testing.Lock()
	defer s.testing.Unlock()
	for _, r := range s.robots {
		r.flush()
	}
}

// Overflow reports that the server dropped readings for want of room. Which
// robot they were of is known only if the connection has one.
func (s *session) Overflow(lost uint64) {
	for _, r := range s.robots {
		n := lost
		if len(s.robots) > 1 {
			n = 0
		}
		r.overflow(n)
	}
}

// Down ends the session; the client connects again by itself.
func (s *session) Down(err error) {
	s.testing.Lock()
	defer s.testing.Unlock()
	s.devices = nil
	s.stands.shut()
	for _, r := range s.robots {
		r.end()
		r.away(err)
	}
}

func newRobot(s *session, name string, patterns []string) *robot {
	r := &robot{name: name, patterns: patterns, session: s, state: protocol.RobotAway, since: s.now()}
	r.queue, r.drive.robot = newCommands(r), r
	c := &s.owner.config
	emit := func(m *subscribe.Matched) { c.Sink.Matched(name, m, s.decoded) }
	if c.Recorder != nil {
		r.trail = c.Recorder.Trail(name)
		emit = func(m *subscribe.Matched) { r.matched = append(r.matched, m) }
	}
	r.matching = c.Matcher.NewSession(subscribe.SessionConfig{Robot: name, World: s.server.World, Emit: emit, Failed: c.Sink.Failed})
	if c.Shadow {
		r.shadow = shadow.NewRobot(r.matching, r.trail)
	}
	return r
}
