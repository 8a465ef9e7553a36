package view

import (
	"math"

	"callboard/player"
	"callboard/player/iface"
)

// AIO is analog inputs.
type AIO struct {
	Voltages []float64 `expr:"voltages" unit:"V" doc:"the voltages, one for each input"`
	Count    int       `expr:"count" doc:"how many inputs"`
	Min      float64   `expr:"min" unit:"V" doc:"the least voltage; no number if there is no input"`
	Max      float64   `expr:"max" unit:"V" doc:"the greatest voltage; no number if there is no input"`
	Stamp
}

func (a *AIO) read(m player.Reading, _ View) bool {
	d, ok := m.Payload.(*iface.AIOData)
	if !ok {
		return false
	}
	a.Voltages, a.Count = a.Voltages[:0], len(d.Voltages)
	for _, v := range d.Voltages {
		a.Voltages = append(a.Voltages, float64(v))
	}
	_, a.Min, a.Max = extremes(a.Voltages, math.NaN())
	return true
}
