//go:build !quick

package main

import (
	"fmt"
	"image/color"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/palette"
	"gonum.org/v1/plot/palette/moreland"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// heatOf draws the i-th value of many robots, a row each.
func heatOf(p *plot.Plot, robots []*drawnRobot, i int, from, first, last float64) panel {
	if len(robots) > maxRows {
		p.Title.Text += fmt.Sprintf(" (%d of %d robots)", maxRows, len(robots))
		robots = robots[:maxRows]
	}
	low, high := math.Inf(1), math.Inf(-1)
	for _, r := range robots {
		for _, d := range r.series[i].dots {
			low, high = min(low, d.y), max(high, d.y)
		}
	}
	if low == high {
		high = low + 1
	}
	colours := moreland.Kindlmann() // dark is low, also in print
	colours.SetMin(low)
	colours.SetMax(high + (high-low)/6) // the map's end is white, as where there is no value
	names := make([]string, len(robots))
	for k, r := range robots {
		names[k] = r.name
		p.Add(heat{r.series[i].dots, from, float64(len(robots) - 1 - k), colours})
	}
	tall := nameRows(p, names)
	p.X.Min, p.X.Max = first-from, last-from
	legend := newLegend()
	const steps = 5
	for k := range steps {
		at := min(high, max(low, high-(high-low)*float64(k)/(steps-1)))
		if ink, err := colours.At(at); err == nil {
			legend.Add(shortNumber(at), sample{color.NRGBAModel.Convert(ink).(color.NRGBA)})
		}
	}
	return panel{p, px(rowsFrame) + tall, true, legend}
}

// heat is a row of a heat map: each value lasts until the next one.
type heat struct {
	dots    []dot
	from, y float64
	colours palette.ColorMap
}

// Plot implements plot.Plotter. Of values on one pixel the least is shown.
func (h heat) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	low, high := y(h.y-0.5), y(h.y+0.5)
	for k := 0; k < len(h.dots); {
		left, value := x(h.dots[k].x-h.from), h.dots[k].y
		right := left + px(2) // the last one
		for k++; k < len(h.dots); k++ {
			if right = x(h.dots[k].x - h.from); right-left >= px(1) {
				break
			}
			value = min(value, h.dots[k].y)
		}
		ink, err := h.colours.At(value)
		if err != nil {
			continue // it is no number
		}
		right += px(0.7) // over the seam
		c.FillPolygon(ink, c.ClipPolygonXY([]vg.Point{{X: left, Y: low}, {X: right, Y: low}, {X: right, Y: high}, {X: left, Y: high}}))
	}
}
