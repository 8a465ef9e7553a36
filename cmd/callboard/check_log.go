package main

import (
	"errors"
	"fmt"
	"io"

	"callboard/player"
	"callboard/player/iface"
	"callboard/player/playerlog"
	"callboard/player/problem"
	"callboard/player/regular"
	"callboard/player/run"
)

// log checks a Player log, line by line. Faults of many lines are told once,
// and counted.
func (k *checker) log(name string) {
	file, err := regular.Open(name)
	if err != nil {
		k.wrong(name, problem.OfFile(err))
		return
	}
	defer func() { _ = file.Close() }()
	r, err := playerlog.NewReader(playerlog.ReaderConfig{R: file, Name: name, Remark: run.CheckRemark})
	if err != nil {
		k.tell(problem.Problem{Place: problem.Place{File: name, Line: 1, Column: 1}, Message: fmt.Sprintf("cannot read it: %v; expected a Player log, as text or gzip", err)})
		return
	}
	s := &survey{k: k, repeated: map[string]int{}, devices: map[string]*logged{}}
	for {
		line, err := r.Next()
		var wrong *problem.Problem
		switch {
		case err == io.EOF:
			s.end(name, r)
			return
		case errors.As(err, &wrong):
			s.tell(wrong)
		case err != nil:
			k.tell(problem.Problem{Place: problem.Place{File: name, Line: r.Number(), Column: 1}, Message: err.Error()})
			return
		default:
			s.add(line)
		}
	}
}

// survey is what a log has in it.
type survey struct {
	k           *checker
	errors      int
	lines       int
	readings    int     // lines with DATA
	first, last float64 // s, of readings
	repeated    map[string]int
	untold      int      // problems that are only counted
	order       []string // of what is repeated
	devices     map[string]*logged
}

// logged is the lines of a device, by what they are.
type logged struct {
	kinds map[string]int
	order []string
}

// tell prints a problem, unless one that says the same is printed already.
func (s *survey) tell(p *problem.Problem) {
	if !p.Warning {
		s.errors++
	}
	seen, known := s.repeated[p.Message]
	if known {
		s.repeated[p.Message] = seen + 1
		return
	}
	if len(s.repeated) >= 100 {
		s.untold++
		s.k.count(*p)
		return
	}
	s.repeated[p.Message] = 0
	s.order = append(s.order, p.Message)
	s.k.tell(*p)
}

func (s *survey) add(line *playerlog.Line) {
	if line.Odd != nil {
		s.tell(line.Odd)
	}
	h := line.Header
	s.lines++
	if h.Type == player.Data { // geometries may be asked for at another clock's time
		if s.readings == 0 {
			s.first, s.last = h.Timestamp, h.Timestamp
		}
		s.readings++
		s.first, s.last = min(s.first, h.Timestamp), max(s.last, h.Timestamp)
	}
	device := fmt.Sprintf("%d:%s", h.Robot, h.Addr)
	d := s.devices[device]
	if d == nil {
		if len(s.devices) >= 10_000 {
			return // more devices than a server has: not listed
		}
		d = &logged{kinds: map[string]int{}}
		s.devices[device] = d
	}
	kind := fmt.Sprintf("%d:%d", h.Type, h.Subtype)
	if m, ok := iface.Lookup(h.Interf, h.Type, h.Subtype); ok {
		kind = m.Name
	}
	if d.kinds[kind]++; d.kinds[kind] == 1 {
		d.order = append(d.order, kind)
	}
}

// end counts what was repeated and, if nothing is wrong, sums up.
func (s *survey) end(name string, r *playerlog.Reader) {
	for _, message := range s.order {
		if n := s.repeated[message]; n > 0 {
			s.k.note(name, "%s more: %s", plural(n, "line"), message)
		}
	}
	if s.untold > 0 {
		s.k.note(name, "%s more", plural(s.untold, "problem"))
	}
	if s.errors > 0 {
		return
	}
	if s.lines == 0 {
		s.k.tell(problem.Problem{Place: problem.Place{File: name, Line: r.Number(), Column: 1}, Warning: true, Message: "it holds no messages"})
	}
	writer := ""
	if _, version := r.Version(); version != "" {
		writer = " of Player " + version
	}
	s.k.note(name, "%s%s, %.3f to %.3f s", plural(s.lines, "message"), writer, s.first, s.last)
	s.k.devices(name, s.devices)
}
