package view

import (
	"callboard/player"
	"callboard/player/iface"
)

// DIO is digital inputs.
type DIO struct {
	Values []float64 `expr:"values" doc:"the inputs, each 0 or 1"`
	On     int       `expr:"on" doc:"how many are 1"`
	Count  int       `expr:"count" doc:"how many inputs"`
	Bits   int       `expr:"bits" doc:"the inputs as bits, the lowest the first"`
	Stamp
}

func (v *DIO) read(m player.Reading, _ View) bool {
	d, ok := m.Payload.(*iface.DIOData)
	if !ok {
		return false
	}
	v.Count, v.Bits, v.Values, v.On = int(d.Count), int(d.Bits), v.Values[:0], 0
	for i := range min(d.Count, 32) {
		bit := d.Bits >> i & 1
		v.Values = append(v.Values, float64(bit))
		v.On += int(bit)
	}
	return true
}
