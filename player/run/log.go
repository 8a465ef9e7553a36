package run

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"slices"

	"callboard/player"
	"callboard/player/iface"
	"callboard/player/playerlog"
)

// lookAhead is how far into a log that does not tell its robots the reader
// looks for their devices, in unpacked bytes: live, all devices are known when
// the session begins.
const lookAhead = 4 << 20

// localhost is 127.0.0.1 as Player has it; 0 stands for it, too.
const localhost = 0x0100007f

// logSource gives the records of a Player log.
type logSource struct {
	file    *File
	options Options
	lines   *playerlog.Reader
	devices map[player.Addr]*logDevice
	robots  map[string]*logRobot // by name
	servers map[server]*logRobot // of a server's devices that no remark told of
	pending []Record             // to be given before line
	line    *playerlog.Line      // read, to be given; nil: none
	err     error                // that came instead
	out     Record
}

// server is a Player server as the lines have it.
type server struct{ host, port uint32 }

// logRobot is a robot of a log.
type logRobot struct {
	name, world, player string
	up                  bool
}

// logDevice is a device that lines are of.
type logDevice struct {
	robot  *logRobot
	device *player.Device
	// told: a remark told its geometry or configuration, with all their digits;
	// what lines tell is the same, rounded.
	toldGeometry, toldConfig bool
}

func newLogSource(f *File, o Options) (*logSource, error) {
	s := &logSource{file: f, options: o, devices: map[player.Addr]*logDevice{}, robots: map[string]*logRobot{}, servers: map[server]*logRobot{}}
	if err := s.foresee(); err != nil {
		return nil, err
	}
	in, err := f.stream()
	if err != nil {
		return nil, err
	}
	s.lines, err = playerlog.NewReader(playerlog.ReaderConfig{R: in, Name: f.name, Want: s.want, Remark: s.remark})
	return s, err
}

// addr is a device's address in which both ways to say "this machine" are one.
func addr(a player.Addr) player.Addr {
	if a.Host == 0 {
		a.Host = localhost
	}
	return a
}

// want tells the line reader what of a message to read: geometry always.
func (s *logSource) want(h *player.Header) bool {
	if h.Type != player.Data {
		return true
	}
	d := s.devices[addr(h.Addr)]
	return d == nil || iface.Describes(h.Interf, h.Subtype) || s.options.Want(d.device, h.Subtype)
}

// remark takes a ## line.
func (s *logSource) remark(text []byte) error {
	text, ours := bytes.CutPrefix(text, []byte("callboard {"))
	if !ours {
		return nil
	}
	rec, err := parseEvent(append([]byte("{"), text...))
	if err != nil {
		return fmt.Errorf("%w; expected what callboard record writes behind ## callboard", err)
	}
	r := s.robot(rec)
	for _, d := range rec.Devices {
		s.tell(r, d)
	}
	if rec.Device != nil {
		s.tell(r, rec.Device)
	}
	s.pending = append(s.pending, *rec)
	return nil
}

// robot gives the robot that an event is of.
func (s *logSource) robot(rec *Record) *logRobot {
	r := s.robots[rec.Robot]
	if r == nil {
		r = &logRobot{name: rec.Robot}
		s.robots[rec.Robot] = r
	}
	r.world, r.player = rec.World, rec.Player
	switch rec.Kind {
	case Up:
		r.up = true
	case Down:
		r.up = false
	}
	return r
}

// tell notes a device that a remark has told of.
func (s *logSource) tell(r *logRobot, d *player.Device) {
	s.devices[addr(d.Addr)] = &logDevice{robot: r, device: d, toldGeometry: d.Geometry != nil, toldConfig: d.Config != nil}
}

func (s *logSource) next() (*Record, error) {
	for {
		if len(s.pending) > 0 {
			s.out = s.pending[0]
			s.pending = s.pending[1:]
			return &s.out, nil
		}
		s.pending = nil
		if s.line != nil || s.err != nil {
			line, err := s.line, s.err
			s.line, s.err = nil, nil
			if err != nil {
				return nil, err
			}
			if rec := s.record(line); rec != nil {
				return rec, nil
			}
			continue
		}
		if err := s.read(); err != nil {
			return nil, err
		}
	}
}

// read reads the next line and says what must be told before it.
func (s *logSource) read() error {
	line, err := s.lines.Next()
	var p *playerlog.Problem
	if errors.As(err, &p) {
		err = problem(p, 0)
	}
	if err != nil {
		s.err = err
		return nil
	}
	s.line = line
	s.introduce(line)
	return nil
}

func problem(p *playerlog.Problem, offset int64) *Problem {
	return &Problem{File: p.File, Line: p.Line, Column: p.Column, Offset: offset, Warning: p.Severity == playerlog.Warning, Message: p.Message}
}

// introduce sees to it that the line's device is known, and its robot up.
func (s *logSource) introduce(line *playerlog.Line) {
	h := line.Header
	d := s.devices[addr(h.Addr)]
	if d == nil {
		d = &logDevice{robot: s.owner(h.Addr), device: nil}
		d.device = &player.Device{Addr: h.Addr, Robot: d.robot.name, World: d.robot.world}
		s.devices[addr(h.Addr)] = d
		if d.robot.up {
			s.pending = append(s.pending, s.about(d.robot, Record{Kind: Known, Device: d.device}))
		}
	}
	if d.robot.up {
		return
	}
	d.robot.up = true
	up := s.about(d.robot, Record{Kind: Up})
	for _, one := range s.devices {
		if one.robot == d.robot {
			up.Devices = append(up.Devices, one.device)
		}
	}
	slices.SortFunc(up.Devices, func(a, b *player.Device) int { return compare(a.Addr, b.Addr) })
	s.pending = append(s.pending, up)
}

func compare(a, b player.Addr) int {
	for _, pair := range [][2]uint32{{a.Host, b.Host}, {a.Robot, b.Robot}, {uint32(a.Interf), uint32(b.Interf)}, {uint32(a.Index), uint32(b.Index)}} {
		if pair[0] != pair[1] {
			return int(int64(pair[0]) - int64(pair[1]))
		}
	}
	return 0
}

// owner gives the robot of a device that no remark has told of: the one of its
// server.
func (s *logSource) owner(a player.Addr) *logRobot {
	key := server{addr(a).Host, a.Robot}
	r := s.servers[key]
	if r == nil {
		r = &logRobot{name: serverName(a)}
		if same := s.robots[r.name]; same != nil {
			r = same
		}
		s.servers[key], s.robots[r.name] = r, r
	}
	return r
}

// serverName is the name of a robot that has none: port-6665, or host:port if
// it is not on this machine, as everywhere in Callboard.
func serverName(a player.Addr) string {
	host := addr(a).Host
	if host == localhost {
		return fmt.Sprintf("port-%d", a.Robot)
	}
	ip := netip.AddrFrom4([4]byte{byte(host), byte(host >> 8), byte(host >> 16), byte(host >> 24)})
	return fmt.Sprintf("%s:%d", ip, a.Robot)
}

func (s *logSource) about(r *logRobot, rec Record) Record {
	rec.Robot, rec.World, rec.Player = r.name, r.world, r.player
	return rec
}

// record makes the line's record; nil if it has nothing to tell. What it
// teaches of a device comes first.
func (s *logSource) record(line *playerlog.Line) *Record {
	h := line.Header
	d := s.devices[addr(h.Addr)]
	news := s.learn(d, line.Payload)
	rec := s.about(d.robot, Record{Device: d.device, Header: h, Payload: line.Payload, Line: line.Number, Offset: line.Offset})
	if line.Odd != nil {
		rec.Odd = problem(line.Odd, line.Offset)
	}
	switch {
	case h.Type == player.Data && news:
		known := rec
		known.Kind, known.Payload, known.Odd = Known, nil, nil
		known.Header = player.Header{}
		rec.Kind = Data
		s.line = nil
		s.out = known
		s.pending = append(s.pending, rec)
		return &s.out
	case h.Type == player.Data:
		rec.Kind = Data
	case news || line.Odd != nil:
		rec.Kind = Known
	default:
		return nil
	}
	s.out = rec
	return &s.out
}

// learn takes what a payload tells of a device, and tells whether it is news.
func (s *logSource) learn(d *logDevice, payload any) bool {
	g, c := d.device.Geometry, d.device.Config
	if !iface.Learn(payload, &g, &c) {
		return false
	}
	if d.toldGeometry {
		g = d.device.Geometry
	}
	if d.toldConfig {
		c = d.device.Config
	}
	if g == d.device.Geometry && c == d.device.Config {
		return false
	}
	n := *d.device
	n.Geometry, n.Config = g, c
	d.device = &n
	return true
}

// foresee reads the head of a log that does not tell its robots, for their
// devices and the geometry that stands before the first reading.
func (s *logSource) foresee() error {
	in, err := s.file.stream()
	if err != nil {
		return err
	}
	told, data := false, false
	lines, err := playerlog.NewReader(playerlog.ReaderConfig{
		R: io.LimitReader(in, lookAhead), Name: s.file.name,
		Want: func(h *player.Header) bool { return h.Type != player.Data && !data },
		Remark: func(text []byte) error {
			told = told || bytes.HasPrefix(text, []byte("callboard {"))
			return nil
		},
	})
	if err != nil {
		return err
	}
	for !told {
		line, err := lines.Next()
		var p *playerlog.Problem
		switch {
		case err == nil:
		case errors.As(err, &p):
			continue
		default: // the reading proper will tell it, unless it is the end
			return nil
		}
		data = data || line.Header.Type == player.Data
		key := addr(line.Header.Addr)
		d := s.devices[key]
		if d == nil {
			r := s.owner(line.Header.Addr)
			d = &logDevice{robot: r, device: &player.Device{Addr: line.Header.Addr, Robot: r.name}}
			s.devices[key] = d
		}
		s.learn(d, line.Payload)
	}
	clear(s.devices)
	clear(s.servers)
	clear(s.robots)
	return nil
}
