package worlds_test

import (
	"image"
	"math"
)

// The patrol's size and that of its parts, m.
const (
	patrolWidth  = 24
	patrolHeight = 14
	gate         = 3.4 // wide enough for two lanes
)

// drawPatrol draws six halls, three by two, with wide gates from each to the next,
// so that a round trip leads through all of them; in the middle of each bend
// stands a pillar.
func drawPatrol() *image.Paletted {
	img := newPlan(patrolWidth, patrolHeight)
	const w, h = patrolWidth, patrolHeight
	// around
	box(img, 0, 0, w, wall)
	box(img, 0, h-wall, w, h)
	box(img, 0, 0, wall, h)
	box(img, w-wall, 0, w, h)
	// between the halls
	box(img, 0, h/2-wall/2, w, h/2+wall/2)
	for _, x := range []float64{w / 3, 2 * w / 3} {
		box(img, x-wall/2, 0, x+wall/2, h)
		for _, y := range []float64{h / 4, 3 * h / 4} {
			empty(img, x-wall, y-gate/2, x+wall, y+gate/2)
			post(img, x, y-gate/2)
			post(img, x, y+gate/2)
		}
	}
	for _, x := range []float64{w / 6, 5 * w / 6} {
		empty(img, x-gate/2, h/2-wall, x+gate/2, h/2+wall)
		post(img, x-gate/2, h/2)
		post(img, x+gate/2, h/2)
	}
	// blunt corners outside, round pillars at the bends' centres
	for _, x := range []float64{0, w} {
		for _, y := range []float64{0, h} {
			blunt(img, x, y, 1.5)
		}
	}
	for _, x := range []float64{w/2 - 5.5, w/2 + 5.5} {
		for _, y := range []float64{h/2 - 1.0, h/2 + 1.0} {
			disc(img, x, y, 0.42)
		}
	}
	// buttresses along the long walls
	for _, x := range []float64{w/2 - 2, w / 2, w/2 + 2} {
		disc(img, x, h-wall, 0.35)
		disc(img, x, wall, 0.35)
	}
	return img
}

// post stands at a gate's side.
func post(img *image.Paletted, x, y float64) { disc(img, x, y, 0.18) }

// disc makes a disc solid.
func disc(img *image.Paletted, x, y, r float64) {
	fill(img, func(px, py float64) bool { return math.Hypot(px-x, py-y) <= r })
}

// blunt fills a corner of the plan up to a slope.
func blunt(img *image.Paletted, x, y, size float64) {
	fill(img, func(px, py float64) bool { return math.Abs(px-x)+math.Abs(py-y) <= size })
}

// fill makes solid what is inside, given in m from the lower left.
func fill(img *image.Paletted, inside func(x, y float64) bool) {
	h := img.Rect.Dy()
	for py := range h {
		for px := range img.Rect.Dx() {
			if inside((float64(px)+0.5)/scale, (float64(h-py)-0.5)/scale) {
				img.SetColorIndex(px, py, solid)
			}
		}
	}
}
