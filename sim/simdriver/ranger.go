package simdriver

import (
	"callboard/player/iface"
	"callboard/player/server"
	"callboard/sim"
)

// rangerEndpoint serves a ranger as ranger.
type rangerEndpoint struct {
	*binding
	ring   samples
	ranges iface.RangerDataRange
	intns  iface.RangerDataIntns
}

// publish sends a scan and then the intensities that complete it.
func (e *rangerEndpoint) publish(now float64) {
	if !e.ring.take(e.model.Ranger()) {
		return
	}
	e.ranges.Ranges, e.intns.Intensities = e.ring.ranges, e.ring.returned
	e.pub.Publish(e.addr, iface.DataRangerRange, now, &e.ranges)
	e.pub.Publish(e.addr, iface.DataRangerIntns, now, &e.intns)
}

func (e *rangerEndpoint) handle(c *server.Call) {
	if c.Header.Subtype == iface.ReqRangerGetGeom {
		c.Ack(e.geometry())
	} else {
		cfg := e.rangerConfig()
		c.Ack(&cfg)
	}
}

// geometry returns the ranger's pose on its parent without its height, and of each
// sensor its pose and size, width and length exchanged, as Stage does.
func (e *rangerEndpoint) geometry() *iface.RangerGeom {
	spec := e.model.Spec()
	g := &iface.RangerGeom{
		Pose: iface.Pose3D{Px: spec.Pose.X, Py: spec.Pose.Y, Pyaw: spec.Pose.A},
		Size: iface.BBox3D{Sw: spec.Size.Y, Sl: spec.Size.X},
	}
	for _, s := range spec.Ranger.Sensors {
		g.ElementPoses = append(g.ElementPoses, pose3D(s.Pose))
		g.ElementSizes = append(g.ElementSizes, iface.BBox3D{Sw: s.Size.X, Sl: s.Size.Y, Sh: s.Size.Z})
	}
	return g
}

// rangerConfig returns the configuration of the first sensor. Its angular
// resolution is the field of view by the number of samples, as in Stage, which
// is not the angle between two of them.
func (b *binding) rangerConfig() iface.RangerConfig {
	spec := b.model.Spec()
	cfg := iface.RangerConfig{
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

// samples is a reading as one message has it.
type samples struct {
	ranges, returned []float64
	own              [2][]float64 // memory for a ring's
}

// take takes all samples of a single sensor, or the first one of each of
// several; false: there is no sensor.
func (s *samples) take(r *sim.Ranger) bool {
	switch n := len(r.Sensors()); n {
	case 0:
		return false
	case 1:
		s.ranges, s.returned = r.Ranges(0), r.Intensities(0)
	default:
		s.own[0], s.own[1] = s.own[0][:0], s.own[1][:0]
		for i := range n {
			v, intensity := r.Sensors()[i].MaxRange, 0.0
			if ranges := r.Ranges(i); len(ranges) > 0 {
				v, intensity = ranges[0], r.Intensities(i)[0]
			}
			s.own[0], s.own[1] = append(s.own[0], v), append(s.own[1], intensity)
		}
		s.ranges, s.returned = s.own[0], s.own[1]
	}
	return true
}
