package view

import (
	"math"

	"callboard/player"
	"callboard/player/iface"
)

// Laser is a scan: of a laser, or of a ranger with one element. Ranges that
// are not finite or at or above the maximum are MaxRange.
type Laser struct {
	Ranges      []float64 `expr:"ranges" unit:"m" doc:"the ranges; what is not finite or beyond the maximum is max_range"`
	Intensities []float64 `expr:"intensities" doc:"the intensities, if the device gives any"`
	Count       int       `expr:"count" doc:"how many ranges"`
	Min         float64   `expr:"min" unit:"m" doc:"the nearest range; max_range for an empty scan"`
	Max         float64   `expr:"max" unit:"m" doc:"the farthest range; max_range for an empty scan"`
	Bearing     float64   `expr:"bearing" unit:"rad" doc:"the bearing of the nearest; 0 for an empty scan"`
	AngleMin    float64   `expr:"angle_min" unit:"rad" doc:"the bearing of the first range"`
	AngleMax    float64   `expr:"angle_max" unit:"rad" doc:"the bearing of the last range"`
	Resolution  float64   `expr:"resolution" unit:"rad" doc:"from one bearing to the next"`
	MaxRange    float64   `expr:"max_range" unit:"m" doc:"the maximum of the device"`
	Front       float64   `expr:"front" unit:"m" doc:"the nearest within ±30°"`
	Left        float64   `expr:"left" unit:"m" doc:"the nearest from 30° to 90°"`
	Right       float64   `expr:"right" unit:"m" doc:"the nearest from -90° to -30°"`
	Stamp

	angles []float64 // rad, of each range, when they are not at equal steps
}

// bearing returns the bearing of range i in rad.
func (l *Laser) bearing(i int) float64 {
	if len(l.angles) == len(l.Ranges) {
		return l.angles[i]
	}
	return l.AngleMin + float64(i)*l.Resolution
}

// maximum makes a device's maximum usable: one that is no length means that
// there is none.
func maximum(m float64) float64 {
	if m > 0 {
		return m
	}
	return math.Inf(1)
}

// clip returns a range as conditions see it.
func clip(r, max float64) float64 {
	if r >= max || math.IsNaN(r) || math.IsInf(r, 0) {
		return max
	}
	return r
}

// readLaser takes a laser's scan.
func (l *Laser) readLaser(d *iface.LaserData) {
	l.AngleMin, l.AngleMax, l.MaxRange = float64(d.MinAngle), float64(d.MaxAngle), maximum(float64(d.MaxRange))
	l.angles = l.angles[:0]
	l.takeFloat32(d.Ranges, d.Intensity)
	l.derive()
}

// readAngles takes a scan with a bearing for each range.
func (l *Laser) readAngles(d *iface.LaserDataScanangle) {
	l.AngleMin, l.AngleMax, l.MaxRange = 0, 0, maximum(float64(d.MaxRange))
	l.angles = l.angles[:0]
	for _, a := range d.Angles {
		l.angles = append(l.angles, float64(a))
	}
	if n := len(l.angles); n > 0 {
		l.AngleMin, l.AngleMax = l.angles[0], l.angles[n-1]
	}
	l.takeFloat32(d.Ranges, d.Intensity)
	l.derive()
}

func (l *Laser) takeFloat32(ranges []float32, intensities []uint8) {
	l.Ranges, l.Intensities = l.Ranges[:0], l.Intensities[:0]
	for _, r := range ranges {
		l.Ranges = append(l.Ranges, clip(float64(r), l.MaxRange))
	}
	for _, i := range intensities {
		l.Intensities = append(l.Intensities, float64(i))
	}
}

// readRanger takes the scan of a ranger with one element; its bearings and
// maximum come from its configuration.
func (l *Laser) readRanger(ranges []float64, c *player.RangerConfig) {
	l.AngleMin, l.AngleMax, l.MaxRange = c.MinAngle, c.MaxAngle, maximum(c.MaxRange)
	l.angles, l.Ranges, l.Intensities = l.angles[:0], l.Ranges[:0], l.Intensities[:0]
	for _, r := range ranges {
		l.Ranges = append(l.Ranges, clip(r, l.MaxRange))
	}
	l.derive()
}

// derive computes what follows from the ranges.
func (l *Laser) derive() {
	l.Count = len(l.Ranges)
	l.Resolution = 0
	if l.Count > 1 {
		l.Resolution = (l.AngleMax - l.AngleMin) / float64(l.Count-1)
	}
	nearest, min, max := extremes(l.Ranges, l.MaxRange)
	l.Min, l.Max, l.Bearing = min, max, 0
	if nearest >= 0 {
		l.Bearing = l.bearing(nearest)
	}
	l.Front, l.Left, l.Right = l.Sector(-30, 30), l.Sector(30, 90), l.Sector(-90, -30)
}

// extremes returns the number of the nearest range, the nearest and the
// farthest; -1 and none twice if there are no ranges.
func extremes(ranges []float64, none float64) (nearest int, min, max float64) {
	if len(ranges) == 0 {
		return -1, none, none
	}
	min, max = ranges[0], ranges[0]
	for i, r := range ranges {
		if r < min {
			nearest, min = i, r
		}
		if r > max {
			max = r
		}
	}
	return nearest, min, max
}

// Sector returns the nearest range between two bearings in degrees,
// counter-clockwise, both included; MaxRange if there is none.
func (l *Laser) Sector(from, to float64) float64 {
	s, ok := newSector(from, to)
	if !ok {
		return l.MaxRange
	}
	near := l.MaxRange
	if len(l.angles) == 0 && l.Resolution > 0 && math.Abs(l.AngleMin) <= turn && math.Abs(l.AngleMax) <= turn {
		for shift := -2 * turn; shift <= 2*turn; shift += turn {
			first, last := l.within(s.from+shift, s.from+s.width+shift)
			for _, r := range l.Ranges[first:last] {
				if r < near {
					near = r
				}
			}
		}
		return near
	}
	for i, r := range l.Ranges {
		if r < near && s.has(l.bearing(i)) {
			near = r
		}
	}
	return near
}

// within returns the ranges whose bearings are from…to rad, first to last
// (excluded), for a scan at equal positive steps.
func (l *Laser) within(from, to float64) (first, last int) {
	a := math.Ceil((from - edge - l.AngleMin) / l.Resolution)
	b := math.Floor((to+edge-l.AngleMin)/l.Resolution) + 1
	n := float64(l.Count)
	a, b = math.Min(math.Max(a, 0), n), math.Min(math.Max(b, 0), n)
	if !(a < b) {
		return 0, 0
	}
	return int(a), int(b)
}
