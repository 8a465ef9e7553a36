package worldfile

import (
	"callboard/player/problem"
	"math"
)

// Gripper holds a gripper's settings.
type Gripper struct {
	PaddleSize Size // parts of the body, 0 to 1
	Closed, Up bool // at the start
	AutoSnatch bool // it closes when a beam is broken, and opens when none is
	Fixed      bool // the file gives it another body, without paddles that move
}

// Blocks returns the body of a gripper of that size: a base and two paddles in
// front, closed and lifted by a part of 0 to 1.
func (g *Gripper) Blocks(size Size, closed, lift float64) []Block {
	p := g.PaddleSize
	rect := func(x0, y0, x1, y1, low, high float64) Block {
		x0, x1 = (x0-0.5)*size.X, (x1-0.5)*size.X
		y0, y1 = (y0-0.5)*size.Y, (y1-0.5)*size.Y
		return Block{Points: []Point{{x0, y0}, {x1, y0}, {x1, y1}, {x0, y1}}, Low: low * size.Z, High: high * size.Z}
	}
	in, bottom := closed*math.Max(0, 0.5-p.Y), lift*math.Max(0, 1-p.Z)
	return []Block{
		rect(0, 0, 1-p.X, 1, 0, 1),
		rect(1-p.X, in, 1, in+p.Y, bottom, bottom+p.Z),
		rect(1-p.X, 1-in-p.Y, 1, 1-in, bottom, bottom+p.Z),
	}
}

// Opening returns the parts of 0 to 1 by which it is closed and lifted at the
// start.
func (g *Gripper) Opening() (closed, lift float64) {
	if g.Closed {
		closed = 1
	}
	if g.Up {
		lift = 1
	}
	return closed, lift
}

func (in *interpreter) gripper(e *Entity) *Gripper {
	g := &Gripper{PaddleSize: Size{0.66, 0.1, 0.4}, AutoSnatch: in.flag(e, "autosnatch", false)}
	if p := in.tuple(e, "paddle_size", 3, "[length width height] as parts of the size"); p != nil {
		s := Size{in.value(p, 0), in.value(p, 1), in.value(p, 2)}
		if s.X < 0 || s.X > 1 || s.Y < 0 || s.Y > 1 || s.Z < 0 || s.Z > 1 {
			in.Errorf(p.Pos, "paddle_size is %v %v %v; expected parts of the gripper's size, each 0 to 1", s.X, s.Y, s.Z)
		} else {
			g.PaddleSize = s
		}
	}
	if p := e.Get("paddle_state"); p != nil {
		for _, v := range p.Values {
			switch v {
			case "closed":
				g.Closed = true
			case "up":
				g.Up = true
			case "open", "down":
			default:
				in.Warnf(p.Pos, "paddle_state %q is unknown; expected \"open\" or \"closed\", and \"up\" or \"down\"", problem.Short(v))
			}
		}
	}
	for _, c := range e.Children {
		g.Fixed = g.Fixed || c.Type == "block"
	}
	g.Fixed = g.Fixed || has(e, "bitmap") || has(e, "polygons") || in.flag(e, "noblocks", false)
	return g
}
