package view

import (
	"math"

	"callboard/player"
)

// Sonar is a ring's ranges: of a sonar, or of a ranger with several elements.
// Ranges that are not finite or at or above the maximum are MaxRange; a sonar
// has no maximum.
type Sonar struct {
	Ranges  []float64 `expr:"ranges"`  // m, by element
	Count   int       `expr:"count"`   // ranges in the reading
	Min     float64   `expr:"min"`     // m; the maximum for an empty reading
	Max     float64   `expr:"max"`     // m; the maximum for an empty reading
	Nearest int       `expr:"nearest"` // number of the nearest element; -1 for an empty reading
	Bearing float64   `expr:"bearing"` // rad, of the nearest element; 0 for an empty reading
	Time    float64   `expr:"time"`    // s
	Index   int       `expr:"index"`

	maxRange float64       // m; +Inf if there is none
	elements []player.Pose // shared, of the device's geometry
}

func (s *Sonar) stamp(time float64, index int) { s.Time, s.Index = time, index }

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

var sonarFields = []field[Sonar]{
	numbers("ranges", "m", "the ranges, one for each element", func(s *Sonar) []float64 { return s.Ranges }),
	whole("count", "", "how many ranges", func(s *Sonar) int { return s.Count }),
	number("min", "m", "the nearest range", func(s *Sonar) float64 { return s.Min }),
	number("max", "m", "the farthest range", func(s *Sonar) float64 { return s.Max }),
	whole("nearest", "", "the number of the nearest element, from 0; -1 if there is none", func(s *Sonar) int { return s.Nearest }),
	number("bearing", "rad", "the bearing of the nearest element", func(s *Sonar) float64 { return s.Bearing }),
	number("time", "s", "the time of the reading", func(s *Sonar) float64 { return s.Time }),
	whole("index", "", "the index of the device", func(s *Sonar) int { return s.Index }),
}

// AppendText appends the view as the text of an object: see protocol.Seal.
func (s *Sonar) AppendText(dst []byte) []byte { return appendFields(dst, s, sonarFields) }
