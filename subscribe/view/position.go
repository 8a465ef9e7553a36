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
	X      float64 `expr:"x"`      // m
	Y      float64 `expr:"y"`      // m
	Yaw    float64 `expr:"yaw"`    // rad
	VX     float64 `expr:"vx"`     // m/s, forward
	VY     float64 `expr:"vy"`     // m/s, to the left
	VYaw   float64 `expr:"vyaw"`   // rad/s
	Speed  float64 `expr:"speed"`  // m/s, in any direction
	Stall  bool    `expr:"stall"`  // the motors are stalled
	Z      float64 `expr:"z"`      // m
	Roll   float64 `expr:"roll"`   // rad
	Pitch  float64 `expr:"pitch"`  // rad
	VZ     float64 `expr:"vz"`     // m/s, upward
	VRoll  float64 `expr:"vroll"`  // rad/s
	VPitch float64 `expr:"vpitch"` // rad/s
	Time   float64 `expr:"time"`   // s
	Index  int     `expr:"index"`

	spatial bool // of a position3d
}

func (p *Position) stamp(time float64, index int) { p.Time, p.Index = time, index }

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

var positionFields = []field[Position]{
	number("x", "m", "position", func(p *Position) float64 { return p.X }),
	number("y", "m", "position", func(p *Position) float64 { return p.Y }),
	number("yaw", "rad", "heading", func(p *Position) float64 { return p.Yaw }),
	number("vx", "m/s", "speed forward", func(p *Position) float64 { return p.VX }),
	number("vy", "m/s", "speed to the left", func(p *Position) float64 { return p.VY }),
	number("vyaw", "rad/s", "speed of turning", func(p *Position) float64 { return p.VYaw }),
	number("speed", "m/s", "speed in any direction", func(p *Position) float64 { return p.Speed }),
	truth("stall", "the motors are stalled", func(p *Position) bool { return p.Stall }),
	spatial("z", "m", "height, of a position3d; 0 of a position2d, as the next five", func(p *Position) float64 { return p.Z }),
	spatial("roll", "rad", "how far it leans to the right", func(p *Position) float64 { return p.Roll }),
	spatial("pitch", "rad", "how far it leans forward", func(p *Position) float64 { return p.Pitch }),
	spatial("vz", "m/s", "speed upward", func(p *Position) float64 { return p.VZ }),
	spatial("vroll", "rad/s", "speed of rolling", func(p *Position) float64 { return p.VRoll }),
	spatial("vpitch", "rad/s", "speed of pitching", func(p *Position) float64 { return p.VPitch }),
	number("time", "s", "the time of the reading", func(p *Position) float64 { return p.Time }),
	whole("index", "", "the index of the device", func(p *Position) int { return p.Index }),
}

// spatial is a number that only a position3d tells.
func spatial(name, unit, doc string, get func(*Position) float64) field[Position] {
	return number(name, unit, doc, get).when(func(p *Position) bool { return p.spatial })
}

// AppendText appends the view as the text of an object: see protocol.Seal.
func (p *Position) AppendText(dst []byte) []byte { return appendFields(dst, p, positionFields) }
