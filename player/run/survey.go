package run

import (
	"context"
	"errors"
	"io"
	"slices"
	"time"

	"callboard/player"
	"callboard/player/iface"
	"callboard/player/problem"
)

// Survey is what a whole run has.
type Survey struct {
	Robots []Robot // by name
	// First and Last are the least and the greatest time of its messages, in s,
	// by the Player servers' clocks.
	First, Last        float64
	FirstLog, LastLog  time.Time // when it was recorded; zero if not told
	Messages, Problems uint64    // DATA messages; places that gave no record
	Lost               uint64    // messages that the recorder told it missed
	Backwards          uint64    // messages older than the one before of the same device
}

// Robot is a robot of a run.
type Robot struct {
	Name, World, Player string
	// Devices are all that it has or had, in the order in which they came up,
	// with what was known of each last.
	Devices []*player.Device
	// Begun is what was known when its first session began.
	Begun []*player.Device
	// Answers are the first of each kind that a Player log has of each device:
	// also of requests that a Device has no place for.
	Answers []Answer
}

// Answer is what a Player server answered to a request.
type Answer struct {
	Addr    player.Addr
	Subtype uint8
	Payload any // a pointer to the answer's struct in package iface
}

// surveyEvery is the number of records between looks at the context.
const surveyEvery = 4096

// Survey reads the whole run, without the payloads, and returns what is in it.
// progress, if not nil, is told now and then how many bytes (unpacked) are read.
func (f *File) Survey(ctx context.Context, progress func(offset int64)) (*Survey, error) {
	r, err := f.Reader(Options{Want: func(*player.Device, uint8) bool { return false }})
	if err != nil {
		return nil, err
	}
	defer r.Close()
	s := &surveyor{robots: map[string]*Robot{}, last: map[place]float64{}}
	for n := 0; ; n++ {
		if n%surveyEvery == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		rec, err := r.Next()
		var p *problem.Problem
		switch {
		case err == io.EOF:
			return s.end(), nil
		case errors.As(err, &p):
			s.out.Problems++
		case err != nil:
			return nil, err
		default:
			s.add(rec)
			if progress != nil && n%surveyEvery == 0 {
				progress(rec.Offset)
			}
		}
	}
}

// place is a device within a run.
type place struct {
	robot string
	addr  player.Addr
}

// begins is how many records Begins looks at.
const begins = 10_000

// Begins returns the devices that are met at the beginning of the run.
func (f *File) Begins() ([]*player.Device, error) {
	r, err := f.Reader(Options{Want: func(*player.Device, uint8) bool { return false }})
	if err != nil {
		return nil, err
	}
	defer r.Close()
	s := &surveyor{robots: map[string]*Robot{}, last: map[place]float64{}}
	for range begins {
		rec, err := r.Next()
		if err != nil && !errors.As(err, new(*problem.Problem)) {
			break // what is wrong further on does not matter here
		}
		if err == nil {
			s.add(rec)
		}
	}
	var all []*player.Device
	for _, r := range s.end().Robots {
		all = append(all, r.Devices...)
	}
	return all, nil
}

type surveyor struct {
	out    Survey
	robots map[string]*Robot
	last   map[place]float64
}

func (s *surveyor) robot(rec *Record) *Robot {
	r := s.robots[rec.Robot]
	if r == nil {
		r = &Robot{Name: rec.Robot}
		s.robots[rec.Robot] = r
	}
	if rec.Kind == Up {
		r.World, r.Player = rec.World, rec.Player
		if r.Begun == nil {
			r.Begun = rec.Devices
		}
	}
	return r
}

func (s *surveyor) add(rec *Record) {
	if rec.Kind == Data {
		s.message(rec)
		return
	}
	r := s.robot(rec)
	for _, d := range rec.Devices {
		r.know(d)
	}
	if rec.Device != nil {
		r.know(rec.Device)
		r.answered(rec)
	}
	if rec.Kind == Lost {
		s.out.Lost += rec.Count
	}
}

func (s *surveyor) message(rec *Record) {
	t := rec.Header.Timestamp
	if s.out.Messages == 0 {
		s.out.First, s.out.Last = t, t
	}
	s.out.Messages++
	s.out.First, s.out.Last = min(s.out.First, t), max(s.out.Last, t)
	if at := rec.Logged; !at.IsZero() {
		if s.out.FirstLog.IsZero() {
			s.out.FirstLog = at
		}
		s.out.LastLog = at
	}
	key := place{rec.Robot, rec.Device.Addr}
	if before, ok := s.last[key]; ok && t < before {
		s.out.Backwards++
	}
	s.last[key] = t
}

// answered notes an answer.
func (r *Robot) answered(rec *Record) {
	h := rec.Header
	if h.Type != player.Ack || rec.Payload == nil {
		return
	}
	for _, a := range r.Answers {
		if a.Addr == rec.Device.Addr && a.Subtype == h.Subtype {
			return
		}
	}
	if payload := Copied(h, rec.Payload); payload != nil {
		r.Answers = append(r.Answers, Answer{rec.Device.Addr, h.Subtype, payload})
	}
}

// Copied returns a copy of a message's payload, nil for what is no known message.
func Copied(h player.Header, payload any) any {
	m, ok := iface.Lookup(h.Interf, h.Type, h.Subtype)
	if !ok || m.Empty() {
		return nil
	}
	body, err := m.Append(nil, payload)
	if err != nil {
		return nil
	}
	out := m.New()
	if m.Decode(body, out) != nil {
		return nil
	}
	return out
}

// know notes a device, or what more is known of it.
func (r *Robot) know(d *player.Device) {
	for i, old := range r.Devices {
		if old.Addr == d.Addr {
			r.Devices[i] = d
			return
		}
	}
	r.Devices = append(r.Devices, d)
}

func (s *surveyor) end() *Survey {
	for _, r := range s.robots {
		s.out.Robots = append(s.out.Robots, *r)
	}
	slices.SortFunc(s.out.Robots, func(a, b Robot) int {
		if a.Name < b.Name {
			return -1
		}
		return 1
	})
	return &s.out
}
