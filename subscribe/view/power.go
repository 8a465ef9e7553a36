package view

import (
	"math"

	"callboard/player"
	"callboard/player/iface"
)

// Power is a battery. What a driver does not tell is NaN, and for Charging 0.
type Power struct {
	Percent  float64 `expr:"percent"`
	Volts    float64 `expr:"volts"`
	Watts    float64 `expr:"watts"`
	Joules   float64 `expr:"joules"`
	Charging int     `expr:"charging"`
	Valid    int     `expr:"valid"`
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

var powerFields = with(
	number("percent", "%", "how full it is", func(p *Power) float64 { return p.Percent }),
	number("volts", "V", "its voltage", func(p *Power) float64 { return p.Volts }),
	number("watts", "W", "what is drawn", func(p *Power) float64 { return p.Watts }),
	number("joules", "J", "what it holds", func(p *Power) float64 { return p.Joules }),
	whole("charging", "", "1: it is charged, -1: it gives, 0: neither", func(p *Power) int { return p.Charging }),
	whole("valid", "", "what the driver tells: 1 volts + 2 watts + 4 joules + 8 percent + 16 charging", func(p *Power) int { return p.Valid }),
)

// AppendText appends the view as the text of an object: see protocol.Seal.
func (p *Power) AppendText(dst []byte) []byte { return appendFields(dst, p, powerFields) }
