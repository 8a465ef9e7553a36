package worlds_test

import (
	"image"
	"math"
)

// The cave's size, m.
const (
	caveWidth  = 16
	caveHeight = 12
)

// rock is how thick the rock around the cave is, m.
const rock = 0.8

// hall is a round part of the cave, or of rock in it.
type hall struct{ x, y, r float64 }

// tunnel joins two halls.
type tunnel struct {
	from, to int
	r        float64
}

var halls = []hall{
	{-5.4, 2.7, 1.55}, // 0 north-west
	{-5.2, -2.7, 1.7}, // 1 south-west
	{-0.4, 3.3, 1.3},  // 2 north
	{0.2, -0.3, 1.75}, // 3 the middle
	{1.0, -4.0, 1.05}, // 4 south
	{5.3, 2.6, 1.75},  // 5 north-east
	{5.4, -2.9, 1.5},  // 6 south-east
}

var tunnels = []tunnel{
	{0, 1, 0.75}, {0, 2, 0.7}, {1, 3, 0.75}, {2, 3, 0.7}, {3, 4, 0.7},
	{1, 4, 0.62}, {2, 5, 0.72}, {3, 5, 0.65}, {5, 6, 0.75}, {4, 6, 0.68},
}

var pillars = []hall{{0.35, -0.2, 0.5}, {-5.5, -2.6, 0.38}, {5.6, 2.9, 0.42}, {5.1, -3.2, 0.3}}

// drawCave draws halls and tunnels in a ring of rock, with crooked walls.
func drawCave() *image.Paletted {
	img := newPlan(caveWidth, caveHeight)
	for py := 0; py < img.Rect.Dy(); py++ {
		for px := 0; px < img.Rect.Dx(); px++ {
			x := (float64(px)+0.5)/scale - caveWidth/2
			y := caveHeight/2 - (float64(py)+0.5)/scale
			if inRock(x, y) {
				img.SetColorIndex(px, py, solid)
			}
		}
	}
	fillHoles(img)
	return img
}

// fillHoles makes all free places solid that are neither outside nor part of
// the space around the first hall.
func fillHoles(img *image.Paletted) {
	reached := make([]bool, len(img.Pix))
	w, h := img.Rect.Dx(), img.Rect.Dy()
	todo := []int{0, int((caveHeight/2-halls[0].y)*scale)*w + int((caveWidth/2+halls[0].x)*scale)}
	for len(todo) > 0 {
		at := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if reached[at] || img.Pix[at] == solid {
			continue
		}
		reached[at] = true
		x, y := at%w, at/w
		for _, to := range [4][2]int{{x - 1, y}, {x + 1, y}, {x, y - 1}, {x, y + 1}} {
			if to[0] >= 0 && to[0] < w && to[1] >= 0 && to[1] < h {
				todo = append(todo, to[1]*w+to[0])
			}
		}
	}
	for at := range reached {
		if !reached[at] {
			img.Pix[at] = solid
		}
	}
}

// inRock reports whether a place in m is rock.
func inRock(x, y float64) bool {
	// Bend the plane, so that nothing is straight or round.
	wx := x + 0.45*fbm(x*0.5+11, y*0.5, 3) + 0.10*fbm(x*2.2, y*2.2+7, 2)
	wy := y + 0.45*fbm(x*0.5, y*0.5+23, 3) + 0.10*fbm(x*2.2+5, y*2.2, 2)
	open := outsideOf(wx, wy)
	if open > 0 {
		// Beyond the ring of rock there is nothing.
		return open < rock+0.35*fbm(x*0.6+40, y*0.6+9, 3)
	}
	for _, p := range pillars {
		if math.Hypot(wx-p.x, wy-p.y) < p.r {
			return true
		}
	}
	return false
}

// outsideOf returns the distance from the cave's free space, below 0 within. Where
// parts meet it is rounded.
func outsideOf(x, y float64) float64 {
	d := math.Inf(1)
	join := func(v float64) {
		const round = 0.5
		if h := round - math.Abs(d-v); h > 0 {
			d = math.Min(d, v) - h*h/(4*round)
			return
		}
		d = math.Min(d, v)
	}
	for _, h := range halls {
		join(math.Hypot(x-h.x, y-h.y) - h.r)
	}
	for _, t := range tunnels {
		a, b := halls[t.from], halls[t.to]
		along := ((x-a.x)*(b.x-a.x) + (y-a.y)*(b.y-a.y)) / ((b.x-a.x)*(b.x-a.x) + (b.y-a.y)*(b.y-a.y))
		along = math.Max(0, math.Min(1, along))
		join(math.Hypot(x-a.x-along*(b.x-a.x), y-a.y-along*(b.y-a.y)) - t.r)
	}
	return d
}

// fbm is smooth noise of several sizes, about -1…1.
func fbm(x, y float64, octaves int) float64 {
	sum, weight, norm := 0.0, 1.0, 0.0
	for range octaves {
		sum += weight * noise(x, y)
		norm += weight
		x, y, weight = x*2.03+17.7, y*2.03+5.1, weight*0.5
	}
	return sum / norm
}

// noise interpolates chance values at the corners of unit squares.
func noise(x, y float64) float64 {
	ix, iy := math.Floor(x), math.Floor(y)
	fx, fy := ease(x-ix), ease(y-iy)
	top := mix(chance(ix, iy), chance(ix+1, iy), fx)
	bottom := mix(chance(ix, iy+1), chance(ix+1, iy+1), fx)
	return mix(top, bottom, fy)
}

func ease(t float64) float64      { return t * t * (3 - 2*t) }
func mix(a, b, t float64) float64 { return a + (b-a)*t }

// chance returns a corner's value, -1…1.
func chance(x, y float64) float64 {
	h := uint64(int64(x))*0x9E3779B97F4A7C15 ^ uint64(int64(y))*0xC2B2AE3D27D4EB4F
	h ^= h >> 29
	h *= 0xBF58476D1CE4E5B9
	h ^= h >> 32
	return float64(h%20001)/10000 - 1
}
