package worldfile

import (
	"fmt"
	"math"
)

// Limits of a ranger.
const (
	maxSensors = 10000
	maxSamples = 100000
)

// ranger reads a ranger's sensors, those of Stage 4 or the old numbered ones.
func (in *interpreter) ranger(m *Model, e *Entity) *Ranger {
	r := &Ranger{}
	for _, c := range e.Children {
		if c.Type == "sensor" {
			r.Sensors = append(r.Sensors, in.sensor(c))
		}
	}
	if len(r.Sensors) == 0 && (in.dialect < 3 || e.Get("scount") != nil || m.Type == "sonar") {
		r.Sensors = in.numbered(e)
	}
	if len(r.Sensors) > maxSensors {
		in.Errorf(e.Pos, "a ranger with %d sensors; expected at most %d", len(r.Sensors), maxSensors)
	}
	return r
}

func (in *interpreter) sensor(e *Entity) Sensor {
	s := Sensor{
		Pose:     in.pose(e, "pose", Pose{}),
		Size:     in.size(e, "size", Size{0.02, 0.02, 0.02}),
		MaxRange: 5,
		FOV:      in.angleOf(e, "fov", 0.1),
		Samples:  in.samples(e, 1),
	}
	if p := in.tuple(e, "range", 2, "[min max]"); p != nil {
		s.MinRange, s.MaxRange = in.metres(p, 0), in.metres(p, 1)
	}
	if p := e.Get("view"); p != nil {
		in.once("view", p.Pos, "view in a sensor is of Stage 3: it has no effect; expected range and fov")
	}
	if p := in.tuple(e, "noise", 3, "[constant proportional angular]"); p != nil {
		s.NoiseConst, s.NoiseProp, s.NoiseAngular = in.metres(p, 0), in.value(p, 1), in.value(p, 2)*in.angle
	}
	in.unread(e, knownSensor)
	in.checkSensor(e, &s)
	return s
}

// samples reads the number of samples.
func (in *interpreter) samples(e *Entity, otherwise int) int {
	n := in.integer(e, "samples", otherwise)
	if n < 0 || n > maxSamples {
		in.Errorf(e.Get("samples").Pos, "samples is %d; expected 0 to %d", n, maxSamples)
		return otherwise
	}
	return n
}

func (in *interpreter) checkSensor(e *Entity, s *Sensor) {
	if s.MaxRange < 0 {
		in.Errorf(e.Pos, "a sensor reaches %v m; expected 0 or more", s.MaxRange)
	}
	if s.FOV < 0 {
		in.Warnf(e.Pos, "a sensor's fov is below 0; its samples run clockwise")
	}
}

// laser makes a ranger with one sensor of an old laser, whose rays start in the
// middle of its body.
func (in *interpreter) laser(m *Model, e *Entity) *Ranger {
	s := Sensor{
		Size:     Size{m.Size.X, m.Size.Y, m.Size.Z},
		MinRange: in.lengthOf(e, "range_min", 0),
		MaxRange: in.lengthOf(e, "range_max", 8),
		FOV:      in.angleOf(e, "fov", math.Pi),
		Samples:  in.samples(e, 180),
	}
	e.Get("laser_sample_skip")
	e.Get("resolution")
	in.checkSensor(e, &s)
	return &Ranger{Sensors: []Sensor{s}}
}

// numbered makes the sensors of an old ranger: scount of them, placed by
// spose[i], all with the same view and size.
func (in *interpreter) numbered(e *Entity) []Sensor {
	const ring = 16
	n := in.integer(e, "scount", ring)
	if n < 0 || n > maxSensors {
		in.Errorf(e.Get("scount").Pos, "scount is %d; expected 0 to %d", n, maxSensors)
		return nil
	}
	if p := e.Get("scount"); p != nil {
		in.once("scount", p.Pos, "scount is of Stage 3 or older: its %d sensors are taken, Stage 4 sees none", n)
	}
	s := Sensor{
		Size:     in.oldSize(e),
		MaxRange: 5,
		FOV:      15 * math.Pi / 180,
		Samples:  1,
		Clip:     in.dialect < 3,
	}
	if p := in.tuple(e, "sview", 3, "[min max fov]"); p != nil {
		s.MinRange, s.MaxRange, s.FOV = in.metres(p, 0), in.metres(p, 1), in.value(p, 2)*in.angle
	}
	e.Get("sraycount")
	in.checkSensor(e, &s)
	sensors := make([]Sensor, n)
	for i := range sensors {
		sensors[i] = s
		name := fmt.Sprintf("spose[%d]", i)
		if e.Get(name) == nil {
			if e.Get("scount") == nil {
				sensors[i].Pose = Pose{A: NormalizeAngle(2 * math.Pi * float64(i) / ring)}
			}
			continue
		}
		sensors[i].Pose = in.pose(e, name, Pose{})
	}
	return sensors
}

func (in *interpreter) oldSize(e *Entity) Size {
	out := Size{0.01, 0.05, 0}
	if p := in.tuple(e, "ssize", 2, "[x y]"); p != nil {
		out.X, out.Y = in.metres(p, 0), in.metres(p, 1)
	}
	return out
}
