package worldfile

import (
	"callboard/player/problem"
	"math"
)

// Actuator holds an actuator's settings: how far it can slide (m) or turn (rad)
// from where it was built. Stage 4.3 never moves it from where it starts.
type Actuator struct {
	Turns    bool       // else it slides
	Axis     [3]float64 // of sliding, of length 1, or 0 if none is given
	Min, Max float64
	Start    float64
	Speed    float64 // at most, per s
}

// actuator reads an actuator and puts m where it starts.
func (in *interpreter) actuator(m *Model, e *Entity) *Actuator {
	a := &Actuator{
		Min: in.number(e, "min_position", 0), Max: in.number(e, "max_position", 1),
		Start: in.number(e, "start_position", 0), Speed: in.number(e, "max_speed", 1),
	}
	switch t := in.text(e, "type", "linear"); t {
	case "linear":
	case "rotational":
		a.Turns = true
	default:
		in.Warnf(e.Get("type").Pos, "type %q is unknown; expected \"linear\" or \"rotational\", linear is taken", problem.Short(t))
	}
	if p := in.tuple(e, "axis", 3, "[x y z]"); p != nil && !a.Turns {
		v := [3]float64{in.value(p, 0), in.value(p, 1), in.value(p, 2)}
		length := math.Sqrt(v[0]*v[0] + v[1]*v[1] + v[2]*v[2])
		if length == 0 {
			in.Warnf(p.Pos, "axis has no length; expected a direction, x is taken")
			v[0], length = 1, 1
		}
		a.Axis = [3]float64{v[0] / length, v[1] / length, v[2] / length}
	}
	if a.Turns {
		m.Pose.A = NormalizeAngle(m.Pose.A + a.Start)
		return a
	}
	m.Pose = m.Pose.Add(Pose{X: a.Axis[0] * a.Start, Y: a.Axis[1] * a.Start, Z: a.Axis[2] * a.Start})
	return a
}
