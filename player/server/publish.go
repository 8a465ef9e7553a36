package server

import (
	"log/slog"

	"callboard/player"
	"callboard/player/iface"
)

// publisher is the server as drivers see it.
type publisher struct {
	s      *Server
	driver int // which one of the server's
}

func (p publisher) Opened(dev player.Addr) bool {
	d := p.s.device(dev)
	return d != nil && len(d.subscribers()) > 0
}

func (p publisher) Publish(dev player.Addr, subtype uint8, time float64, payload any) {
	d := p.s.device(dev)
	if d == nil {
		p.s.counters.badPayload.Add(1)
		return
	}
	subs := d.subscribers()
	if len(subs) == 0 {
		return
	}
	h := player.Header{Addr: d.addr, Type: player.Data, Subtype: subtype, Timestamp: time}
	m, err := p.s.encode(h, payload)
	if err != nil {
		p.s.badPayload(h, err)
		return
	}
	p.s.deliver(subs, m)
}

func (p publisher) PublishBody(dev player.Addr, subtype uint8, time float64, body []byte) {
	d := p.s.device(dev)
	if d == nil || len(body) > player.MaxBody || len(body)%4 != 0 {
		p.s.counters.badPayload.Add(1)
		return
	}
	subs := d.subscribers()
	if len(subs) == 0 {
		return
	}
	h := player.Header{Addr: d.addr, Type: player.Data, Subtype: subtype, Timestamp: time}
	p.s.deliver(subs, bodyMessage(h, body))
}

// deliver puts m into the queues of all that have its device open.
func (s *Server) deliver(subs []*subscription, m *message) {
	s.counters.published.Add(1)
	for _, sub := range subs {
		sub.conn.deliver(sub, m)
	}
	m.release()
}

// endBatch lets the writers go on after the last batch.
func (s *Server) endBatch() {
	if s.batches.Add(-1) > 0 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.conns {
		c.mu.Lock()
		c.signal()
		c.mu.Unlock()
	}
}

// encode makes the message of h and payload; the caller holds it. Where Player
// knows the message its struct is the only one allowed.
func (s *Server) encode(h player.Header, payload any) (*message, error) {
	m := newMessage(h)
	var err error
	if known, ok := iface.Lookup(h.Interf, h.Type, h.Subtype); ok {
		m.raw, err = known.Append(m.raw, payload)
	} else {
		m.raw, err = iface.Append(m.raw, payload)
	}
	if err != nil {
		m.release()
		return nil, err
	}
	if len(m.raw) > player.MaxMessage {
		err = errTooLarge(len(m.raw))
		m.release()
		return nil, err
	}
	m.seal()
	return m, nil
}

// badPayload counts what a driver handed over that is no message; the first is
// logged, since it is a mistake in the driver.
func (s *Server) badPayload(h player.Header, err error) {
	if s.counters.badPayload.Add(1) == 1 {
		s.log.Error("driver's payload does not encode; further ones are only counted",
			slog.String("message", h.String()), slog.Any("error", err))
	}
}
