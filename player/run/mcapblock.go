package run

import (
	"errors"
	"io"
	"time"

	"callboard/player"
	"callboard/player/iface"
	"callboard/player/problem"
)

// mcapBlockSize is how many bytes of messages a block has about.
const mcapBlockSize = 256 << 10

// mcapBlock is some messages of an MCAP file. Unpacking is done when it is
// filled, decoding when it is parsed.
type mcapBlock struct {
	text     []byte // the messages
	messages []mcapItem
	shelves  map[*iface.Message]*payloads
}

// mcapItem is a message, or a place without one.
type mcapItem struct {
	kind     channelKind
	robot    string
	at       time.Time
	offset   int64
	from, to int // in text
	problem  *problem.Problem

	header  player.Header // parsed
	payload any
	skip    bool
	err     error
}

// payloads has the structs for messages of one kind.
type payloads struct {
	all  []any
	used int
}

// fill fills a block with what comes next.
func (s *mcapSource) fill(b *mcapBlock) error {
	b.text, b.messages = b.text[:0], b.messages[:0]
	for len(b.text) < mcapBlockSize {
		m, err := s.in.Next()
		var p *problem.Problem
		switch {
		case err == io.EOF && !s.found && len(s.kinds) > 0:
			s.found = true
			return s.file.foreign()
		case err == io.EOF && len(b.messages) > 0:
			return nil
		case errors.As(err, &p):
			b.messages = append(b.messages, mcapItem{problem: p})
			continue
		case err != nil:
			return err
		}
		kind := s.kindOf(m.ChannelID)
		if kind == kindOther {
			continue
		}
		item := mcapItem{kind: kind, robot: s.names[m.ChannelID], at: logged(m), from: len(b.text)}
		item.offset, _ = s.in.Offset()
		b.text = append(b.text, m.Data...)
		item.to = len(b.text)
		b.messages = append(b.messages, item)
	}
	return nil
}

// parse decodes the messages.
func (b *mcapBlock) parse(choose func(player.Interface) Choice) {
	if b.shelves == nil {
		b.shelves = map[*iface.Message]*payloads{}
	}
	for _, s := range b.shelves {
		s.used = 0
	}
	for i := range b.messages {
		m := &b.messages[i]
		if m.kind != kindMessage {
			continue
		}
		var body []byte
		if m.header, body, m.err = parseMessage(b.text[m.from:m.to]); m.err != nil {
			continue
		}
		switch choose(m.header.Interf) {
		case Nothing:
			m.skip = true
		case HeaderOnly:
			if !iface.Describes(m.header.Interf, m.header.Subtype) {
				continue
			}
			fallthrough
		default:
			m.payload, m.err = b.decode(&m.header, body)
		}
	}
}

func (b *mcapBlock) decode(h *player.Header, body []byte) (any, error) {
	m, known := iface.Lookup(h.Interf, h.Type, h.Subtype)
	if !known {
		return &iface.Raw{Body: body}, nil
	}
	s := b.shelves[m]
	if s == nil {
		s = &payloads{}
		b.shelves[m] = s
	}
	if s.used == len(s.all) {
		s.all = append(s.all, m.New())
	}
	p := s.all[s.used]
	if err := m.Decode(body, p); err != nil {
		return nil, err
	}
	s.used++
	return p, nil
}

// records returns the records of a block that is parsed.
func (s *mcapSource) records(b *mcapBlock, give func(*Record, *problem.Problem)) {
	for i := range b.messages {
		m := &b.messages[i]
		err := m.err
		switch {
		case m.problem != nil:
			give(nil, m.problem)
			continue
		case m.skip:
			continue
		case m.kind == kindEvent:
			err = s.happened(b.text[m.from:m.to], m.at, m.offset)
		case m.header == (player.Header{}):
		default:
			s.arrived(m.robot, m.header, m.at, m.offset)
			if s.out.Payload = m.payload; err != nil {
				s.out.Odd = s.unfit(m.header, err)
			}
			err = nil
		}
		if err != nil {
			give(nil, s.problem(m.offset, err.Error()))
			continue
		}
		for s.take(&s.before) {
			give(&s.before, nil)
		}
		if s.waiting {
			s.waiting = false
			give(&s.out, nil)
		}
	}
}
