package sim

import "math"

// feel follows a line of cells, as Stage's short rays do, from a place in its
// heading, and gives the model of the first body on it that pick accepts, or
// nil. Such a ray begins in the cell that lies towards 0 from its place, and
// the cell in which it ends does not count.
func (w *World) feel(from Pose, length float64, pick func(*segment) bool) *Model {
	t := &w.touch
	sin, cos := math.Sincos(from.A)
	toX, toY := from.X+length*cos, from.Y+length*sin
	cell := w.file.Resolution
	t.open(math.Min(from.X, toX)-cell, math.Min(from.Y, toY)-cell, math.Max(from.X, toX)+cell, math.Max(from.Y, toY)+cell, 1/cell, 2*length)
	defer t.wipe()
	ax, ay := toward0(from.X*t.perMetre), toward0(from.Y*t.perMetre)
	bx, by := ax+toward0(length*cos*t.perMetre), ay+toward0(length*sin*t.perMetre)
	if ax == bx && ay == by {
		return nil
	}
	t.follow(ax, ay, bx, by, func(x, y int64) bool {
		t.mark(x, y, math.Inf(-1), math.Inf(1))
		return false
	})
	nearest := int32(math.MaxInt32)
	var model *Model
	t.any(&w.space, nobody, func(g *segment) bool {
		if !pick(g) {
			return false
		}
		return t.along(g, func(x, y int64) bool {
			// The marks are numbered in the order of the line.
			if i := t.marked(x, y); i != 0 && i < nearest {
				nearest, model = i, w.models[g.model]
			}
			return false
		})
	})
	return model
}

// touching gives the models of other trees, in file order, whose bodies share a
// cell with m's own body at any height.
func (w *World) touching(m *Model) []*Model {
	t, r := &w.touch, m.root
	if len(m.body) == 0 {
		return nil
	}
	length := 0.0
	for i := range r.segments {
		if g := &r.segments[i]; int(g.model) == m.index {
			length += g.steps()
		}
	}
	t.open(r.minX, r.minY, r.maxX, r.maxY, 1/w.file.Resolution, length)
	defer t.wipe()
	for i := range r.segments {
		if g := &r.segments[i]; int(g.model) == m.index {
			t.along(g, func(x, y int64) bool {
				t.mark(x, y, g.low, g.high)
				return false
			})
		}
	}
	var found []*Model
	t.any(&w.space, r.index, func(g *segment) bool {
		if t.along(g, func(x, y int64) bool { return t.marked(x, y) != 0 }) {
			other := w.models[g.model]
			found = insert(dropped(found, other), other)
		}
		return false
	})
	return found
}

// dropped gives a list without m.
func dropped(list []*Model, m *Model) []*Model {
	for i, o := range list {
		if o == m {
			return append(list[:i], list[i+1:]...)
		}
	}
	return list
}

// toward0 gives the cell of a coordinate in cells, rounded towards 0.
func toward0(v float64) int64 {
	return int64(math.Max(-maxCell, math.Min(maxCell, v)))
}
