package run

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"callboard/player"
	"callboard/player/iface"
	"callboard/player/mcap"
	"callboard/player/problem"
)

// mcapSource returns the records of an MCAP file.
type mcapSource struct {
	tracker
	file    *File
	options Options
	in      messages
	kinds   map[uint16]channelKind // of channels that were met
	names   map[uint16]string      // robots of channels
	reuse   map[*iface.Message]any // payloads
	raw     iface.Raw
	found   bool
	waiting bool // out is to be given once what comes before it is
	out     Record
	before  Record
}

// messages is what goes through the messages of a file: all of them, or those
// that the index has.
type messages interface {
	Next() (*mcap.Message, error)
	Offset() (offset, within int64)
	Close()
}

// channelKind is what a channel holds.
type channelKind uint8

const (
	kindOther channelKind = iota + 1
	kindEvent
	kindMessage
)

func newMCAPSource(f *File, o Options) (*mcapSource, error) {
	s := &mcapSource{tracker: newTracker(), file: f, options: o, kinds: map[uint16]channelKind{}, names: map[uint16]string{}, reuse: map[*iface.Message]any{}}
	summary, err := f.summary()
	if summary != nil {
		for id, c := range summary.Channels() {
			s.meet(id, c, summary.Schema(c.SchemaID))
		}
		if !s.found && len(s.kinds) > 0 {
			return nil, f.foreign()
		}
		s.in = summary.Select(mcap.Selection{Channels: func(c *mcap.Channel) bool { return s.kinds[c.ID] != kindOther }})
		return s, nil
	}
	if err != nil {
		return nil, err
	}
	in, err := f.stream()
	if err != nil {
		return nil, err
	}
	r, err := mcap.NewReader(mcap.ReaderConfig{R: in, Name: f.name})
	if err != nil {
		return nil, err
	}
	s.in = r
	return s, nil
}

// summary reads the file's index; nil if it has none.
func (f *File) summary() (*mcap.Summary, error) {
	if f.zipped {
		return nil, nil
	}
	s, err := mcap.ReadSummary(f.r, f.size, f.name)
	var p *problem.Problem
	switch {
	case err == nil && s.Statistics == nil, errors.Is(err, mcap.ErrNoSummary), errors.As(err, &p):
		return nil, nil // it can still be read from its beginning
	case err != nil:
		return nil, err
	}
	return s, nil
}

// Objects lists the topics of an MCAP file with readings that a broker told
// and no Player message was made of: Readers do not give them. It needs the
// file's index: without one it finds none.
func (f *File) Objects() []string {
	if f.format != MCAP {
		return nil
	}
	s, err := f.summary()
	if s == nil || err != nil {
		return nil
	}
	messages := map[string]bool{}
	var topics []string
	for id, c := range s.Channels() {
		if device, ok := strings.CutSuffix(c.Topic, "/player"); ok && s.Statistics.ChannelMessages[id] > 0 {
			messages[device] = true
		}
	}
	for id, c := range s.Channels() {
		schema := s.Schema(c.SchemaID)
		device, ok := strings.CutSuffix(c.Topic, "/reading")
		if ok && schema != nil && schema.Name == objectSchema && s.Statistics.ChannelMessages[id] > 0 && !messages[device] {
			topics = append(topics, c.Topic)
		}
	}
	slices.Sort(topics)
	return topics
}

func (f *File) foreign() error {
	return fmt.Errorf("run: %s is an MCAP file without messages of Player servers, expected one that callboard record wrote", f.name)
}

// meet notes what a channel holds.
func (s *mcapSource) meet(id uint16, c *mcap.Channel, schema *mcap.Schema) channelKind {
	kind := kindOther
	switch {
	case schema == nil:
	case schema.Name == eventSchema && c.Encoding == "json":
		kind = kindEvent
	case schema.Name == MessageSchema && c.Encoding == "protobuf":
		kind = kindMessage
	}
	s.found = s.found || kind != kindOther
	s.kinds[id], s.names[id] = kind, c.Metadata["robot"]
	return kind
}

func (s *mcapSource) next() (*Record, error) {
	for {
		if s.take(&s.before) {
			return &s.before, nil
		}
		if s.waiting {
			s.waiting = false
			return &s.out, nil
		}
		m, err := s.in.Next()
		var p *problem.Problem
		switch {
		case err == io.EOF && !s.found && len(s.kinds) > 0:
			s.found = true
			return nil, s.file.foreign()
		case errors.As(err, &p):
			return nil, p
		case err != nil:
			return nil, err
		}
		switch s.kindOf(m.ChannelID) {
		case kindEvent:
			err = s.read(m)
		case kindMessage:
			err = s.message(m)
		}
		if err != nil {
			offset, _ := s.in.Offset()
			return nil, s.problem(offset, err.Error())
		}
	}
}

// kindOf returns what a message's channel holds.
func (s *mcapSource) kindOf(id uint16) channelKind {
	if kind := s.kinds[id]; kind != 0 {
		return kind
	}
	r := s.in.(*mcap.Reader) // with an index all are met
	c := r.Channel(id)
	return s.meet(id, c, r.Schema(c.SchemaID))
}

func logged(m *mcap.Message) time.Time { return time.Unix(0, int64(min(m.LogTime, 1<<63-1))) }

// read takes an event.
func (s *mcapSource) read(m *mcap.Message) error {
	offset, _ := s.in.Offset()
	return s.happened(m.Data, logged(m), offset)
}

// happened takes the text of an event.
func (s *mcapSource) happened(text []byte, at time.Time, offset int64) error {
	rec, err := parseEvent(text)
	if err != nil {
		return fmt.Errorf("in an event: %w", err)
	}
	rec.Logged, rec.Offset = at, offset
	s.event(rec, func(d *player.Device) place { return mcapPlace(rec.Robot, d.Addr) })
	return nil
}

// mcapPlace is where the messages of a robot's device come from.
func mcapPlace(robot string, a player.Addr) place {
	return place{robot, player.Addr{Interf: a.Interf, Index: a.Index}}
}

// message takes a message of a device.
func (s *mcapSource) message(m *mcap.Message) error {
	h, body, err := parseMessage(m.Data)
	if err != nil {
		return fmt.Errorf("in a message of a device: %w", err)
	}
	offset, _ := s.in.Offset()
	d := s.arrived(s.names[m.ChannelID], h, logged(m), offset)
	if !s.options.Want(d.device, h.Subtype) {
		return nil
	}
	if s.options.Bodies {
		s.raw.Body = body
		s.out.Payload = &s.raw
	} else if s.out.Payload, err = s.payload(&h, body); err != nil {
		s.out.Odd = s.unfit(h, err)
	}
	return nil
}

func (s *mcapSource) problem(offset int64, message string) *problem.Problem {
	return &problem.Problem{Place: problem.Place{File: s.file.name}, Binary: true, Offset: offset, Message: message}
}

// unfit is the problem of a message whose body is none of its kind.
func (s *mcapSource) unfit(h player.Header, err error) *problem.Problem {
	return s.problem(s.out.Offset, fmt.Sprintf("a %s that does not fit: %v", h, err))
}

// arrived makes out the record of a message, without its payload.
func (s *mcapSource) arrived(name string, h player.Header, at time.Time, offset int64) *tracked {
	d := s.devices[mcapPlace(name, h.Addr)]
	if d == nil || !d.robot.up {
		d = s.met(name, h.Addr)
	}
	s.out = d.robot.about(Record{Kind: Data, Device: d.device, Header: h, Logged: at, Offset: offset})
	s.waiting = true
	return d
}

// met introduces a device.
func (s *mcapSource) met(name string, a player.Addr) *tracked {
	return s.introduce(mcapPlace(name, a), a, func() *robot {
		r := s.robots[name]
		if r == nil {
			r = &robot{name: name}
			s.robots[name] = r
		}
		return r
	})
}

// payload decodes a body into a struct of its own for each kind of message.
func (s *mcapSource) payload(h *player.Header, body []byte) (any, error) {
	m, known := iface.Lookup(h.Interf, h.Type, h.Subtype)
	if !known {
		s.raw.Body = body
		return &s.raw, nil
	}
	p := s.reuse[m]
	if p == nil {
		p = m.New()
		s.reuse[m] = p
	}
	if err := m.Decode(body, p); err != nil {
		return nil, err
	}
	return p, nil
}

func (s *mcapSource) close() { s.in.Close() }
