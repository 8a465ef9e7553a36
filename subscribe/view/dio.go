package view

import (
	"callboard/player"
	"callboard/player/iface"
)

// DIO is digital inputs.
type DIO struct {
	Count  int       `expr:"count"`
	On     int       `expr:"on"`
	Bits   int       `expr:"bits"`
	Values []float64 `expr:"values"`
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

var dioFields = with(
	numbers("values", "", "the inputs, each 0 or 1", func(v *DIO) []float64 { return v.Values }),
	whole("on", "", "how many are 1", func(v *DIO) int { return v.On }),
	whole("count", "", "how many inputs", func(v *DIO) int { return v.Count }),
	whole("bits", "", "the inputs as bits, the lowest the first", func(v *DIO) int { return v.Bits }),
)

// AppendText appends the view as the text of an object: see protocol.Seal.
func (v *DIO) AppendText(dst []byte) []byte { return appendFields(dst, v, dioFields) }
