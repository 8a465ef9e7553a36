package view

import (
	"callboard/player"
	"callboard/player/iface"
)

// PTZ is where a camera head looks.
type PTZ struct {
	Pan       float64 `expr:"pan"`
	Tilt      float64 `expr:"tilt"`
	Zoom      float64 `expr:"zoom"`
	PanSpeed  float64 `expr:"panspeed"`
	TiltSpeed float64 `expr:"tiltspeed"`
	Status    int     `expr:"status"`
	Stamp
}

func (p *PTZ) read(m player.Reading, _ View) bool {
	d, ok := m.Payload.(*iface.PTZData)
	if !ok {
		return false
	}
	*p = PTZ{
		Pan: float64(d.Pan), Tilt: float64(d.Tilt), Zoom: float64(d.Zoom),
		PanSpeed: float64(d.PanSpeed), TiltSpeed: float64(d.TiltSpeed), Status: int(d.Status),
	}
	return true
}

var ptzFields = with(
	number("pan", "rad", "where it looks, to the left", func(p *PTZ) float64 { return p.Pan }),
	number("tilt", "rad", "where it looks, upward", func(p *PTZ) float64 { return p.Tilt }),
	number("zoom", "rad", "its field of view", func(p *PTZ) float64 { return p.Zoom }),
	number("panspeed", "rad/s", "how fast it pans", func(p *PTZ) float64 { return p.PanSpeed }),
	number("tiltspeed", "rad/s", "how fast it tilts", func(p *PTZ) float64 { return p.TiltSpeed }),
	whole("status", "", "the driver's", func(p *PTZ) int { return p.Status }),
)

// AppendText appends the view as the text of an object: see protocol.Seal.
func (p *PTZ) AppendText(dst []byte) []byte { return appendFields(dst, p, ptzFields) }
