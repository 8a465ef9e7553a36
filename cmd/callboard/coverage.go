package main

import (
	"math"

	"callboard/bridge/node"
	"callboard/sim"
)

// cell is a broker's coverage: a rectangle of the floor, m.
type cell struct{ x0, y0, x1, y1 float64 }

// coverage lays the coverage of n brokers over a part of the floor, in rows
// that are gone through as a snake, so that each borders on the one before.
func coverage(n int, low, high sim.Point) []cell {
	width, height := high.X-low.X, high.Y-low.Y
	rows := max(1, min(n, int(math.Round(math.Sqrt(float64(n)*height/width)))))
	var cells []cell
	for row := range rows {
		columns := n / rows
		if row < n%rows {
			columns++
		}
		top := high.Y - height*float64(row)/float64(rows)
		for i := range columns {
			if row%2 == 1 {
				i = columns - 1 - i
			}
			left := low.X + width*float64(i)/float64(columns)
			cells = append(cells, cell{left, top - height/float64(rows), left + width/float64(columns), top})
		}
	}
	return cells
}

// holds reports whether a place is in the cell or not farther than margin from it.
func (c cell) holds(x, y, margin float64) bool {
	return x >= c.x0-margin && x < c.x1+margin && y >= c.y0-margin && y < c.y1+margin
}

// borders reports whether two cells share more than a corner.
func (c cell) borders(d cell) bool {
	const least = 1e-6
	across := min(c.x1, d.x1) - max(c.x0, d.x0)
	along := min(c.y1, d.y1) - max(c.y0, d.y0)
	return across > -least && along > -least && max(across, along) > least
}

// in words the cell as brokers tell of it.
func (c cell) in(world string) *node.Coverage {
	return &node.Coverage{World: world, Area: [][2]float64{{c.x0, c.y0}, {c.x1, c.y0}, {c.x1, c.y1}, {c.x0, c.y1}}}
}

// at returns the cell that holds a place; -1 if none does. While the one before
// is not left by a margin it stays: on a border nothing moves to and fro.
func at(cells []cell, x, y float64, before int) int {
	const margin = 0.25
	if before >= 0 && cells[before].holds(x, y, margin) {
		return before
	}
	for i, c := range cells {
		if c.holds(x, y, 0) {
			return i
		}
	}
	return -1
}
