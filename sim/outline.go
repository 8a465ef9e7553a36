package sim

import (
	"image/color"
	"math"
	"slices"
)

// Outline is a closed polygon of a body as seen from above, in the world.
type Outline struct {
	Model     *Model
	Color     color.NRGBA
	Points    []Point
	Low, High float64 // m
	Moving    bool    // belongs to a tree that drives or was moved
}

// Outlines returns the outlines of all bodies where they are now, in file order.
func (w *World) Outlines() []Outline {
	var out []Outline
	for _, m := range w.models {
		out = append(out, m.Outlines()...)
	}
	return out
}

// Still returns the outlines of what belongs to a floor plan: neither robots nor
// what moves.
func (w *World) Still() []Outline {
	return slices.DeleteFunc(w.Outlines(), func(o Outline) bool {
		return o.Moving || o.Model.Root().Type() == "position" || len(o.Points) < 2
	})
}

// Outlines returns the outlines of the model's own body where it is now.
func (m *Model) Outlines() []Outline {
	at := m.global.Add(m.spec.Origin)
	sin, cos := math.Sincos(at.A)
	var out []Outline
	for _, b := range m.body {
		o := Outline{Model: m, Color: m.Color(), Low: at.Z + b.Low, High: at.Z + b.High, Moving: m.root.moving}
		for _, p := range b.Points {
			o.Points = append(o.Points, Point{X: at.X + p.X*cos - p.Y*sin, Y: at.Y + p.X*sin + p.Y*cos})
		}
		out = append(out, o)
	}
	return out
}

// Bounds returns the box around all bodies and models, m.
func (w *World) Bounds() (low, high Point) {
	low, high = Point{X: math.Inf(1), Y: math.Inf(1)}, Point{X: math.Inf(-1), Y: math.Inf(-1)}
	add := func(x, y float64) {
		low.X, low.Y = math.Min(low.X, x), math.Min(low.Y, y)
		high.X, high.Y = math.Max(high.X, x), math.Max(high.Y, y)
	}
	for _, m := range w.models {
		add(m.global.X, m.global.Y)
	}
	for _, o := range w.Outlines() {
		for _, p := range o.Points {
			add(p.X, p.Y)
		}
	}
	if low.X > high.X {
		return Point{X: -1, Y: -1}, Point{X: 1, Y: 1}
	}
	return low, high
}
