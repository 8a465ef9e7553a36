package sim

import (
	"math"

	"callboard/sim/worldfile"
)

// part is what of a model's body has the same heights: outlines in the model's
// frame. Nothing that looks or touches tells the outlines of a part apart.
type part struct {
	model     *Model
	low, high float64 // m above the model's body
	blocks    []worldfile.Block
}

// body is what a whole tree draws into the grid.
type body struct {
	parts []part
	tiles [2][]*tile // by layer; what stands has all in the first
}

// flatten gathers the parts of the tree. It is called again when a model has
// got another body or joined another tree.
func (r *root) flatten() {
	r.parts = r.parts[:0]
	for _, m := range r.models {
		blocks := m.body
		for len(blocks) > 0 {
			n := 1
			for n < len(blocks) && blocks[n].Low == blocks[0].Low && blocks[n].High == blocks[0].High {
				n++
			}
			r.parts = append(r.parts, part{model: m, low: blocks[0].Low, high: blocks[0].High, blocks: blocks[:n]})
			blocks = blocks[n:]
		}
	}
}

// draw draws the tree where it is now into some layers, in place of what is
// there of it.
func (g *grid) draw(r *root, layers uint8) {
	g.drawn++
	for i, layer := range [...]uint8{even, odd} {
		if layers&layer == 0 {
			continue
		}
		g.wipe(r.tiles[i])
		r.tiles[i] = r.tiles[i][:0]
		if r.moving {
			g.drawParts(r, layer, &r.tiles[i])
		}
	}
	if !r.moving {
		g.drawParts(r, both, &r.tiles[0])
	}
}

// drawParts draws the parts as tiles of the given layers. Corners are worked
// out as Stage does, to the last bit: walls often lie on the borders of cells.
func (g *grid) drawParts(r *root, layers uint8, into *[]*tile) {
	for i := range r.parts {
		p := &r.parts[i]
		spec := p.model.spec
		at := p.model.global.Add(spec.Origin)
		sin, cos := math.Sincos(at.A)
		draw := pen{grid: g, into: into, tile: tile{
			layers: layers, stamp: g.drawn, root: r.index, model: int32(p.model.index), part: int32(i),
			obstacle: spec.Obstacle, ret: float32(spec.RangerReturn), low: p.low + at.Z, high: p.high + at.Z,
		}}
		for _, b := range p.blocks {
			corner := func(p worldfile.Point) (x, y int32) {
				return g.cell(at.X + p.X*cos - p.Y*sin), g.cell(at.Y + p.X*sin + p.Y*cos)
			}
			if len(b.Points) == 0 {
				continue
			}
			firstX, firstY := corner(b.Points[0])
			x, y := firstX, firstY
			for _, p := range b.Points[1:] {
				toX, toY := corner(p)
				draw.line(x, y, toX, toY)
				x, y = toX, toY
			}
			draw.line(x, y, firstX, firstY)
		}
	}
}

// moved draws a tree anew after a part of it was put elsewhere by hand. What
// has stood still so far joins the moving.
func (w *World) moved(r *root) {
	r.flatten()
	if !r.moving {
		w.grid.wipe(r.tiles[0])
		r.tiles[0] = r.tiles[0][:0]
		r.moving = true
	}
	w.grid.draw(r, both)
}

// build draws all there is for the first time.
func (w *World) build() {
	w.grid.perMetre = 1 / w.file.Resolution
	length := 0.0
	for _, r := range w.roots {
		r.flatten()
		for _, p := range r.parts {
			for _, b := range p.blocks {
				length += steps(b.Points)
			}
		}
	}
	for length*w.grid.perMetre > maxCells {
		w.grid.perMetre /= 2
	}
	for _, r := range w.roots {
		w.grid.draw(r, both)
	}
}

// steps is how far it is around an outline in steps parallel to the axes, m.
func steps(ps []worldfile.Point) float64 {
	length := 0.0
	for i, p := range ps {
		q := ps[(i+1)%len(ps)]
		length += math.Abs(q.X-p.X) + math.Abs(q.Y-p.Y)
	}
	return length
}
