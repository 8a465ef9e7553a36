package worlds

import (
	"fmt"
	"io/fs"
	"math"
	"strings"
)

// The patrol's round: a rectangle with round bends through all six halls. m.
const (
	roundX    = 8.0  // of the straights' ends from the middle
	roundY    = 3.5  // of the straights from the middle
	roundBend = 2.5  // radius of the bends
	lane      = 0.75 // of those who keep right, from the middle of the way
)

// maxPatrols is how many robots find room on the round.
const maxPatrols = 24

// Point is a place on the floor, m.
type Point struct{ X, Y float64 }

// Patrol returns a world with six halls and n robots r0, r1, … on a round through
// all of them: those with even numbers go counter-clockwise, the others
// clockwise, each on the right.
func Patrol(n int) (open func(name string) ([]byte, error), name string) {
	text, err := fs.ReadFile(FS, "patrol.world")
	if err != nil {
		panic(err) // embedded
	}
	var b strings.Builder
	for line := range strings.Lines(string(text)) {
		if !strings.HasPrefix(line, "guard (") {
			b.WriteString(line)
		}
	}
	for i := range n {
		fmt.Fprintln(&b, patroller(i, n))
	}
	return made("patrol.world", b.String())
}

// MaxPatrols is how many robots Patrol has room for.
func MaxPatrols() int { return maxPatrols }

// patroller is the i-th of n robots, at its place on the round.
func patroller(i, n int) string {
	round := Round(i)
	at := (i * len(round)) / max(n, 1)
	if i%2 == 1 { // of the other direction the same share of the way
		at = len(round) - 1 - at
	}
	p, next := round[at], round[(at+1)%len(round)]
	a := math.Atan2(next.Y-p.Y, next.X-p.X) * 180 / math.Pi
	return fmt.Sprintf("guard ( name \"r%d\" color %q pose [ %.2f %.2f 0 %.0f ] )", i, colors[i%len(colors)], p.X, p.Y, a)
}

// Round returns the way of the patrol's i-th robot, a closed one, as points a
// tenth of a metre apart, in the order in which it passes them.
func Round(i int) []Point {
	offset, clockwise := lane, i%2 == 1
	if clockwise {
		offset = -lane
	}
	r := roundBend + offset
	x, y := roundX-roundBend, roundY-roundBend // of the bends' centres
	var way []Point
	line := func(fx, fy, tx, ty float64) {
		n := int(math.Round(math.Hypot(tx-fx, ty-fy) * 10))
		for k := range n {
			t := float64(k) / float64(n)
			way = append(way, Point{fx + t*(tx-fx), fy + t*(ty-fy)})
		}
	}
	bend := func(cx, cy, from float64) {
		n := int(math.Round(r * math.Pi / 2 * 10))
		for k := range n {
			a := from + math.Pi/2*float64(k)/float64(n)
			way = append(way, Point{cx + r*math.Cos(a), cy + r*math.Sin(a)})
		}
	}
	line(-x, -y-r, x, -y-r)
	bend(x, -y, -math.Pi/2)
	line(x+r, -y, x+r, y)
	bend(x, y, 0)
	line(x, y+r, -x, y+r)
	bend(-x, y, math.Pi/2)
	line(-x-r, y, -x-r, -y)
	bend(-x, -y, math.Pi)
	if clockwise {
		for i, j := 0, len(way)-1; i < j; i, j = i+1, j-1 {
			way[i], way[j] = way[j], way[i]
		}
	}
	return way
}
