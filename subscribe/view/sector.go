package view

import "math"

const (
	turn = 2 * math.Pi
	// edge is how far outside a sector, in rad, a bearing still counts as on
	// its edge: bearings come as float32 and as sums of steps.
	edge = 1e-6
)

// sector is the bearings from … from + width, in rad, counter-clockwise.
type sector struct{ from, width float64 }

// newSector makes a sector of two bearings in degrees; false if they are no
// bearings. A full turn or more is everything.
func newSector(from, to float64) (sector, bool) {
	width := to - from
	if math.IsNaN(width) || math.IsInf(width, 0) {
		return sector{}, false
	}
	if width < 0 {
		width += 360 * math.Ceil(-width/360)
	}
	if width >= 360 {
		return sector{from: -math.Pi, width: turn}, true
	}
	return sector{from: math.Remainder(from, 360) * (math.Pi / 180), width: width * (math.Pi / 180)}, true
}

// has reports whether a bearing in rad is in the sector.
func (s sector) has(bearing float64) bool {
	d := math.Mod(bearing-s.from, turn)
	if d < 0 {
		d += turn
	}
	return d <= s.width+edge || d >= turn-edge
}
