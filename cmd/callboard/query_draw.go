//go:build !quick

package main

import (
	"fmt"
	"image/color"
	"io"
	"math"
	"slices"
	"time"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"
)

// Sizes of the picture, in points at 96 to the inch: pixels.
const (
	drawnWidth = 1200
	rowHeight  = 24
	rowsFrame  = 92
	valuesHigh = 260
	pathHigh   = 860
	legendWide = 150 // to the right of all curves
	rowsHigh   = 960 // of rows that are many, together
	maxRows    = rowsHigh / 2
)

// Colours that are told apart by everyone, also in print: those of robots are no
// condition's.
var (
	robotColours = []color.NRGBA{
		{0x00, 0x72, 0xb2, 0xff}, {0x00, 0x9e, 0x73, 0xff}, {0x56, 0xb4, 0xe9, 0xff}, {0xcc, 0x79, 0xa7, 0xff}, {0x55, 0x55, 0x55, 0xff}, {0x33, 0x22, 0x88, 0xff},
	}
	conditionColours = []color.NRGBA{
		{0xd5, 0x5e, 0x00, 0xff}, {0xe6, 0x9f, 0x00, 0xff}, {0x88, 0x22, 0x55, 0xff}, {0x99, 0x99, 0x33, 0xff},
	}
)

// maxLines is how many robots have a line, in a colour of their own; more are rows of
// a heat map.
var maxLines = len(robotColours)

func robotInk(i int) color.NRGBA     { return robotColours[i%len(robotColours)] }
func conditionInk(i int) color.NRGBA { return conditionColours[i%len(conditionColours)] }

// pale is a colour on white with so much of it left.
func pale(c color.NRGBA, left float64) color.NRGBA {
	mix := func(v uint8) uint8 { return uint8(255 - left*(255-float64(v))) }
	return color.NRGBA{mix(c.R), mix(c.G), mix(c.B), 0xff}
}

// panel is a part of the picture.
type panel struct {
	plot   *plot.Plot
	height vg.Length
	timed  bool // its x is time
	legend plot.Legend
}

// px are pixels as a length.
func px(n float64) vg.Length { return vg.Length(n) * vg.Inch / 96 }

// draw draws the picture as PNG, or as SVG.
func (d *drawing) draw(out io.Writer, svg bool) error {
	slices.SortFunc(d.robots, func(a, b *drawnRobot) int { return natural(a.name, b.name) })
	panels := d.panels()
	height := px(8)
	for _, p := range panels {
		height += p.height
	}
	var canvas interface {
		vg.CanvasSizer
		io.WriterTo
	}
	if svg {
		canvas = vgsvg.New(px(drawnWidth), height)
	} else {
		canvas = vgimg.PngCanvas{Canvas: vgimg.NewWith(vgimg.UseWH(px(drawnWidth), height), vgimg.UseDPI(96))}
	}
	all := draw.Crop(draw.New(canvas), px(14), -px(24+legendWide), 0, -px(8))
	// Panels over time have the same left edge.
	left := vg.Length(0)
	for _, p := range panels {
		if p.timed {
			left = max(left, p.plot.DataCanvas(all).Min.X-all.Min.X)
		}
	}
	top := all.Max.Y
	for _, p := range panels {
		part := draw.Crop(all, 0, 0, top-p.height-all.Min.Y, top-all.Max.Y)
		if p.timed {
			part = draw.Crop(part, left-(p.plot.DataCanvas(part).Min.X-part.Min.X), 0, 0, 0)
		}
		p.plot.Draw(part)
		beside := p.plot.DataCanvas(part)
		p.legend.Draw(draw.Canvas{Canvas: part.Canvas, Rectangle: vg.Rectangle{
			Min: vg.Point{X: beside.Max.X + px(12), Y: beside.Min.Y},
			Max: vg.Point{X: all.Max.X + px(legendWide+16), Y: beside.Max.Y},
		}})
		top -= p.height
	}
	_, err := canvas.WriteTo(out)
	return err
}

func (d *drawing) panels() []panel {
	first, last := d.times()
	var out []panel
	out = append(out, d.timeline(first, last))
	for i := range d.values {
		out = append(out, d.valuesOf(i, first, last))
	}
	if slices.ContainsFunc(d.robots, func(r *drawnRobot) bool { return len(r.path.places) > 0 }) {
		out = append(out, d.paths())
	}
	return out
}

// times returns the first and the last moment that is drawn.
func (d *drawing) times() (first, last float64) {
	first, last = math.Inf(1), math.Inf(-1)
	for _, r := range d.robots {
		for _, s := range r.spans {
			for _, one := range s.all {
				first, last = min(first, one[0]), max(last, one[1])
			}
		}
		for _, s := range r.series {
			for _, one := range s.dots {
				first, last = min(first, one.x), max(last, one.x)
			}
		}
	}
	first, last = min(first, d.first), max(last, d.last)
	if !(first <= last) {
		return 0, 1
	}
	if first == last {
		last = first + 1
	}
	return first, last
}

// newPlot makes an empty plot in the style of all.
func newPlot(title string) *plot.Plot {
	p := plot.New()
	p.Title.Text = title
	p.Title.Padding = px(8)
	p.Title.TextStyle.Font = font.From(plot.DefaultFont, px(17))
	for _, axis := range []*plot.Axis{&p.X, &p.Y} {
		axis.Label.TextStyle.Font = font.From(plot.DefaultFont, px(14))
		axis.Tick.Label.Font = font.From(plot.DefaultFont, px(13))
		axis.Color, axis.Tick.Color = color.Gray{0x66}, color.Gray{0x66}
	}
	p.BackgroundColor = color.White
	grid := plotter.NewGrid()
	grid.Vertical.Color, grid.Horizontal.Color = color.Gray{0xd8}, color.Gray{0xd8}
	p.Add(grid)
	return p
}

// newLegend makes an empty legend in the style of all.
func newLegend() plot.Legend {
	l := plot.NewLegend()
	l.TextStyle.Font = font.From(plot.DefaultFont, px(13))
	l.Top, l.Left, l.ThumbnailWidth = true, true, px(18)
	l.Padding = px(3)
	return l
}

// timeAxis has times as they are, or from the beginning on if they are a
// clock's.
func timeAxis(p *plot.Plot, first, last float64) (from float64) {
	p.X.Label.Text = "s"
	if first >= 1e8 {
		from = first
		p.X.Label.Text = fmt.Sprintf("s from %.3f (%s)", first, time.UnixMilli(int64(first*1000)).UTC().Format("2006-01-02 15:04:05 UTC"))
	}
	p.X.Min, p.X.Max = first-from, last-from
	return from
}

// timeline draws when the conditions held.
func (d *drawing) timeline(first, last float64) panel {
	title := "when it held: " + cut(d.texts[0], 90)
	if len(d.conditions) > 1 {
		title = "when conditions held"
		if len(d.conditions) <= 3 {
			for i, name := range d.conditions {
				title += fmt.Sprintf("%s %s: %s", map[bool]string{true: ":", false: ","}[i == 0], name, cut(d.texts[i], 40))
			}
		}
	}
	p := newPlot(title)
	from := timeAxis(p, first, last)
	type row struct {
		name  string
		spans spans
		ink   color.NRGBA
	}
	var rows []row
	for _, r := range d.robots {
		for i := range d.conditions {
			name := r.name
			if len(d.conditions) > 1 {
				name += " " + d.conditions[i]
			}
			rows = append(rows, row{name, r.spans[i], conditionInk(i)})
		}
	}
	if len(rows) > maxRows {
		p.Title.Text += fmt.Sprintf(" (%d of %d)", maxRows, len(rows))
		rows = rows[:maxRows]
	}
	names := make([]string, len(rows))
	for i, r := range rows {
		names[i] = r.name
		p.Add(bars{r.spans.all, from, float64(len(rows) - 1 - i), r.ink})
	}
	high := nameRows(p, names)
	p.X.Min, p.X.Max = first-from, last-from
	legend := newLegend()
	for i, name := range d.conditions {
		if len(d.conditions) > 1 {
			legend.Add(cut(name, 20), sample{conditionInk(i)})
		}
	}
	return panel{p, px(rowsFrame) + high, true, legend}
}

// nameRows makes the y axis one of rows, the first on top, and returns how high they
// are together. Where they are low not each has its name.
func nameRows(p *plot.Plot, names []string) vg.Length {
	high := min(float64(rowHeight), rowsHigh/float64(max(len(names), 1)))
	every := int(math.Ceil(15 / high))
	var ticks []plot.Tick
	for i := 0; i < len(names); i += every {
		ticks = append(ticks, plot.Tick{Value: float64(len(names) - 1 - i), Label: cut(names[i], 32)})
	}
	p.Y.Tick.Marker = plot.ConstantTicks(ticks)
	p.Y.Tick.Length = 0
	p.Y.Min, p.Y.Max = -0.6, float64(len(names))-0.4
	return px(high * float64(max(len(names), 1)))
}

// bars are a row of a timeline.
type bars struct {
	spans   [][2]float64
	from, y float64
	ink     color.NRGBA
}

// Plot implements plot.Plotter. What is too short to be seen has a pixel.
func (b bars) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	low, high := y(b.y-0.34), y(b.y+0.34)
	for _, s := range b.spans {
		left, right := x(s[0]-b.from), x(s[1]-b.from)
		right = max(right, left+px(1.5))
		c.FillPolygon(b.ink, c.ClipPolygonXY([]vg.Point{{X: left, Y: low}, {X: right, Y: low}, {X: right, Y: high}, {X: left, Y: high}}))
	}
}

// valuesOf draws a selected value over time: a line for each robot, or a row of
// colours where they are many; and the thresholds of conditions.
func (d *drawing) valuesOf(i int, first, last float64) panel {
	v := d.values[i]
	title := v.name
	if v.text != "" && v.text != v.name {
		title += ": " + v.text
	}
	title = cut(title, 90)
	if v.unit != "" {
		title += ", " + v.unit
	}
	p := newPlot(title)
	from := timeAxis(p, first, last)
	if many := slices.DeleteFunc(slices.Clone(d.robots), func(r *drawnRobot) bool { return len(r.series[i].dots) == 0 }); len(many) > maxLines {
		return heatOf(p, many, i, from, first, last)
	}
	legend := newLegend()
	for k, r := range d.robots {
		if len(r.series[i].dots) == 0 {
			continue
		}
		l := line(r.series[i].dots, from, robotInk(k))
		p.Add(l)
		if len(d.robots) > 1 {
			legend.Add(cut(r.name, 20), l)
		}
	}
	p.Y.Label.Text = v.unit
	if p.Y.Min > p.Y.Max {
		p.Title.Text += " (no number)"
		p.Y.Min, p.Y.Max = 0, 1
	}
	for _, t := range d.thresholds(v) {
		l := line([]dot{{first, t.at}, {last, t.at}}, from, conditionInk(t.condition))
		l.Dashes = []vg.Length{px(6), px(4)}
		p.Add(l)
		legend.Add(shortNumber(t.at)+" "+v.unit, l)
	}
	if p.Y.Min == p.Y.Max {
		p.Y.Min, p.Y.Max = p.Y.Min-0.5, p.Y.Max+0.5
	}
	margin := (p.Y.Max - p.Y.Min) / 20
	p.Y.Min, p.Y.Max = p.Y.Min-margin, p.Y.Max+margin
	p.X.Min, p.X.Max = first-from, last-from
	return panel{p, px(valuesHigh), true, legend}
}

// line makes a thin line of dots.
func line(dots []dot, from float64, ink color.NRGBA) *plotter.Line {
	points := make(plotter.XYs, len(dots))
	for i, d := range dots {
		points[i] = plotter.XY{X: d.x - from, Y: d.y}
	}
	return &plotter.Line{XYs: points, LineStyle: draw.LineStyle{Color: ink, Width: px(1.4)}}
}

// paths draws where the robots were, and where the conditions held.
func (d *drawing) paths() panel {
	p := newPlot("paths, and the places where it held")
	p.X.Label.Text, p.Y.Label.Text = "x, m", "y, m"
	for _, w := range d.walls {
		points := make(plotter.XYs, 0, len(w.Points)+1)
		for _, q := range append(slices.Clone(w.Points), w.Points[0]) {
			points = append(points, plotter.XY{X: q.X, Y: q.Y})
		}
		p.Add(&plotter.Line{XYs: points, LineStyle: draw.LineStyle{Color: color.Gray{0x80}, Width: px(1)}})
	}
	legend := newLegend()
	for i, r := range d.robots {
		ink := robotInk(i)
		if len(d.robots) > maxLines { // nobody could tell who was where
			ink = color.NRGBA{0x77, 0x77, 0x77, 0xff}
		}
		dots := r.path.places
		if r.path.long {
			dots = r.path.dots()
			p.Add(spots{dots, 0, pale(ink, 0.5), px(1)})
		} else if len(dots) > 0 {
			points := make([]dot, len(dots))
			for k, q := range dots {
				points[k] = q.dot
			}
			l := line(points, 0, pale(ink, 0.6))
			p.Add(l)
			if len(d.robots) > 1 && len(d.robots) <= maxLines {
				legend.Add(cut(r.name, 20), l)
			}
		}
		for c := range min(len(d.conditions), 8) {
			p.Add(spots{dots, 1 << c, conditionInk(c), px(2.5 + 1.6*float64(len(d.conditions)-1-c))})
		}
	}
	for c, name := range d.conditions {
		if len(d.conditions) == 1 {
			name = "it held"
		}
		legend.Add(cut(name, 20), sample{conditionInk(c)})
	}
	square(p)
	return panel{p, px(pathHigh), false, legend}
}

// square returns a metre the same length in x and y.
func square(p *plot.Plot) {
	const shape = float64(drawnWidth-110-legendWide) / (pathHigh - 90)
	if !(p.X.Min <= p.X.Max) || !(p.Y.Min <= p.Y.Max) {
		p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = 0, 1, 0, 1
	}
	width, height := max(p.X.Max-p.X.Min, 1e-3)*1.06, max(p.Y.Max-p.Y.Min, 1e-3)*1.06
	width, height = max(width, height*shape), max(height, width/shape)
	x, y := (p.X.Min+p.X.Max)/2, (p.Y.Min+p.Y.Max)/2
	p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = x-width/2, x+width/2, y-height/2, y+height/2
}

// spots are the places at which a condition held; holds 0: all.
type spots struct {
	places []pathDot
	holds  uint8
	ink    color.NRGBA
	radius vg.Length
}

// Plot implements plot.Plotter.
func (s spots) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	style := draw.GlyphStyle{Color: s.ink, Radius: s.radius, Shape: draw.CircleGlyph{}}
	for _, q := range s.places {
		if s.holds == 0 || q.holds&s.holds != 0 {
			if at := (vg.Point{X: x(q.x), Y: y(q.y)}); c.Contains(at) {
				c.DrawGlyph(style, at)
			}
		}
	}
}

// DataRange implements plot.DataRanger.
func (s spots) DataRange() (xmin, xmax, ymin, ymax float64) {
	xmin, xmax, ymin, ymax = math.Inf(1), math.Inf(-1), math.Inf(1), math.Inf(-1)
	for _, q := range s.places {
		xmin, xmax, ymin, ymax = min(xmin, q.x), max(xmax, q.x), min(ymin, q.y), max(ymax, q.y)
	}
	return
}

// sample is a spot in the legend.
type sample struct{ ink color.NRGBA }

// Thumbnail implements plot.Thumbnailer.
func (s sample) Thumbnail(c *draw.Canvas) {
	c.DrawGlyph(draw.GlyphStyle{Color: s.ink, Radius: px(4), Shape: draw.CircleGlyph{}}, c.Center())
}
