package sim

import (
	"math"
	"slices"

	"callboard/sim/worldfile"
)

// segment is an edge of an outline in the world: a and b in m, the heights
// that it reaches from and to, and what it belongs to.
type segment struct {
	ax, ay, bx, by float64
	low, high      float64 // m
	root, model    int32
	ret            float32 // ranger_return; negative: rays pass
	obstacle       bool
	convex         bool // of an outline that from without hides its far side, which is on the left
}

// edge is an edge of an outline in the frame of its root.
type edge struct {
	x, y      float64 // where it begins
	next      int32   // the edge that begins where this one ends
	low, high float64 // m above the root's z
	model     int32
	ret       float32
	obstacle  bool
	convex    bool
}

// body is the outline of a whole tree.
type body struct {
	edges    []edge
	segments []segment // the same in the world
	obstacle bool      // any edge is one
	lowest   float64   // m above the root's z: where obstacles begin

	minX, minY, maxX, maxY float64 // the box around segments; min > max if there are none
	cx, cy, radius         float64 // a circle around them

	cells bucketRect // where the moving part of space has it
}

// flatten gathers the outlines of the tree into edges. It is called again when
// a part has been put elsewhere within the tree.
func (r *root) flatten() {
	r.edges = r.edges[:0]
	r.obstacle, r.lowest = false, math.Inf(1)
	base := r.model.global
	for _, m := range r.models {
		at := base.Sub(m.global).Add(m.spec.Origin)
		if m == r.model {
			at = m.spec.Origin
		}
		for i := range m.body {
			r.addBlock(m, at, &m.body[i])
		}
	}
	r.segments = slices.Grow(r.segments[:0], len(r.edges))[:len(r.edges)]
}

func (r *root) addBlock(m *Model, at Pose, b *worldfile.Block) {
	ret, obstacle := float32(m.spec.RangerReturn), m.spec.Obstacle
	if len(b.Points) < 2 {
		return
	}
	s, c := math.Sincos(at.A)
	low, high := at.Z+b.Low, at.Z+b.High
	round := convex(b.Points)
	first := int32(len(r.edges))
	for i, p := range b.Points {
		next := first + int32(i) + 1
		if i == len(b.Points)-1 {
			next = first
		}
		r.edges = append(r.edges, edge{
			x: at.X + p.X*c - p.Y*s, y: at.Y + p.X*s + p.Y*c,
			next: next, low: low, high: high, model: int32(m.index), ret: ret, obstacle: obstacle, convex: round,
		})
	}
	if obstacle {
		r.obstacle = true
		r.lowest = math.Min(r.lowest, low)
	}
}

// convex tells whether every edge has all points on its left or in line with
// it. Of outlines with many points it is not asked.
func convex(ps []worldfile.Point) bool {
	if len(ps) < 3 || len(ps) > 32 {
		return false
	}
	for i, a := range ps {
		b := ps[(i+1)%len(ps)]
		for _, p := range ps {
			if (b.X-a.X)*(p.Y-a.Y) < (b.Y-a.Y)*(p.X-a.X) {
				return false
			}
		}
	}
	return true
}

// outline works out where the segments are in the world.
func (r *root) outline() {
	g := r.model.global
	s, c := math.Sincos(g.A)
	segs, edges := r.segments, r.edges
	minX, minY := math.Inf(1), math.Inf(1)
	maxX, maxY := math.Inf(-1), math.Inf(-1)
	for i := range edges {
		e := &edges[i]
		x, y := g.X+e.x*c-e.y*s, g.Y+e.x*s+e.y*c
		segs[i] = segment{ax: x, ay: y, low: g.Z + e.low, high: g.Z + e.high, root: r.index, model: e.model, ret: e.ret, obstacle: e.obstacle, convex: e.convex}
		if x < minX {
			minX = x
		}
		if x > maxX {
			maxX = x
		}
		if y < minY {
			minY = y
		}
		if y > maxY {
			maxY = y
		}
	}
	for i := range edges {
		b := &segs[edges[i].next]
		segs[i].bx, segs[i].by = b.ax, b.ay
	}
	r.minX, r.minY, r.maxX, r.maxY = minX, minY, maxX, maxY
	r.cx, r.cy = (minX+maxX)/2, (minY+maxY)/2
	r.radius = math.Hypot(maxX-minX, maxY-minY) / 2
}

// moved brings a tree's outline and its place in space up to date after a part
// of it was put elsewhere by hand. What has stood still so far joins the moving.
func (w *World) moved(r *root) {
	r.flatten()
	r.outline()
	if !r.moving {
		r.moving = true
		w.space.rebuild(w)
		return
	}
	w.space.relocate(r)
}

// build makes the outlines and the space that holds them.
func (w *World) build() {
	for _, r := range w.roots {
		r.flatten()
		r.outline()
	}
	w.space.rebuild(w)
}
