package condition

import (
	"fmt"
	"math"
)

// zone is a polygon, in m.
type zone [][2]float64

// newZone checks a polygon.
func newZone(points [][2]float64) (zone, error) {
	if len(points) < 3 {
		return nil, fmt.Errorf("%d points; expected 3 or more", len(points))
	}
	for i, p := range points {
		if !finite(p[0]) || !finite(p[1]) {
			return nil, fmt.Errorf("point %d is not finite", i+1)
		}
	}
	return append(zone(nil), points...), nil
}

func finite(f float64) bool { return !math.IsNaN(f) && !math.IsInf(f, 0) }

// has reports whether a point is in the zone or on its border. Where the border
// crosses itself, what is inside an odd number of times is inside.
func (z zone) has(x, y float64) bool {
	if !finite(x) || !finite(y) {
		return false
	}
	inside := false
	a := z[len(z)-1]
	for _, b := range z {
		cross := (b[0]-a[0])*(y-a[1]) - (b[1]-a[1])*(x-a[0])
		if cross == 0 && between(a[0], x, b[0]) && between(a[1], y, b[1]) {
			return true
		}
		if (a[1] > y) != (b[1] > y) && (cross > 0) == (b[1] > a[1]) {
			inside = !inside
		}
		a = b
	}
	return inside
}

func between(a, x, b float64) bool { return a <= x && x <= b || b <= x && x <= a }
