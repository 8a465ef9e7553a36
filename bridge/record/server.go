package record

import (
	"context"
	"fmt"
	"maps"
	"net"
	"path"
	"slices"

	"callboard/player"
	"callboard/player/client"
	"callboard/player/iface"
	"callboard/player/run"
)

// Server is a Player server to record.
type Server struct {
	Address string // host:port
	Robot   string // the robot that all its devices belong to; or
	// Robots are several, each with patterns of its devices.
	Robots  map[string][]string
	World   string   // the world they are in, "" if not known
	Devices []string // patterns of those to record, as laser or ranger:*; none: all that have data
	// Dial connects; nil is TCP.
	Dial func(ctx context.Context, address string) (net.Conn, error)
}

// source is the session with one Player server. Its methods but those for
// configuration are the client's handler.
type source struct {
	recorder *Recorder
	server   Server
	client   *client.Client
	devices  map[player.Addr]*player.Device // by interface and index
	robots   []string                       // that are up
	told     bool                           // that the server does not answer
}

func newSource(r *Recorder, s Server) (*source, error) {
	o := &source{recorder: r, server: s}
	var err error
	o.client, err = client.New(client.Config{
		Address: s.Address, Dial: s.Dial, Handler: o, Logger: r.log.With("player", s.Address),
		Open: func(a player.Addr) bool { return o.owner(a) != "" }, Twin: o.named,
	})
	if err != nil {
		return nil, fmt.Errorf("record: Player server %s: %w", s.Address, err)
	}
	return o, nil
}

// owner returns the robot of a device, "" if it is not to be recorded.
func (o *source) owner(a player.Addr) string {
	if !matches(o.server.Devices, a) {
		return ""
	}
	if o.server.Robots == nil {
		return o.server.Robot
	}
	for _, name := range slices.Sorted(maps.Keys(o.server.Robots)) {
		if matches(o.server.Robots[name], a) {
			return name
		}
	}
	return ""
}

// named reports whether a device is asked for by more than "*".
func (o *source) named(a player.Addr) bool {
	patterns := slices.Concat(o.server.Devices, o.server.Robots[o.owner(a)])
	return slices.ContainsFunc(patterns, func(p string) bool { return p != "*" && matches([]string{p}, a) })
}

// matches reports whether patterns ask for a device; none ask for all that have
// data.
func matches(patterns []string, a player.Addr) bool {
	if !iface.HasData(a.Interf) {
		return false
	}
	return len(patterns) == 0 || slices.ContainsFunc(patterns, func(p string) bool {
		whole, _ := path.Match(p, a.String())
		kind, _ := path.Match(p, a.Interf.String())
		return whole || kind
	})
}

// key of a device within the connection.
func key(a player.Addr) player.Addr { return player.Addr{Interf: a.Interf, Index: a.Index} }

func (o *source) put(rec run.Record) {
	rec.World, rec.Player, rec.Logged = o.server.World, o.server.Address, now()
	o.recorder.Put(&rec)
}

func (o *source) describe(d client.Device) *player.Device {
	return &player.Device{
		Addr: d.Addr, Robot: o.owner(d.Addr), World: o.server.World, Driver: d.Driver, Geometry: d.Geometry, Config: d.Config,
	}
}

// Up takes the devices of a session that begins.
func (o *source) Up(devices []client.Device) {
	o.told = false
	o.recorder.answering.Do(func() { close(o.recorder.answered) })
	o.devices = make(map[player.Addr]*player.Device, len(devices))
	byRobot := map[string][]*player.Device{}
	o.robots = nil
	for _, d := range devices {
		known := o.describe(d)
		if known.Robot == "" {
			continue
		}
		o.devices[key(d.Addr)] = known
		if byRobot[known.Robot] == nil {
			o.robots = append(o.robots, known.Robot)
		}
		byRobot[known.Robot] = append(byRobot[known.Robot], known)
	}
	if len(o.devices) == 0 {
		o.recorder.log.Warn("the Player server has no device to record", "player", o.server.Address)
	}
	for _, robot := range o.robots {
		o.put(run.Record{Kind: run.Up, Robot: robot, Devices: byRobot[robot]})
	}
}

// Changed takes what was learned of a device later.
func (o *source) Changed(d client.Device) {
	known := o.describe(d)
	if known.Robot == "" {
		return
	}
	o.devices[key(d.Addr)] = known
	kind := run.Record{Kind: run.Known, Robot: known.Robot, Device: known}
	if !slices.Contains(o.robots, known.Robot) {
		o.robots = append(o.robots, known.Robot)
		kind = run.Record{Kind: run.Up, Robot: known.Robot, Devices: []*player.Device{known}}
	}
	o.put(kind)
}

// Message takes a reading.
func (o *source) Message(h player.Header, payload any) {
	if d := o.devices[key(h.Addr)]; d != nil {
		o.put(run.Record{Kind: run.Data, Robot: d.Robot, Device: d, Header: h, Payload: payload})
	}
}

// Round has nothing to record.
func (o *source) Round() {}

// Overflow reports that the server dropped messages. Whose they were is known
// only if the connection has one robot.
func (o *source) Overflow(lost uint64) {
	for _, robot := range o.robots {
		if len(o.robots) > 1 {
			lost = 0
		}
		o.put(run.Record{Kind: run.Lost, Robot: robot, Count: lost})
	}
}

// Down ends the session; the client connects again by itself. A recording that
// ends does not end the robots' sessions.
func (o *source) Down(err error) {
	if err == context.Canceled || err == context.DeadlineExceeded {
		return
	}
	for _, robot := range o.robots {
		o.put(run.Record{Kind: run.Down, Robot: robot})
	}
	if !o.told {
		o.recorder.log.Warn("the Player server does not answer; it is tried again and again", "player", o.server.Address, "err", err)
	}
	o.told = true
	o.devices, o.robots = nil, nil
}
