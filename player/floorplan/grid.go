package floorplan

import (
	"math"
	"slices"

	"callboard/player/iface"
)

// Cells of a grid.
const (
	free     = -1
	unknown  = 0
	occupied = 1
)

// minCell is the least length of a cell, in m, and maxSide how many a grid has
// along one side.
const (
	minCell = 0.02
	maxSide = 2000
)

// Grid is a map in cells, row by row from the lowest: below 0 free, 0 unknown, above
// 0 occupied. It is immutable.
type Grid struct {
	Info  iface.MapInfo
	Cells []int8
}

// Equal reports whether two grids are the same.
func (g *Grid) Equal(o *Grid) bool {
	if g == nil || o == nil {
		return g == o
	}
	return g.Info == o.Info && slices.Equal(g.Cells, o.Cells)
}

// shrink returns the grid with larger cells, so that there are at most maxSide along a
// side: one is occupied if any in it was, or else unknown if any was.
func (g *Grid) shrink() *Grid {
	width, height := int(g.Info.Width), int(g.Info.Height)
	times := (max(width, height) + maxSide - 1) / maxSide
	if times <= 1 {
		return g
	}
	out := &Grid{Info: g.Info}
	out.Info.Scale *= float32(times)
	out.Info.Width, out.Info.Height = uint32((width+times-1)/times), uint32((height+times-1)/times)
	out.Cells = make([]int8, int(out.Info.Width)*int(out.Info.Height))
	for i := range out.Cells {
		out.Cells[i] = free
	}
	for i, c := range g.Cells {
		to := &out.Cells[i/width/times*int(out.Info.Width)+i%width/times]
		switch {
		case c > 0:
			*to = occupied
		case c == unknown && *to == free:
			*to = unknown
		}
	}
	return out
}

// grid is a plan in cells, row by row from the lowest.
type grid struct {
	info  iface.MapInfo
	cells []int8
}

// Cells draws the plan's outlines into cells, row by row from the lowest: -1 is
// free, 1 occupied. A cell is minCell m long, or more, so that there are at most
// maxSide along a side.
func (p *Plan) Cells(minCell float64, maxSide int) (iface.MapInfo, []int8) {
	g := newGrid(p, minCell, maxSide)
	return g.info, g.cells
}

// newGrid draws the plan's outlines into cells that are as small as the limits
// let them be.
func newGrid(p *Plan, minCell float64, maxSide int) *grid {
	width, height := max(p.Max[0]-p.Min[0], minCell), max(p.Max[1]-p.Min[1], minCell)
	scale := max(minCell, max(width, height)/float64(maxSide-2))
	g := &grid{info: iface.MapInfo{
		Scale: float32(scale), Width: uint32(math.Ceil(width/scale)) + 2, Height: uint32(math.Ceil(height/scale)) + 2,
		Origin: iface.Pose2D{Px: p.Min[0] - scale, Py: p.Min[1] - scale},
	}}
	g.cells = make([]int8, int(g.info.Width)*int(g.info.Height))
	for i := range g.cells {
		g.cells[i] = free
	}
	for _, s := range p.segments() {
		g.line(s)
	}
	return g
}

// line marks the cells that a line goes through.
func (g *grid) line(s iface.Segment) {
	scale := float64(g.info.Scale)
	steps := int(math.Hypot(s.X1-s.X0, s.Y1-s.Y0)/scale*2) + 1
	for i := range min(steps, 8*maxSide) + 1 {
		t := float64(i) / float64(steps)
		g.mark(int((s.X0+t*(s.X1-s.X0)-g.info.Origin.Px)/scale), int((s.Y0+t*(s.Y1-s.Y0)-g.info.Origin.Py)/scale))
	}
}

func (g *grid) mark(col, row int) {
	if col >= 0 && row >= 0 && col < int(g.info.Width) && row < int(g.info.Height) {
		g.cells[row*int(g.info.Width)+col] = occupied
	}
}

// at returns a cell; what is off the grid is unknown.
func (g *grid) at(col, row int) int8 {
	if col < 0 || row < 0 || col >= int(g.info.Width) || row >= int(g.info.Height) {
		return unknown
	}
	return g.cells[row*int(g.info.Width)+col]
}

// outlines returns the borders of what is occupied: the sides of cells, those in
// a row as one line.
func (g *grid) outlines() [][][2]float64 {
	var out [][][2]float64
	scale := float64(g.info.Scale)
	corner := func(col, row int) [2]float64 {
		return [2]float64{g.info.Origin.Px + float64(col)*scale, g.info.Origin.Py + float64(row)*scale}
	}
	width, height := int(g.info.Width), int(g.info.Height)
	wall := func(col, row int) bool { return g.at(col, row) > 0 }
	for row := range height + 1 {
		for col := 0; col < width; {
			from := col
			for col < width && wall(col, row-1) != wall(col, row) {
				col++
			}
			if col > from {
				out = append(out, [][2]float64{corner(from, row), corner(col, row)})
				continue
			}
			col++
		}
	}
	for col := range width + 1 {
		for row := 0; row < height; {
			from := row
			for row < height && wall(col-1, row) != wall(col, row) {
				row++
			}
			if row > from {
				out = append(out, [][2]float64{corner(col, from), corner(col, row)})
				continue
			}
			row++
		}
	}
	return out
}
