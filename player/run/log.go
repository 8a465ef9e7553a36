package run

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/netip"

	"callboard/player"
	"callboard/player/iface"
	"callboard/player/playerlog"
	"callboard/player/problem"
)

// lookAhead is how far into a log that does not tell its robots the reader
// looks for their devices, in unpacked bytes: live, all devices are known when
// the session begins.
const lookAhead = 4 << 20

// localhost is 127.0.0.1 as Player has it; 0 stands for it, too.
const localhost = 0x0100007f

// eventMark stands before an event in the ## line of a log.
const eventMark = "callboard "

// logSource returns the records of a Player log.
type logSource struct {
	tracker
	file    *File
	options Options
	lines   lineReader
	servers map[server]*robot // of a server's devices that no event told of
	line    *playerlog.Line   // read, to be given; nil: none
	err     error             // that came instead
	out     Record
}

// lineReader returns the messages of a log.
type lineReader interface {
	Next() (*playerlog.Line, error)
}

// server is a Player server as the lines have it.
type server struct{ host, port uint32 }

func newLogSource(f *File, o Options) (*logSource, error) {
	s, err := foreseen(f, o)
	if err != nil {
		return nil, err
	}
	in, err := f.stream()
	if err != nil {
		return nil, err
	}
	s.lines, err = playerlog.NewReader(playerlog.ReaderConfig{R: in, Name: f.name, Want: s.want, Remark: s.remark})
	return s, err
}

// foreseen makes a source that knows what the log's head says, and has
// nothing to read yet.
func foreseen(f *File, o Options) (*logSource, error) {
	s := &logSource{tracker: newTracker(), file: f, options: o, servers: map[server]*robot{}}
	return s, s.foresee()
}

// addr is a device's address in which both ways to say "this machine" are one.
func addr(a player.Addr) player.Addr {
	if a.Host == 0 {
		a.Host = localhost
	}
	return a
}

// logPlace is where the messages of a device of a log come from.
func logPlace(a player.Addr) place { return place{addr: addr(a)} }

// want says what of a message the line reader reads: geometry always.
func (s *logSource) want(h *player.Header) bool {
	if h.Type != player.Data {
		return true
	}
	d := s.devices[logPlace(h.Addr)]
	return d == nil || iface.Describes(h.Interf, h.Subtype) || s.options.Want(d.device, h.Subtype)
}

// parseRemark reads the event in a ## line; nil if it has none.
func parseRemark(text []byte) (*Record, error) {
	text, ours := bytes.CutPrefix(text, []byte(eventMark))
	if !ours || !bytes.HasPrefix(text, []byte("{")) {
		return nil, nil
	}
	rec, err := parseEvent(text)
	if err != nil {
		return nil, fmt.Errorf("%w; expected what callboard record writes behind ## callboard", err)
	}
	return rec, nil
}

// CheckRemark returns what is wrong with a log's line of metadata, given what
// stands behind the ##, if callboard wrote it.
func CheckRemark(text []byte) error {
	_, err := parseRemark(text)
	return err
}

// remark takes a ## line.
func (s *logSource) remark(text []byte) error {
	rec, err := parseRemark(text)
	if rec == nil {
		return err
	}
	s.event(rec, func(d *player.Device) place { return logPlace(d.Addr) })
	return nil
}

func (s *logSource) next() (*Record, error) {
	for {
		if s.take(&s.out) {
			return &s.out, nil
		}
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
		line, err := s.lines.Next()
		if s.line, s.err = line, err; err != nil {
			s.err = err
		} else {
			s.meet(line.Header.Addr)
		}
	}
}

// meet introduces a device unless it is known and its robot up, as it is for
// almost all lines.
func (s *logSource) meet(a player.Addr) {
	if d := s.devices[logPlace(a)]; d == nil || !d.robot.up {
		s.introduce(logPlace(a), a, func() *robot { return s.owner(a) })
	}
}

// owner returns the robot of a device that no event has told of: the one of its
// server.
func (s *logSource) owner(a player.Addr) *robot {
	key := server{addr(a).Host, a.Robot}
	r := s.servers[key]
	if r == nil {
		r = &robot{name: serverName(a)}
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

// record makes the line's record; nil if it has nothing to tell. What it
// teaches of a device comes first.
func (s *logSource) record(line *playerlog.Line) *Record {
	h := line.Header
	d := s.devices[logPlace(h.Addr)]
	news := d.learn(line.Payload)
	rec := d.robot.about(Record{Device: d.device, Header: h, Payload: line.Payload, Line: line.Number, Offset: line.Offset})
	if line.Odd != nil {
		rec.Odd = line.Odd
		rec.Odd.Offset = line.Offset
	}
	switch {
	case h.Type == player.Data && news:
		known := rec
		known.Kind, known.Payload, known.Odd = Known, nil, nil
		known.Header = player.Header{}
		rec.Kind = Data
		s.out = known
		s.pending = append(s.pending, rec)
		return &s.out
	case h.Type == player.Data:
		rec.Kind = Data
	case news || line.Odd != nil || other(line.Payload):
		rec.Kind = Known
	default:
		return nil
	}
	s.out = rec
	return &s.out
}

// other reports whether an answer is of a kind that a Device has no place for, as
// where a fiducial finder sits: replays give it to those who ask.
func other(payload any) bool {
	switch payload.(type) {
	case nil, *iface.LaserGeom, *iface.Position2DGeom, *iface.SonarGeom, *iface.RangerGeom, *iface.RangerConfig:
		return false
	}
	return true
}

func (s *logSource) close() {}

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
			told = told || bytes.HasPrefix(text, []byte(eventMark+"{"))
			return nil
		},
	})
	if err != nil {
		return err
	}
	var p *problem.Problem
	for !told {
		line, err := lines.Next()
		switch {
		case err == nil:
		case errors.As(err, &p):
			continue
		default: // the reading proper will tell it, unless it is the end
			return nil
		}
		data = data || line.Header.Type == player.Data
		a := line.Header.Addr
		d := s.devices[logPlace(a)]
		if d == nil {
			d = s.add(logPlace(a), s.owner(a), a)
		}
		d.learn(line.Payload)
	}
	clear(s.devices)
	clear(s.servers)
	clear(s.robots)
	return nil
}
