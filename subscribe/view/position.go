package view

import (
	"math"

	"callboard/player"
	"callboard/player/iface"
)

// Position is where a robot believes to be and how fast it goes, in its own
// frame: of a position2d, or of a position3d, which alone tells what is not in
// the plane.
type Position struct {
	X      float64 `expr:"x" unit:"m" doc:"position"`
	Y      float64 `expr:"y" unit:"m" doc:"position"`
	Yaw    float64 `expr:"yaw" unit:"rad" doc:"heading"`
	VX     float64 `expr:"vx" unit:"m/s" doc:"speed forward"`
	VY     float64 `expr:"vy" unit:"m/s" doc:"speed to the left"`
	VYaw   float64 `expr:"vyaw" unit:"rad/s" doc:"speed of turning"`
	Speed  float64 `expr:"speed" unit:"m/s" doc:"speed in any direction"`
	Stall  bool    `expr:"stall" doc:"the motors are stalled"`
	Z      float64 `expr:"z" unit:"m" doc:"height, of a position3d; 0 of a position2d, as the next five" when:"spatial"`
	Roll   float64 `expr:"roll" unit:"rad" doc:"how far it leans to the right" when:"spatial"`
	Pitch  float64 `expr:"pitch" unit:"rad" doc:"how far it leans forward" when:"spatial"`
	VZ     float64 `expr:"vz" unit:"m/s" doc:"speed upward" when:"spatial"`
	VRoll  float64 `expr:"vroll" unit:"rad/s" doc:"speed of rolling" when:"spatial"`
	VPitch float64 `expr:"vpitch" unit:"rad/s" doc:"speed of pitching" when:"spatial"`
	Stamp

	spatial bool // of a position3d
}

// read takes the state of a position2d or position3d.
func (p *Position) read(m player.Reading, _ View) bool {
	switch d := m.Payload.(type) {
	case *iface.Position2DData:
		*p = Position{
			X: d.Pos.Px, Y: d.Pos.Py, Yaw: d.Pos.Pa, VX: d.Vel.Px, VY: d.Vel.Py, VYaw: d.Vel.Pa,
			Speed: math.Hypot(d.Vel.Px, d.Vel.Py), Stall: d.Stall != 0,
		}
	case *iface.Position3DData:
		*p = Position{
			X: d.Pos.Px, Y: d.Pos.Py, Z: d.Pos.Pz, Roll: d.Pos.Proll, Pitch: d.Pos.Ppitch, Yaw: d.Pos.Pyaw,
			VX: d.Vel.Px, VY: d.Vel.Py, VZ: d.Vel.Pz, VRoll: d.Vel.Proll, VPitch: d.Vel.Ppitch, VYaw: d.Vel.Pyaw,
			Speed: length(d.Vel.Px, d.Vel.Py, d.Vel.Pz), Stall: d.Stall != 0, spatial: true,
		}
	default:
		return false
	}
	return true
}

// length is that of a vector.
func length(x, y, z float64) float64 { return math.Hypot(math.Hypot(x, y), z) }

// Distance returns the distance to a point of the plane, in m.
func (p *Position) Distance(x, y float64) float64 { return math.Hypot(p.X-x, p.Y-y) }
