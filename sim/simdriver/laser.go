package simdriver

import (
	"math"

	"callboard/player/iface"
	"callboard/player/server"
)

// laserEndpoint serves a ranger as laser, as Stage did up to version 3, and
// Player's driver rangertolaser does.
type laserEndpoint struct {
	*binding
	samples samples
	scan    iface.LaserData
}

// publish sends a scan with its intensities: the reflectance of what was hit,
// cut to a whole number, as rangertolaser does.
func (e *laserEndpoint) publish(now float64) {
	if !e.samples.take(e.model.Ranger()) {
		return
	}
	cfg := e.rangerConfig()
	e.scan.MinAngle, e.scan.MaxAngle = float32(cfg.MinAngle), float32(cfg.MaxAngle)
	e.scan.Resolution, e.scan.MaxRange = float32(cfg.AngularRes), float32(cfg.MaxRange)
	e.scan.Ranges, e.scan.Intensity = e.scan.Ranges[:0], e.scan.Intensity[:0]
	for i, r := range e.samples.ranges {
		e.scan.Ranges = append(e.scan.Ranges, float32(r))
		e.scan.Intensity = append(e.scan.Intensity, uint8(math.Max(0, math.Min(255, e.samples.returned[i]))))
	}
	e.pub.Publish(e.addr, iface.DataLaserScan, now, &e.scan)
}

func (e *laserEndpoint) handle(c *server.Call) {
	spec := e.model.Spec()
	switch c.Header.Subtype {
	case iface.ReqLaserGetGeom:
		c.Ack(&iface.LaserGeom{
			Pose: iface.Pose3D{Px: spec.Pose.X, Py: spec.Pose.Y, Pyaw: spec.Pose.A},
			Size: iface.BBox3D{Sw: spec.Size.Y, Sl: spec.Size.X},
		})
	case iface.ReqLaserGetConfig:
		cfg := e.rangerConfig()
		c.Ack(&iface.LaserConfig{
			MinAngle: float32(cfg.MinAngle), MaxAngle: float32(cfg.MaxAngle), Resolution: float32(cfg.AngularRes),
			MaxRange: float32(cfg.MaxRange), RangeRes: float32(cfg.RangeRes), Intensity: 1, ScanningFrequency: float32(cfg.Frequency),
		})
	default:
		c.Ack(nil) // the power is always on
	}
}

// sonarEndpoint serves a ranger as sonar, as Stage did up to version 3.
type sonarEndpoint struct {
	*binding
	samples samples
	data    iface.SonarData
}

func (e *sonarEndpoint) publish(now float64) {
	if !e.samples.take(e.model.Ranger()) {
		return
	}
	e.data.Ranges = e.data.Ranges[:0]
	for _, r := range e.samples.ranges {
		e.data.Ranges = append(e.data.Ranges, float32(r))
	}
	e.pub.Publish(e.addr, iface.DataSonarRanges, now, &e.data)
}

// handle answers with each element's pose on the robot.
func (e *sonarEndpoint) handle(c *server.Call) {
	if c.Header.Subtype != iface.ReqSonarGetGeom {
		c.Ack(nil) // the power is always on
		return
	}
	spec := e.model.Spec()
	g := &iface.SonarGeom{}
	for i := range spec.Ranger.Sensors {
		s := &spec.Ranger.Sensors[i]
		at := spec.Pose.Add(spec.Origin).Add(s.Pose)
		if len(spec.Ranger.Sensors) > 1 {
			g.Poses = append(g.Poses, iface.Pose3D{Px: at.X, Py: at.Y, Pyaw: at.A})
			continue
		}
		for j := range s.Samples {
			g.Poses = append(g.Poses, iface.Pose3D{Px: at.X, Py: at.Y, Pyaw: at.A + s.Bearing(j)})
		}
	}
	c.Ack(g)
}
