package view

import (
	"callboard/player"
	"callboard/player/iface"
)

// Limb is where the end of an arm is and where it points.
type Limb struct {
	X            float64 `expr:"x"`
	Y            float64 `expr:"y"`
	Z            float64 `expr:"z"`
	ApproachX    float64 `expr:"approach_x"`
	ApproachY    float64 `expr:"approach_y"`
	ApproachZ    float64 `expr:"approach_z"`
	OrientationX float64 `expr:"orientation_x"`
	OrientationY float64 `expr:"orientation_y"`
	OrientationZ float64 `expr:"orientation_z"`
	State        int     `expr:"state"`
	Idle         bool    `expr:"idle"`
	Braked       bool    `expr:"braked"`
	Moving       bool    `expr:"moving"`
	OutOfReach   bool    `expr:"out_of_reach"`
	Collision    bool    `expr:"collision"`
	Stamp
}

func (l *Limb) read(m player.Reading, _ View) bool {
	d, ok := m.Payload.(*iface.LimbData)
	if !ok {
		return false
	}
	*l = Limb{
		X: d.Position.Px, Y: d.Position.Py, Z: d.Position.Pz,
		ApproachX: d.Approach.Px, ApproachY: d.Approach.Py, ApproachZ: d.Approach.Pz,
		OrientationX: d.Orientation.Px, OrientationY: d.Orientation.Py, OrientationZ: d.Orientation.Pz,
		State:      int(d.State),
		Idle:       d.State == iface.LimbStateIdle,
		Braked:     d.State == iface.LimbStateBraked,
		Moving:     d.State == iface.LimbStateMoving,
		OutOfReach: d.State == iface.LimbStateOOR,
		Collision:  d.State == iface.LimbStateColl,
	}
	return true
}

var limbFields = with(
	number("x", "m", "where the end is", func(l *Limb) float64 { return l.X }),
	number("y", "m", "where the end is", func(l *Limb) float64 { return l.Y }),
	number("z", "m", "where the end is", func(l *Limb) float64 { return l.Z }),
	number("approach_x", "", "where it points, as a vector", func(l *Limb) float64 { return l.ApproachX }),
	number("approach_y", "", "where it points, as a vector", func(l *Limb) float64 { return l.ApproachY }),
	number("approach_z", "", "where it points, as a vector", func(l *Limb) float64 { return l.ApproachZ }),
	number("orientation_x", "", "across that, as a vector", func(l *Limb) float64 { return l.OrientationX }),
	number("orientation_y", "", "across that, as a vector", func(l *Limb) float64 { return l.OrientationY }),
	number("orientation_z", "", "across that, as a vector", func(l *Limb) float64 { return l.OrientationZ }),
	whole("state", "", "1: idle, 2: braked, 3: moving, 4: out of reach, 5: collision", func(l *Limb) int { return l.State }),
	truth("idle", "it is idle", func(l *Limb) bool { return l.Idle }),
	truth("braked", "its brakes are on", func(l *Limb) bool { return l.Braked }),
	truth("moving", "it moves", func(l *Limb) bool { return l.Moving }),
	truth("out_of_reach", "the target is out of reach", func(l *Limb) bool { return l.OutOfReach }),
	truth("collision", "a collision has stopped it", func(l *Limb) bool { return l.Collision }),
)

// AppendText appends the view as the text of an object: see protocol.Seal.
func (l *Limb) AppendText(dst []byte) []byte { return appendFields(dst, l, limbFields) }
