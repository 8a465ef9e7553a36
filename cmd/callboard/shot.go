package main

import (
	"cmp"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"math"
	"os"
	"slices"

	"callboard/sim"
)

// shotSize is the longer side of a picture of a world, in pixels.
const shotSize = 1200

// canvas is a picture of a part of the floor.
type canvas struct {
	*image.NRGBA
	low   sim.Point // of the lower left corner, m
	scale float64   // pixels per m
}

// shoot writes a picture of a world as it is now.
func shoot(w *sim.World, name string) error {
	c, err := newCanvas(w.Bounds())
	if err != nil {
		return err
	}
	c.grid()
	byModel := map[*sim.Model][]sim.Outline{}
	for _, o := range w.Outlines() {
		byModel[o.Model] = append(byModel[o.Model], o)
	}
	for _, m := range w.Models() { // parents first
		c.model(byModel[m])
	}
	for _, m := range w.Models() {
		if m.Position() != nil {
			c.heading(m.Global())
		}
	}
	file, err := os.Create(name)
	if err != nil {
		return err
	}
	if err := png.Encode(file, c); err != nil {
		file.Close()
		return fmt.Errorf("writing %s: %w", name, err)
	}
	return file.Close()
}

func newCanvas(low, high sim.Point) (*canvas, error) {
	width, height := high.X-low.X, high.Y-low.Y
	longer := max(width, height)
	if !(longer > 0) || math.IsInf(longer, 0) {
		return nil, fmt.Errorf("the world is empty: there is nothing to draw")
	}
	margin := longer / 40
	scale := shotSize / (longer + 2*margin)
	c := &canvas{
		NRGBA: image.NewNRGBA(image.Rect(0, 0, int(math.Ceil((width+2*margin)*scale)), int(math.Ceil((height+2*margin)*scale)))),
		low:   sim.Point{X: low.X - margin, Y: low.Y - margin}, scale: scale,
	}
	for i := range c.Pix {
		c.Pix[i] = 0xff
	}
	return c, nil
}

// at returns the place of a point in pixels.
func (c *canvas) at(p sim.Point) (x, y float64) {
	return (p.X - c.low.X) * c.scale, float64(c.Rect.Dy()) - (p.Y-c.low.Y)*c.scale
}

// grid draws a line each metre, or each ten, hundred… if they would be dense.
func (c *canvas) grid() {
	step := 1.0
	for step*c.scale < 10 {
		step *= 10
	}
	grey := color.NRGBA{0xe4, 0xe6, 0xea, 0xff}
	right, top := c.low.X+float64(c.Rect.Dx())/c.scale, c.low.Y+float64(c.Rect.Dy())/c.scale
	for x := math.Ceil(c.low.X/step) * step; x < right; x += step {
		c.line(sim.Point{X: x, Y: c.low.Y}, sim.Point{X: x, Y: top}, 1, grey)
	}
	for y := math.Ceil(c.low.Y/step) * step; y < top; y += step {
		c.line(sim.Point{X: c.low.X, Y: y}, sim.Point{X: right, Y: y}, 1, grey)
	}
}

// model fills a model's outlines; where they lie in each other, the inner
// ones are holes.
func (c *canvas) model(outlines []sim.Outline) {
	if len(outlines) == 0 {
		return
	}
	polygons := make([][]sim.Point, len(outlines))
	for i, o := range outlines {
		polygons[i] = o.Points
	}
	fill := outlines[0].Color
	fill.A = 0xff
	c.fill(polygons, fill)
	edge := color.NRGBA{fill.R / 2, fill.G / 2, fill.B / 2, 0xff}
	for _, p := range polygons {
		for i := range p {
			c.line(p[i], p[(i+1)%len(p)], 1, edge)
		}
	}
}

// heading draws where a robot looks.
func (c *canvas) heading(p sim.Pose) {
	length := 14 / c.scale
	tip := sim.Point{X: p.X + length*math.Cos(p.A), Y: p.Y + length*math.Sin(p.A)}
	c.line(sim.Point{X: p.X, Y: p.Y}, tip, 2, color.NRGBA{0x10, 0x10, 0x10, 0xff})
}

// line draws a line of a width in pixels.
func (c *canvas) line(from, to sim.Point, width float64, ink color.NRGBA) {
	ax, ay := c.at(from)
	bx, by := c.at(to)
	length := math.Hypot(bx-ax, by-ay)
	if length == 0 {
		return
	}
	nx, ny := -(by-ay)/length*width/2, (bx-ax)/length*width/2
	c.fillPixels([][][2]float64{{{ax + nx, ay + ny}, {bx + nx, by + ny}, {bx - nx, by - ny}, {ax - nx, ay - ny}}}, ink)
}

func (c *canvas) fill(polygons [][]sim.Point, ink color.NRGBA) {
	pixels := make([][][2]float64, len(polygons))
	for i, p := range polygons {
		for _, point := range p {
			x, y := c.at(point)
			pixels[i] = append(pixels[i], [2]float64{x, y})
		}
	}
	c.fillPixels(pixels, ink)
}

// lanes is how many lines of a pixel row are looked at, for smooth edges.
const lanes = 4

// fillPixels fills polygons by the even-odd rule.
func (c *canvas) fillPixels(polygons [][][2]float64, ink color.NRGBA) {
	type edge struct{ x, y0, y1, slope float64 }
	var edges []edge
	top, bottom := math.Inf(1), math.Inf(-1)
	for _, p := range polygons {
		for i, a := range p {
			b := p[(i+1)%len(p)]
			if a[1] > b[1] {
				a, b = b, a
			}
			if a[1] < b[1] {
				edges = append(edges, edge{a[0], a[1], b[1], (b[0] - a[0]) / (b[1] - a[1])})
			}
			top, bottom = min(top, a[1]), max(bottom, b[1])
		}
	}
	slices.SortFunc(edges, func(a, b edge) int { return cmp.Compare(a.y0, b.y0) })
	cover := make([]float64, c.Rect.Dx())
	var crossings []float64
	first := max(0, int(math.Floor(top)))
	last := min(c.Rect.Dy()-1, int(math.Floor(bottom)))
	for row := first; row <= last; row++ {
		clear(cover)
		for lane := range lanes {
			y := float64(row) + (float64(lane)+0.5)/lanes
			crossings = crossings[:0]
			for _, e := range edges {
				if e.y0 > y {
					break
				}
				if e.y1 > y {
					crossings = append(crossings, e.x+(y-e.y0)*e.slope)
				}
			}
			slices.Sort(crossings)
			for i := 0; i+1 < len(crossings); i += 2 {
				span(cover, crossings[i], crossings[i+1])
			}
		}
		for x, share := range cover {
			if share > 0 {
				c.blend(x, row, ink, min(1, share/lanes))
			}
		}
	}
}

// span adds to each pixel how much of it lies between two places of a row.
func span(cover []float64, from, to float64) {
	from, to = max(from, 0), min(to, float64(len(cover)))
	for x := int(from); float64(x) < to; x++ {
		cover[x] += min(to, float64(x+1)) - max(from, float64(x))
	}
}

// blend lays ink over a pixel.
func (c *canvas) blend(x, y int, ink color.NRGBA, share float64) {
	i := c.PixOffset(x, y)
	for k, v := range []uint8{ink.R, ink.G, ink.B} {
		c.Pix[i+k] = uint8(math.Round(float64(c.Pix[i+k])*(1-share) + float64(v)*share))
	}
}
