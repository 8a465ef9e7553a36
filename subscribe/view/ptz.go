package view

import (
	"callboard/player"
	"callboard/player/iface"
)

// PTZ is where a camera head looks.
type PTZ struct {
	Pan       float64 `expr:"pan" unit:"rad" doc:"where it looks, to the left"`
	Tilt      float64 `expr:"tilt" unit:"rad" doc:"where it looks, upward"`
	Zoom      float64 `expr:"zoom" unit:"rad" doc:"its field of view"`
	PanSpeed  float64 `expr:"panspeed" unit:"rad/s" doc:"how fast it pans"`
	TiltSpeed float64 `expr:"tiltspeed" unit:"rad/s" doc:"how fast it tilts"`
	Status    int     `expr:"status" doc:"the driver's"`
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
