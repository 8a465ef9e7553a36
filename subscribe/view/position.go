package view

import (
	"math"

	"callboard/player/iface"
)

// Position is where a robot believes to be and how fast it goes, in its own
// frame.
type Position struct {
	X     float64 `expr:"x"`     // m
	Y     float64 `expr:"y"`     // m
	Yaw   float64 `expr:"yaw"`   // rad
	VX    float64 `expr:"vx"`    // m/s, forward
	VY    float64 `expr:"vy"`    // m/s, to the left
	VYaw  float64 `expr:"vyaw"`  // rad/s
	Speed float64 `expr:"speed"` // m/s, in any direction
	Stall bool    `expr:"stall"` // the motors are stalled
	Time  float64 `expr:"time"`  // s
	Index int     `expr:"index"`
}

func (p *Position) stamp(time float64, index int) { p.Time, p.Index = time, index }

// readPosition2D takes a position2d's state.
func (p *Position) readPosition2D(d *iface.Position2DData) {
	p.X, p.Y, p.Yaw = d.Pos.Px, d.Pos.Py, d.Pos.Pa
	p.VX, p.VY, p.VYaw = d.Vel.Px, d.Vel.Py, d.Vel.Pa
	p.Speed, p.Stall = math.Hypot(p.VX, p.VY), d.Stall != 0
}

// Distance gives the distance to a point, in m.
func (p *Position) Distance(x, y float64) float64 { return math.Hypot(p.X-x, p.Y-y) }

// AppendJSON appends the view as a JSON object.
func (p *Position) AppendJSON(dst []byte) []byte {
	dst = appendNumber(dst, `{"x":`, p.X)
	dst = appendNumber(dst, `,"y":`, p.Y)
	dst = appendNumber(dst, `,"yaw":`, p.Yaw)
	dst = appendNumber(dst, `,"vx":`, p.VX)
	dst = appendNumber(dst, `,"vy":`, p.VY)
	dst = appendNumber(dst, `,"vyaw":`, p.VYaw)
	dst = appendNumber(dst, `,"speed":`, p.Speed)
	dst = appendBool(dst, `,"stall":`, p.Stall)
	dst = appendNumber(dst, `,"time":`, p.Time)
	dst = appendInt(dst, `,"index":`, p.Index)
	return append(dst, '}')
}
