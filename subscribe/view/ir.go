package view

import (
	"math"

	"callboard/player"
	"callboard/player/iface"
)

// IR is what infrared sensors measure. A range that is not finite is +Inf.
type IR struct {
	Ranges   []float64 `expr:"ranges" unit:"m" doc:"the ranges, one for each sensor"`
	Voltages []float64 `expr:"voltages" unit:"V" doc:"the voltages, one for each sensor"`
	Count    int       `expr:"count" doc:"how many ranges"`
	Min      float64   `expr:"min" unit:"m" doc:"the nearest range"`
	Max      float64   `expr:"max" unit:"m" doc:"the farthest range"`
	Nearest  int       `expr:"nearest" doc:"the number of the nearest sensor, from 0; -1 if there is none"`
	Stamp
}

func (v *IR) read(m player.Reading, _ View) bool {
	d, ok := m.Payload.(*iface.IRData)
	if !ok {
		return false
	}
	v.Ranges, v.Voltages = v.Ranges[:0], v.Voltages[:0]
	for _, r := range d.Ranges {
		v.Ranges = append(v.Ranges, clip(float64(r), math.Inf(1)))
	}
	for _, u := range d.Voltages {
		v.Voltages = append(v.Voltages, float64(u))
	}
	v.Count = len(v.Ranges)
	v.Nearest, v.Min, v.Max = extremes(v.Ranges, math.Inf(1))
	return true
}
