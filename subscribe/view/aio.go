package view

import (
	"math"

	"callboard/player"
	"callboard/player/iface"
)

// AIO is analog inputs.
type AIO struct {
	Count    int       `expr:"count"`
	Min      float64   `expr:"min"`
	Max      float64   `expr:"max"`
	Voltages []float64 `expr:"voltages"`
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

var aioFields = with(
	numbers("voltages", "V", "the voltages, one for each input", func(a *AIO) []float64 { return a.Voltages }),
	whole("count", "", "how many inputs", func(a *AIO) int { return a.Count }),
	number("min", "V", "the least voltage; no number if there is no input", func(a *AIO) float64 { return a.Min }),
	number("max", "V", "the greatest voltage; no number if there is no input", func(a *AIO) float64 { return a.Max }),
)

// AppendText appends the view as the text of an object: see protocol.Seal.
func (a *AIO) AppendText(dst []byte) []byte { return appendFields(dst, a, aioFields) }
