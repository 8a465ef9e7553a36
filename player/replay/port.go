package replay

import (
	"fmt"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"callboard/player"
	"callboard/player/iface"
	"callboard/player/run"
	"callboard/player/server"
)

// driverName is what clients are told, as by Player's own reader.
const driverName = "readlog"

// logAddr is the device by which clients control the replay, on every port.
var logAddr = player.Addr{Interf: player.InterfaceLog}

// Port is one Player server of the recording: a server.Driver that serves the
// devices that it had, and log:0. All Ports of a Replay have one time line.
type Port struct {
	// Recorded is the TCP port that it had.
	Recorded uint32
	// Robots are those behind it, in the order of the recording.
	Robots []string
	// Source is the number of the source that it is from: of the first, if its
	// robots are in several.
	Source int

	replay   *Replay
	host     uint32
	infos    []server.DeviceInfo
	of       map[string][]string // devices by robot: "laser:0"
	byKey    map[key]*device
	pub      server.Publisher
	time     atomic.Uint64             // bits of the newest message's time, in s
	endedAt  atomic.Pointer[time.Time] // nil: it goes on
	everOpen atomic.Bool               // since the replay began
	missed   uint64                    // messages before it was; of Run
}

// key is a device on its port.
type key struct {
	interf player.Interface
	index  uint16
}

// place is a device in a source.
type place struct {
	source int
	robot  string // as recorded
	key    key
}

// device is a recorded device, as it is served.
type device struct {
	port *Port
	addr player.Addr

	mu      sync.Mutex
	answers map[uint8]any // by subtype of the request; the payloads are not changed
}

// arrange makes the ports, and finds out what cannot be served together.
func (r *Replay) arrange() error {
	r.devices = map[place]*device{}
	a := arrangement{replay: r, robots: map[string]*served{}}
	for i, s := range r.cfg.Sources {
		if s.File == nil || s.Survey == nil {
			return fmt.Errorf("replay: source %d has no file or survey", i+1)
		}
		for _, robot := range s.Survey.Robots {
			if err := a.add(i, robot); err != nil {
				return err
			}
		}
	}
	if len(r.ports) == 0 {
		return fmt.Errorf("replay: %s holds no messages of devices", r.cfg.Sources[0].File.Name())
	}
	for _, p := range r.ports {
		p.infos = append(p.infos, server.DeviceInfo{Interf: logAddr.Interf, Index: logAddr.Index, Driver: driverName})
	}
	return nil
}

// arrangement is how robots come to be served.
type arrangement struct {
	replay *Replay
	robots map[string]*served // by name
}

// served is a robot: in which sources it is, and its port.
type served struct {
	port    *Port
	sources []int
}

// RobotName returns the name that a robot of the file has in the replay.
func (s *Source) RobotName(robot string) string {
	switch {
	case s.Name == "":
		return robot
	case len(s.Survey.Robots) == 1:
		return s.Name
	}
	return s.Name + "-" + robot
}

// add takes a robot of a source in. The same robot may be in several, one after
// the other: then they are parts of one recording.
func (a *arrangement) add(source int, robot run.Robot) error {
	if len(robot.Devices) == 0 {
		return nil
	}
	src := &a.replay.cfg.Sources[source]
	name := src.RobotName(robot.Name)
	known := a.robots[name]
	if known == nil {
		known = &served{port: a.port(source, robot.Devices[0].Addr)}
		known.port.Robots = append(known.port.Robots, name)
		a.robots[name] = known
	}
	for _, i := range known.sources {
		if other := &a.replay.cfg.Sources[i]; overlap(other.Survey, src.Survey) {
			return fmt.Errorf("robot %s is in %s and, at the same time, in %s; give one of them another name: NAME=%s",
				name, other.File.Name(), src.File.Name(), src.File.Name())
		}
	}
	known.sources = append(known.sources, source)
	for _, d := range robot.Devices {
		if err := known.port.add(place{source, robot.Name, key{d.Interf, d.Index}}, name, d); err != nil {
			return err
		}
	}
	for _, answer := range robot.Answers {
		one := known.port.byKey[key{answer.Addr.Interf, answer.Addr.Index}]
		if one != nil && one.answers[answer.Subtype] == nil {
			one.answers[answer.Subtype] = answer.Payload
		}
	}
	return nil
}

// overlap reports whether two runs have a time in common.
func overlap(a, b *run.Survey) bool { return a.First < b.Last && b.First < a.Last }

// port returns the port that stands for the Player server of a device; a server
// of another source is another one.
func (a *arrangement) port(source int, addr player.Addr) *Port {
	host := addr.Host
	if host == 0 {
		host = localhost
	}
	for _, p := range a.replay.ports {
		if p.Recorded == addr.Robot && p.host == host && a.ofSource(p, source) {
			return p
		}
	}
	p := &Port{Source: source, Recorded: addr.Robot, host: host, replay: a.replay, byKey: map[key]*device{}, of: map[string][]string{}}
	a.replay.ports = append(a.replay.ports, p)
	return p
}

// ofSource reports whether a port serves robots of the source.
func (a *arrangement) ofSource(p *Port, source int) bool {
	for _, name := range p.Robots {
		for _, s := range a.robots[name].sources {
			if s == source {
				return true
			}
		}
	}
	return false
}

// localhost is 127.0.0.1 as Player has it; 0 stands for it, too.
const localhost = 0x0100007f

// add serves a device of a robot.
func (p *Port) add(at place, robot string, d *player.Device) error {
	one := p.byKey[at.key]
	if one == nil {
		one = &device{port: p, addr: player.Addr{Interf: d.Interf, Index: d.Index}, answers: map[uint8]any{}}
		p.byKey[at.key] = one
		p.infos = append(p.infos, server.DeviceInfo{Interf: d.Interf, Index: d.Index, Driver: driverName})
		p.of[robot] = append(p.of[robot], one.addr.String())
	} else if !has(p.of[robot], one.addr.String()) {
		return fmt.Errorf("device %s of robot %s is one of another robot on the Player server at port %d, too; expected that a device belongs to one robot",
			one.addr, robot, p.Recorded)
	}
	for _, answer := range iface.Answers(d.Interf, d.Geometry, d.Config) {
		one.answers[answer.Subtype] = answer.Payload
	}
	p.replay.devices[at] = one
	return nil
}

func has(list []string, s string) bool {
	for _, one := range list {
		if one == s {
			return true
		}
	}
	return false
}

// RobotDevices returns the devices of each robot, as interface:index.
func (p *Port) RobotDevices() map[string][]string { return p.of }

// Clock returns the time of the log in s, for server.Config.Clock: that of the
// newest message, and after the end one that goes on.
func (p *Port) Clock() float64 {
	t := math.Float64frombits(p.time.Load())
	if at := p.endedAt.Load(); at != nil {
		t += time.Since(*at).Seconds()
	}
	return t
}

func (p *Port) setClock(t float64) {
	p.time.Store(math.Float64bits(t))
	p.endedAt.Store(nil)
}

// Devices lists those of the recording, then log:0.
func (p *Port) Devices() []server.DeviceInfo { return p.infos }

// Attach takes the way to publish.
func (p *Port) Attach(pub server.Publisher) { p.pub = pub }

// Open begins the replay, if it is the first.
func (p *Port) Open(player.Addr) error {
	p.replay.open(p)
	return nil
}

// Close lets the replay rest once all devices are closed.
func (p *Port) Close(player.Addr) { p.replay.close() }

// Handle answers from the recording. A recorded robot obeys no command.
func (p *Port) Handle(c *server.Call) {
	if c.Header.Type != player.Request {
		return
	}
	if c.Header.Interf == logAddr.Interf && c.Header.Index == logAddr.Index {
		p.replay.control(c)
		return
	}
	if payload := p.answer(c.Header.Addr, c.Header.Subtype); payload != nil {
		c.Ack(payload)
		return
	}
	c.Nack(nil)
}

// Handles reports whether a message is answered.
func (p *Port) Handles(a player.Addr, t player.Type, subtype uint8) bool {
	if t != player.Request {
		return false
	}
	if a.Interf == logAddr.Interf && a.Index == logAddr.Index {
		return controls(subtype)
	}
	return p.answer(a, subtype) != nil
}

// answer returns what the recording answers, nil if it does not.
func (p *Port) answer(a player.Addr, subtype uint8) any {
	d := p.byKey[key{a.Interf, a.Index}]
	if d == nil {
		return nil
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.answers[subtype]
}

// learn takes an answer that was recorded.
func (d *device) learn(subtype uint8, payload any) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.answers[subtype] = payload
}
