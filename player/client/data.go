package client

import (
	"math"
	"slices"
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
	if d == nil || d.state == closed {
		s.count.stray.Add(1)
		return nil
	}
	if d.state == opening { // the data has overtaken the answer
		d.state = opened
		s.changed(d)
	}
	slot := d.slot(h.Interf, h.Subtype)
	if err := slot.decode(body); err != nil {
		s.count.undecodable.Add(1)
		s.warn(id(h.Addr), 0, h.Subtype, "message is skipped", "device", h.Addr.String(), "subtype", h.Subtype, "err", err)
		return nil
	}
	s.learn(d, slot.payload)
	s.count.readings.Add(1)
	if s.cfg.Mode == player.Push && !s.fresh {
		s.fresh = true
		s.due(s.lastRead.Add(quiet))
	}
	s.cfg.Handler.Message(h, slot.payload)
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
	changed := false
	switch p := payload.(type) {
	case *iface.LaserGeom:
		changed = d.setGeometry(p.Pose, p.Size, nil)
	case *iface.Position2DGeom:
		changed = d.setGeometry(p.Pose, p.Size, nil)
	case *iface.SonarGeom:
		changed = d.setGeometry(iface.Pose3D{}, iface.BBox3D{}, p.Poses)
	case *iface.RangerGeom:
		changed = d.setGeometry(p.Pose, p.Size, p.ElementPoses)
	case *iface.RangerConfig:
		changed = d.setConfig(p)
	case *iface.RangerDataRangestamped:
		changed = d.setStamped(p.HaveGeom, &p.Geom, p.HaveConfig, &p.Config)
	case *iface.RangerDataIntnsstamped:
		changed = d.setStamped(p.HaveGeom, &p.Geom, p.HaveConfig, &p.Config)
	default:
		return
	}
	if changed {
		s.changed(d)
	}
}

func (d *device) setStamped(haveGeom uint8, g *iface.RangerGeom, haveConfig uint8, c *iface.RangerConfig) bool {
	a := haveGeom != 0 && d.setGeometry(g.Pose, g.Size, g.ElementPoses)
	b := haveConfig != 0 && d.setConfig(c)
	return a || b
}

// setGeometry tells whether it is new. It allocates only then.
func (d *device) setGeometry(pose iface.Pose3D, size iface.BBox3D, elements []iface.Pose3D) bool {
	if g := d.Geometry; g != nil && samePose(g.Pose, pose.Pose()) && sameSize(g.Size, size.Size()) &&
		slices.EqualFunc(g.Elements, elements, func(a player.Pose, b iface.Pose3D) bool { return samePose(a, b.Pose()) }) {
		return false
	}
	g := &player.Geometry{Pose: pose.Pose(), Size: size.Size()}
	for _, e := range elements {
		g.Elements = append(g.Elements, e.Pose())
	}
	d.Geometry = g
	return true
}

func (d *device) setConfig(c *iface.RangerConfig) bool {
	n := player.RangerConfig(*c)
	if o := d.Config; o != nil && same(o.MinAngle, n.MinAngle) && same(o.MaxAngle, n.MaxAngle) &&
		same(o.AngularRes, n.AngularRes) && same(o.MinRange, n.MinRange) && same(o.MaxRange, n.MaxRange) &&
		same(o.RangeRes, n.RangeRes) && same(o.Frequency, n.Frequency) {
		return false
	}
	d.Config = &n
	return true
}

func samePose(a, b player.Pose) bool {
	return same(a.X, b.X) && same(a.Y, b.Y) && same(a.Z, b.Z) &&
		same(a.Roll, b.Roll) && same(a.Pitch, b.Pitch) && same(a.Yaw, b.Yaw)
}

func sameSize(a, b player.Size) bool {
	return same(a.W, b.W) && same(a.L, b.L) && same(a.H, b.H)
}

// same compares bits: real drivers leave fields uninitialised, and a NaN that
// stays is no change.
func same(a, b float64) bool { return math.Float64bits(a) == math.Float64bits(b) }
