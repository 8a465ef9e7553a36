package client

import (
	"time"

	"callboard/player"
	"callboard/player/iface"
)

// slot is where the DATA messages of one device and subtype are decoded,
// again and again.
type slot struct {
	subtype uint8
	message *iface.Message // nil: not in the table
	payload any
}

// data takes a DATA message. Before Up it is kept, so that nothing is lost.
func (s *session) data(h player.Header, body []byte) error {
	if !s.upAt.IsZero() {
		return s.deliver(h, body)
	}
	if len(s.early)+len(body) > maxEarly && s.setup.listed {
		if err := s.up(time.Now()); err != nil { // too much to wait any longer
			return err
		}
		return s.deliver(h, body)
	}
	if len(s.early)+len(body) > maxEarly {
		s.count.stray.Add(1) // nothing is open yet: whose could it be?
		return nil
	}
	s.early = append(h.Append(s.early), body...)
	return nil
}

// deliver decodes a DATA message and hands it over.
func (s *session) deliver(h player.Header, body []byte) error {
	d := s.byID[id(h.Addr)]
	if d == nil || d.state == closed || d.state == closing {
		s.count.stray.Add(1)
		return nil
	}
	if d.state == opening { // the data has overtaken the answer
		d.state = opened
		d.opened()
		s.changed(d)
	}
	s.hear(d, h)
	if s.cfg.Relay != nil {
		s.burst = true
		s.cfg.Relay.Data(h, body)
		if !d.wanted {
			s.count.readings.Add(1)
			return nil
		}
	}
	if err := s.hold(); err != nil {
		return err
	}
	slot := d.slot(h.Interf, h.Subtype)
	if err := slot.decode(body); err != nil {
		s.count.undecodable.Add(1)
		s.warn(id(h.Addr), 0, h.Subtype, "message is skipped", "device", h.Addr.String(), "subtype", h.Subtype, "err", err)
		return nil
	}
	s.learn(d, slot.payload)
	s.count.readings.Add(1)
	if s.cfg.Raw != nil {
		s.cfg.Raw(body)
	}
	s.cfg.Handler.Message(h, slot.payload)
	if s.cfg.Mode == player.Push && !s.fresh && (s.cfg.Holding == nil || s.cfg.Holding()) {
		s.fresh = true
		s.due(s.lastRead.Add(quiet))
	}
	return nil
}

func (d *device) slot(interf player.Interface, subtype uint8) *slot {
	for i := range d.slots {
		if d.slots[i].subtype == subtype {
			return &d.slots[i]
		}
	}
	n := slot{subtype: subtype, payload: &iface.Raw{}}
	if m, ok := iface.Lookup(interf, player.Data, subtype); ok {
		n.message, n.payload = m, m.New()
	}
	d.slots = append(d.slots, n)
	return &d.slots[len(d.slots)-1]
}

func (t *slot) decode(body []byte) error {
	if t.message != nil {
		return t.message.Decode(body, t.payload)
	}
	return iface.Decode(body, t.payload)
}

// warn logs a condition of a device once per session: what can happen with
// every message is counted.
func (s *session) warn(id uint32, about player.Interface, subtype uint8, msg string, attrs ...any) {
	key := uint64(id)<<32 | uint64(about)<<8 | uint64(subtype)
	if !s.warned[key] {
		s.warned[key] = true
		s.log.Warn(msg, attrs...)
	}
}

// learn takes geometry and configuration out of a payload that has any, and
// tells the handler if they are new.
func (s *session) learn(d *device, payload any) {
	if iface.Learn(payload, &d.Geometry, &d.Config) {
		s.changed(d)
	}
}
