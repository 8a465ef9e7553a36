package view

import (
	"callboard/player"
	"callboard/player/iface"
)

// Blinkenlight is what a light does.
type Blinkenlight struct {
	Enable    bool    `expr:"enable" doc:"it is on"`
	Period    float64 `expr:"period" unit:"s" doc:"of flashing; 0: steady"`
	DutyCycle float64 `expr:"duty_cycle" doc:"which part of the period it is on, 0 to 1"`
	Red       int     `expr:"red" doc:"0 to 255"`
	Green     int     `expr:"green" doc:"0 to 255"`
	Blue      int     `expr:"blue" doc:"0 to 255"`
	Alpha     int     `expr:"alpha" doc:"0 to 255"`
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
