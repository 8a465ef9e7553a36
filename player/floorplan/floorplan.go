// Package floorplan takes a world's outlines through Player's map interface,
// both ways: Driver serves them, as lines (GET_VECTOR) and as a grid, which any
// Player client can show; Fetch asks a Player server, ours or another, for what
// its map has.
package floorplan

import (
	"math"

	"callboard/player/iface"
)

// Plan is what does not move in a world.
type Plan struct {
	World    string     // its name, "" if not known
	Min, Max [2]float64 // x and y, m
	// Outlines are closed unless they end elsewhere than they begin.
	Outlines [][][2]float64 // m
	// Grid is the map that a Player server has; nil: it has lines.
	Grid *Grid
}

// segments returns the outlines as lines, in order.
func (p *Plan) segments() []iface.Segment {
	var out []iface.Segment
	for _, o := range p.Outlines {
		for i := 1; i < len(o); i++ {
			out = append(out, iface.Segment{X0: o[i-1][0], Y0: o[i-1][1], X1: o[i][0], Y1: o[i][1]})
		}
	}
	return out
}

// ofSegments puts lines together to outlines: one that begins where the one
// before it ends goes on with it.
func (p *Plan) ofSegments(all []iface.Segment) {
	var outline [][2]float64
	for _, s := range all {
		from, to := [2]float64{s.X0, s.Y0}, [2]float64{s.X1, s.Y1}
		if !finite(from) || !finite(to) {
			continue
		}
		whole := len(outline) > 2 && outline[0] == outline[len(outline)-1]
		if len(outline) > 0 && (whole || outline[len(outline)-1] != from) {
			p.Outlines = append(p.Outlines, outline)
			outline = nil
		}
		if len(outline) == 0 {
			outline = append(outline, from)
		}
		outline = append(outline, to)
	}
	if len(outline) > 0 {
		p.Outlines = append(p.Outlines, outline)
	}
}

func finite(p [2]float64) bool {
	return !math.IsNaN(p[0]) && !math.IsInf(p[0], 0) && !math.IsNaN(p[1]) && !math.IsInf(p[1], 0)
}

// bound takes the bounds from the outlines.
func (p *Plan) bound() {
	p.Min, p.Max = [2]float64{math.Inf(1), math.Inf(1)}, [2]float64{math.Inf(-1), math.Inf(-1)}
	for _, o := range p.Outlines {
		for _, at := range o {
			for i := range at {
				p.Min[i], p.Max[i] = min(p.Min[i], at[i]), max(p.Max[i], at[i])
			}
		}
	}
	if len(p.Outlines) == 0 {
		p.Min, p.Max = [2]float64{}, [2]float64{}
	}
}
