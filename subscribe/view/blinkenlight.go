package view

import (
	"callboard/player"
	"callboard/player/iface"
)

// Blinkenlight is what a light does.
type Blinkenlight struct {
	Enable    bool    `expr:"enable"`
	Period    float64 `expr:"period"`
	DutyCycle float64 `expr:"duty_cycle"`
	Red       int     `expr:"red"`
	Green     int     `expr:"green"`
	Blue      int     `expr:"blue"`
	Alpha     int     `expr:"alpha"`
	Stamp
}

func (b *Blinkenlight) read(m player.Reading, _ View) bool {
	d, ok := m.Payload.(*iface.BlinkenlightData)
	if !ok {
		return false
	}
	*b = Blinkenlight{
		Enable: d.Enable != 0, Period: float64(d.Period), DutyCycle: float64(d.DutyCycle),
		Red: int(d.Color.Red), Green: int(d.Color.Green), Blue: int(d.Color.Blue), Alpha: int(d.Color.Alpha),
	}
	return true
}

var blinkenlightFields = with(
	truth("enable", "it is on", func(b *Blinkenlight) bool { return b.Enable }),
	number("period", "s", "of flashing; 0: steady", func(b *Blinkenlight) float64 { return b.Period }),
	number("duty_cycle", "", "which part of the period it is on, 0 to 1", func(b *Blinkenlight) float64 { return b.DutyCycle }),
	whole("red", "", "0 to 255", func(b *Blinkenlight) int { return b.Red }),
	whole("green", "", "0 to 255", func(b *Blinkenlight) int { return b.Green }),
	whole("blue", "", "0 to 255", func(b *Blinkenlight) int { return b.Blue }),
	whole("alpha", "", "0 to 255", func(b *Blinkenlight) int { return b.Alpha }),
)

// AppendText appends the view as the text of an object: see protocol.Seal.
func (b *Blinkenlight) AppendText(dst []byte) []byte { return appendFields(dst, b, blinkenlightFields) }
