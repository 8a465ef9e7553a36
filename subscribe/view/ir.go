package view

import (
	"math"

	"callboard/player"
	"callboard/player/iface"
)

// IR is what infrared sensors measure. A range that is not finite is +Inf.
type IR struct {
	Count    int       `expr:"count"`
	Min      float64   `expr:"min"`
	Max      float64   `expr:"max"`
	Nearest  int       `expr:"nearest"`
	Ranges   []float64 `expr:"ranges"`
	Voltages []float64 `expr:"voltages"`
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

var irFields = with(
	numbers("ranges", "m", "the ranges, one for each sensor", func(v *IR) []float64 { return v.Ranges }),
	numbers("voltages", "V", "the voltages, one for each sensor", func(v *IR) []float64 { return v.Voltages }),
	whole("count", "", "how many ranges", func(v *IR) int { return v.Count }),
	number("min", "m", "the nearest range", func(v *IR) float64 { return v.Min }),
	number("max", "m", "the farthest range", func(v *IR) float64 { return v.Max }),
	whole("nearest", "", "the number of the nearest sensor, from 0; -1 if there is none", func(v *IR) int { return v.Nearest }),
)

// AppendText appends the view as the text of an object: see protocol.Seal.
func (v *IR) AppendText(dst []byte) []byte { return appendFields(dst, v, irFields) }
