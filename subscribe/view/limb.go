package view

import (
	"callboard/player"
	"callboard/player/iface"
)

// Limb is where the end of an arm is and where it points.
type Limb struct {
	X            float64 `expr:"x" unit:"m" doc:"where the end is"`
	Y            float64 `expr:"y" unit:"m" doc:"where the end is"`
	Z            float64 `expr:"z" unit:"m" doc:"where the end is"`
	ApproachX    float64 `expr:"approach_x" doc:"where it points, as a vector"`
	ApproachY    float64 `expr:"approach_y" doc:"where it points, as a vector"`
	ApproachZ    float64 `expr:"approach_z" doc:"where it points, as a vector"`
	OrientationX float64 `expr:"orientation_x" doc:"across that, as a vector"`
	OrientationY float64 `expr:"orientation_y" doc:"across that, as a vector"`
	OrientationZ float64 `expr:"orientation_z" doc:"across that, as a vector"`
	State        int     `expr:"state" doc:"1: idle, 2: braked, 3: moving, 4: out of reach, 5: collision"`
	Idle         bool    `expr:"idle" doc:"it is idle"`
	Braked       bool    `expr:"braked" doc:"its brakes are on"`
	Moving       bool    `expr:"moving" doc:"it moves"`
	OutOfReach   bool    `expr:"out_of_reach" doc:"the target is out of reach"`
	Collision    bool    `expr:"collision" doc:"a collision has stopped it"`
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
