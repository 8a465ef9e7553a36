package view

import (
	"callboard/player"
	"callboard/player/iface"
)

// Bumper is what touches the robot.
type Bumper struct {
	Any     bool      `expr:"any" doc:"some bumper is pressed"`
	Pressed int       `expr:"pressed" doc:"how many are pressed"`
	First   int       `expr:"first" doc:"the number of the first that is pressed, from 0; -1 if there is none"`
	Count   int       `expr:"count" doc:"how many bumpers"`
	Bumpers []float64 `expr:"bumpers" doc:"what each says: 0 is free; what else is the driver's, as 1 or a corner's number"`
	Stamp
}

func (b *Bumper) read(m player.Reading, _ View) bool {
	d, ok := m.Payload.(*iface.BumperData)
	if !ok {
		return false
	}
	b.Bumpers, b.Count, b.Pressed, b.First = b.Bumpers[:0], len(d.Bumpers), 0, -1
	for i, state := range d.Bumpers {
		b.Bumpers = append(b.Bumpers, float64(state))
		if state != 0 {
			if b.Pressed == 0 {
				b.First = i
			}
			b.Pressed++
		}
	}
	b.Any = b.Pressed > 0
	return true
}
