// Package robots keeps one supervised session with every Player server and
// turns what it sends into matched readings by robot. It is the way of all
// readings into the broker, and of all commands out of it.
package robots

import (
	"context"
	"errors"
	"log/slog"
	"math"
	"net"
	"sort"
	"sync"
	"time"

	"callboard/bridge/clock"
	"callboard/bridge/lograte"
	"callboard/bridge/metric"
	"callboard/bridge/shadow"
	"callboard/player"
	"callboard/player/client"
	"callboard/subscribe"
	"callboard/subscribe/protocol"

	"golang.org/x/sync/errgroup"
)

// Server is one Player server to read.
type Server struct {
	Address string              // host:port
	Robot   string              // the robot that all its devices belong to; or
	Robots  map[string][]string // several robots, each with the devices that are its own
	World   string              // the world they are in, "" if not known
	Devices []string            // which to open, with Robot; none or "*": all that conditions know
	// Simulation is where the robots' simulation is, unless their own Player
	// server has it; nil: that is not known.
	Simulation *Simulation
	// Dial connects; nil is TCP.
	Dial func(ctx context.Context, address string) (net.Conn, error)
	// Relay takes what the server sends as it comes, beside the matching; nil:
	// nobody. Attach is told which session it is that Relay belongs to.
	Relay  client.Relay
	Attach func(*client.Client)
	// Gateway returns for each robot where Player programs find it. Default:
	// nowhere.
	Gateway func(robot string) (address string, index int)
	// GatewayIndex returns the index of a robot's device there. Needed with
	// Gateway.
	GatewayIndex func(robot string, device player.Addr) (index int, ok bool)
}

// Simulation is the simulation device of a Player server, which has poses of
// the robots in it, by their names.
type Simulation struct {
	Address string // host:port
	Index   uint16
}

// Config is what a Robots needs.
type Config struct {
	Servers []Server
	Matcher *subscribe.Matcher
	Sink    Sink
	Metrics *metric.Set  // callboard_robots_* are added; nil: none
	Logger  *slog.Logger // default: discard
	Clock   clock.Clock  // of Event.Since and Status; default: one that begins now
	// Recorder notes what is tested, for the standby of a pair; then readings go to
	// Post, those of one message together. Nil: of no pair.
	Recorder *shadow.Recorder
	Post     func(robot string, all []*subscribe.Matched, decoded time.Time, p *shadow.Piece)
	// Shadow: it is the standby, which follows the active until GoOn.
	Shadow bool
	// Room is asked before readings of a server that waits for its clients are
	// read, see client.Config. Default: there is always room.
	Room func() <-chan struct{}
}

// Sink takes what comes from the robots. Its methods are called from the
// sessions' goroutines and never block.
type Sink interface {
	// Matched takes a reading that subscriptions matched, and when it was
	// decoded from Player's bytes.
	Matched(robot string, m *subscribe.Matched, decoded time.Time)
	// Robot takes what became of a robot.
	Robot(e Event)
	// Failed takes an expression that failed while it ran, once each.
	Failed(f subscribe.Failure)
}

// Event is what became of a robot: it is up (again), away, or readings of it
// were lost before they arrived. Or what became of one of its devices, which is
// away while others go on, or up again; all devices of a robot that comes up are
// up.
type Event struct {
	Robot   string
	Device  string // "laser:0"; "": the robot
	World   string
	State   string   // protocol.RobotUp, RobotAway or RobotOverflow; "": as it was, but its World is known now
	Devices []string // "laser:0" …, if it is up
	Bounds  []Bound  // of values of its readings, if it is up
	Lost    uint64   // readings lost; 0 is not known
	Since   float64  // s, Unix
}

// Robots supervises the Player sessions of one broker.
type Robots struct {
	config   Config
	sessions []*session
	byName   map[string]*robot // immutable after New
	names    []string          // sorted
	grids    grids
	ending   chan struct{} // closed when Run is to end
	log      *slog.Logger
	comings  *lograte.Log // of robots
}

// New checks the configuration; Run connects.
func New(c Config) (*Robots, error) {
	if c.Matcher == nil || c.Sink == nil {
		return nil, errors.New("robots: no matcher or sink given")
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	if !c.Clock.Started() {
		c.Clock = clock.New()
	}
	r := &Robots{config: c, byName: map[string]*robot{}, ending: make(chan struct{}), log: c.Logger, comings: lograte.New(c.Logger)}
	for _, server := range c.Servers {
		s, err := newSession(r, server)
		if err != nil {
			return nil, err
		}
		r.sessions = append(r.sessions, s)
		for _, one := range s.robots {
			if _, taken := r.byName[one.name]; taken {
				return nil, errors.New("robots: two robots are named " + one.name)
			}
			r.byName[one.name] = one
			r.names = append(r.names, one.name)
		}
	}
	sort.Strings(r.names)
	if err := r.findSimulations(); err != nil {
		return nil, err
	}
	if c.Metrics != nil {
		r.measure(c.Metrics)
	}
	return r, nil
}

// Run keeps the sessions until ctx ends. Before they do, the robots stop whose
// velocity has an end: nobody would be there to stop them.
func (r *Robots) Run(ctx context.Context) error {
	defer r.comings.Close()
	group, running := errgroup.WithContext(ctx)
	connected, disconnect := context.WithCancel(context.WithoutCancel(ctx))
	defer disconnect()
	for _, s := range r.sessions {
		group.Go(func() error { return s.client.Run(connected) })
		group.Go(func() error { s.fetchPlans(running); return nil })
	}
	for _, one := range r.byName {
		group.Go(func() error { one.queue.run(running); return nil })
	}
	group.Go(func() error { // also without sessions
		<-running.Done()
		close(r.ending)
		var stops sync.WaitGroup
		for _, one := range r.byName {
			stops.Go(one.drive.end)
		}
		stops.Wait()
		disconnect()
		return nil
	})
	err := group.Wait()
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// TellAgain tells the sink what has become of all robots: it did not listen before.
func (r *Robots) TellAgain() {
	for _, name := range r.names {
		r.byName[name].tellAgain()
	}
}

// Barrier returns when every reading whose test had begun has been handed to
// the sink: what is tested afterwards sees all that the matcher holds now.
func (r *Robots) Barrier() {
	for _, s := range r.sessions {
		s.testing.Lock()
		//lint:ignore SA2001 waiting for the holder is all that is wanted
		s.testing.Unlock()
	}
}

// Count returns how many robots a subscription matches now.
func (r *Robots) Count(sub *subscribe.Subscription) int {
	n := 0
	for _, one := range r.byName {
		if one.matching.Counts(sub) {
			n++
		}
	}
	return n
}

// Reads reports whether a robot is one of these.
func (r *Robots) Reads(robot string) bool { return r.byName[robot] != nil }

// Command carries one command to its robot, behind those that came before,
// and waits for the answer.
func (r *Robots) Command(ctx context.Context, c protocol.Command) (any, error) {
	one := r.byName[c.Robot]
	if one == nil {
		return nil, fail(protocol.NotFound, "no robot is named %q here", c.Robot)
	}
	known, args, err := lookup(c)
	if err != nil {
		return nil, err
	}
	return one.queue.do(ctx, known, args, c.Index, c.TTL)
}

// Device is one device as lists show it.
type Device struct {
	Interface string `json:"interface"`
	Index     int    `json:"index"`
	Driver    string `json:"driver,omitempty"`
	// GatewayIndex is its index where Player programs find the robot.
	GatewayIndex *int `json:"gateway_index,omitempty"`
	// Silent is since when it has been away while others of the robot go on (s,
	// Unix); 0: it is not.
	Silent float64 `json:"silent,omitempty"`
	// Geometry is where it sits on its robot, once that is known.
	Geometry *Geometry `json:"geometry,omitempty"`
}

// Geometry is a device's place and size on its robot. Poses are x, y, z, roll,
// pitch, yaw in m and rad; sizes are length (along x), width, height in m.
type Geometry struct {
	Pose         [6]float64   `json:"pose"`
	Size         [3]float64   `json:"size"`
	Elements     [][6]float64 `json:"elements,omitempty"` // of a device that has several, such as a sonar ring; on the device
	ElementSizes [][3]float64 `json:"element_sizes,omitempty"`
}

func newGeometry(g *player.Geometry) *Geometry {
	if g == nil {
		return nil
	}
	pose := func(p player.Pose) [6]float64 {
		return [6]float64{finite(p.X), finite(p.Y), finite(p.Z), finite(p.Roll), finite(p.Pitch), finite(p.Yaw)}
	}
	size := func(s player.Size) [3]float64 { return [3]float64{finite(s.L), finite(s.W), finite(s.H)} }
	out := &Geometry{Pose: pose(g.Pose), Size: size(g.Size)}
	for _, e := range g.Elements {
		out.Elements = append(out.Elements, pose(e))
	}
	for _, s := range g.ElementSizes {
		out.ElementSizes = append(out.ElementSizes, size(s))
	}
	return out
}

// Geometry returns it in Player's vocabulary, nil for nil.
func (g *Geometry) Geometry() *player.Geometry {
	if g == nil {
		return nil
	}
	pose := func(p [6]float64) player.Pose {
		return player.Pose{X: p[0], Y: p[1], Z: p[2], Roll: p[3], Pitch: p[4], Yaw: p[5]}
	}
	size := func(s [3]float64) player.Size { return player.Size{L: s[0], W: s[1], H: s[2]} }
	out := &player.Geometry{Pose: pose(g.Pose), Size: size(g.Size)}
	for _, e := range g.Elements {
		out.Elements = append(out.Elements, pose(e))
	}
	for _, s := range g.ElementSizes {
		out.ElementSizes = append(out.ElementSizes, size(s))
	}
	return out
}

// finite replaces what JSON has no number for: real servers leave fields that
// they do not use as they were in memory.
func finite(v float64) float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return 0
	}
	return v
}

// Robot is one robot as lists show it.
type Robot struct {
	Robot    string            `json:"robot"`
	World    string            `json:"world,omitempty"`
	Player   string            `json:"player"`                  // address of its Player server
	Gateway  string            `json:"gateway,omitempty"`       // where Player programs find it
	Number   int               `json:"gateway_index,omitempty"` // by index, on a port that robots share
	State    string            `json:"state"`
	Since    float64           `json:"since"` // s, Unix
	Devices  []Device          `json:"devices"`
	Readings uint64            `json:"readings"` // tested so far
	Matched  uint64            `json:"matched"`
	Lost     uint64            `json:"lost"` // before they reached this broker
	Failures uint64            `json:"failures"`
	Silences uint64            `json:"silences"`          // how often one of its devices fell silent
	Skipped  map[string]uint64 `json:"skipped,omitempty"` // messages that gave no reading, by reason
	Error    string            `json:"error,omitempty"`   // why it is away
}

// List describes all robots, by name.
func (r *Robots) List() []Robot {
	out := make([]Robot, len(r.names))
	for i, name := range r.names {
		out[i] = r.byName[name].describe()
	}
	return out
}
