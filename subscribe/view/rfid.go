package view

import (
	"encoding/hex"

	"callboard/player"
	"callboard/player/iface"
)

// RFID is the radio tags in reach.
type RFID struct {
	Count int       `expr:"count" doc:"how many tags"`
	Tags  []string  `expr:"tags" doc:"the number of each in hexadecimal digits, as \"e0040100\""`
	Types []float64 `expr:"types" doc:"the type of each, the driver's"`
	Stamp

	hex [2 * maxTag]byte
}

// maxTag, in bytes, is how much of a tag's number conditions see.
const maxTag = 64

func (r *RFID) read(m player.Reading, _ View) bool {
	d, ok := m.Payload.(*iface.RFIDData)
	if !ok {
		return false
	}
	before := r.Tags
	r.Count, r.Tags, r.Types = len(d.Tags), r.Tags[:0], r.Types[:0]
	for i := range d.Tags {
		guid := d.Tags[i].GUID
		number := r.hex[:hex.Encode(r.hex[:], guid[:min(len(guid), maxTag)])]
		r.Types = append(r.Types, float64(d.Tags[i].Type))
		// What was there keeps its text, so that it is not made anew.
		if i < len(before) && before[i] == string(number) {
			r.Tags = append(r.Tags, before[i])
		} else {
			r.Tags = append(r.Tags, string(number))
		}
	}
	return true
}
