package view

import (
	"math"

	"callboard/player"
)

// Sonar is a ring's ranges: of a sonar, or of a ranger with several elements.
// Ranges that are not finite or at or above the maximum are MaxRange; a sonar
// has no maximum.
type Sonar struct {
	Ranges  []float64 `expr:"ranges" unit:"m" doc:"the ranges, one for each element"`
	Count   int       `expr:"count" doc:"how many ranges"`
	Min     float64   `expr:"min" unit:"m" doc:"the nearest range"`
	Max     float64   `expr:"max" unit:"m" doc:"the farthest range"`
	Nearest int       `expr:"nearest" doc:"the number of the nearest element, from 0; -1 if there is none"`
	Bearing float64   `expr:"bearing" unit:"rad" doc:"the bearing of the nearest element"`
	Stamp

	maxRange float64       // m; +Inf if there is none
	elements []player.Pose // shared, of the device's geometry
}

// readSonar takes a sonar's ranges.
func (s *Sonar) readSonar(ranges []float32, elements []player.Pose) {
	s.elements, s.maxRange, s.Ranges = elements, math.Inf(1), s.Ranges[:0]
	for _, r := range ranges {
		s.Ranges = append(s.Ranges, clip(float64(r), s.maxRange))
	}
	s.derive()
}

// readRanger takes the ranges of a ranger with several elements.
func (s *Sonar) readRanger(ranges []float64, elements []player.Pose, c *player.RangerConfig) {
	s.elements, s.maxRange, s.Ranges = elements, maximum(c.MaxRange), s.Ranges[:0]
	for _, r := range ranges {
		s.Ranges = append(s.Ranges, clip(r, s.maxRange))
	}
	s.derive()
}

func (s *Sonar) derive() {
	s.Count = len(s.Ranges)
	s.Nearest, s.Min, s.Max = extremes(s.Ranges, s.maxRange)
	s.Bearing = 0
	if s.Nearest >= 0 {
		s.Bearing = s.bearing(s.Nearest)
	}
}

// bearing returns the bearing of element i in rad, NaN if the geometry does not
// know it.
func (s *Sonar) bearing(i int) float64 {
	if i >= len(s.elements) {
		return math.NaN()
	}
	return s.elements[i].Yaw
}

// Sector returns the nearest range between two bearings in degrees,
// counter-clockwise, both included; the maximum if there is none.
func (s *Sonar) Sector(from, to float64) float64 {
	near := s.maxRange
	sec, ok := newSector(from, to)
	if !ok {
		return near
	}
	for i, r := range s.Ranges {
		if r < near && sec.has(s.bearing(i)) {
			near = r
		}
	}
	return near
}
