package view

import (
	"math"

	"callboard/player"
	"callboard/player/iface"
)

// Power is a battery. What a driver does not tell is NaN, and for Charging 0.
type Power struct {
	Percent  float64 `expr:"percent" unit:"%" doc:"how full it is"`
	Volts    float64 `expr:"volts" unit:"V" doc:"its voltage"`
	Watts    float64 `expr:"watts" unit:"W" doc:"what is drawn"`
	Joules   float64 `expr:"joules" unit:"J" doc:"what it holds"`
	Charging int     `expr:"charging" doc:"1: it is charged, -1: it gives, 0: neither"`
	Valid    int     `expr:"valid" doc:"what the driver tells: 1 volts + 2 watts + 4 joules + 8 percent + 16 charging"`
	Stamp
}

func (p *Power) read(m player.Reading, _ View) bool {
	d, ok := m.Payload.(*iface.PowerData)
	if !ok {
		return false
	}
	told := func(mask uint32, v float32) float64 {
		if d.Valid&mask == 0 {
			return math.NaN()
		}
		return float64(v)
	}
	p.Valid, p.Charging = int(d.Valid), 0
	p.Percent, p.Volts = told(iface.PowerMaskPercent, d.Percent), told(iface.PowerMaskVolts, d.Volts)
	p.Watts, p.Joules = told(iface.PowerMaskWatts, d.Watts), told(iface.PowerMaskJoules, d.Joules)
	if d.Valid&iface.PowerMaskCharging != 0 {
		p.Charging = int(d.Charging)
	}
	return true
}
