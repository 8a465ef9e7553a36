package simdriver

import (
	"callboard/player"
	"callboard/player/iface"
	"callboard/player/server"
)

// publishRanger sends a scan and then the intensities that complete it: all
// samples of a single sensor, or the first one of each of several.
func (b *binding) publishRanger(now float64) {
	r := b.model.Ranger()
	switch n := len(r.Sensors()); n {
	case 0:
		return
	case 1:
		b.ranges.Ranges, b.intns.Intensities = r.Ranges(0), r.Intensities(0)
	default:
		b.many[0], b.many[1] = b.many[0][:0], b.many[1][:0]
		for i := range n {
			v, intensity := r.Sensors()[i].MaxRange, 0.0
			if ranges := r.Ranges(i); len(ranges) > 0 {
				v, intensity = ranges[0], r.Intensities(i)[0]
			}
			b.many[0], b.many[1] = append(b.many[0], v), append(b.many[1], intensity)
		}
		b.ranges.Ranges, b.intns.Intensities = b.many[0], b.many[1]
	}
	b.pub.Publish(b.addr, iface.DataRangerRange, now, &b.ranges)
	b.pub.Publish(b.addr, iface.DataRangerIntns, now, &b.intns)
}

func (b *binding) handleRanger(c *server.Call) {
	if c.Header.Type != player.Request {
		return
	}
	switch c.Header.Subtype {
	case iface.ReqRangerGetGeom:
		c.Ack(b.rangerGeom())
	case iface.ReqRangerGetConfig:
		c.Ack(b.rangerConfig())
	default:
		c.Nack(nil)
	}
}

// rangerGeom gives the ranger's pose on its parent without heights, and of each
// sensor its pose and size, width and length exchanged, as Stage does.
func (b *binding) rangerGeom() *iface.RangerGeom {
	spec := b.model.Spec()
	g := &iface.RangerGeom{
		Pose: iface.Pose3D{Px: spec.Pose.X, Py: spec.Pose.Y, Pyaw: spec.Pose.A},
		Size: iface.BBox3D{Sw: spec.Size.Y, Sl: spec.Size.X},
	}
	for _, s := range spec.Ranger.Sensors {
		g.ElementPoses = append(g.ElementPoses, iface.Pose3D{Px: s.Pose.X, Py: s.Pose.Y, Pyaw: s.Pose.A})
		g.ElementSizes = append(g.ElementSizes, iface.BBox3D{Sw: s.Size.X, Sl: s.Size.Y, Sh: s.Size.Z})
	}
	return g
}

// rangerConfig gives the configuration of the first sensor. Its angular
// resolution is the field of view by the number of samples, as in Stage, which
// is not the angle between two of them.
func (b *binding) rangerConfig() *iface.RangerConfig {
	spec := b.model.Spec()
	cfg := &iface.RangerConfig{
		RangeRes:  b.simulation.world.File().Resolution,
		Frequency: 1 / spec.Interval.Seconds(),
	}
	if len(spec.Ranger.Sensors) == 0 {
		return cfg
	}
	s := spec.Ranger.Sensors[0]
	cfg.MinAngle, cfg.MaxAngle = -s.FOV/2, s.FOV/2
	cfg.MinRange, cfg.MaxRange = s.MinRange, s.MaxRange
	if s.Samples > 0 {
		cfg.AngularRes = s.FOV / float64(s.Samples)
	}
	return cfg
}
