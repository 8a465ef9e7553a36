package view

import (
	"callboard/player"
	"callboard/player/iface"
)

// Bumper is what touches the robot.
type Bumper struct {
	Bumpers []float64 `expr:"bumpers"`
	Count   int       `expr:"count"`
	Any     bool      `expr:"any"`
	Pressed int       `expr:"pressed"`
	First   int       `expr:"first"`
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

var bumperFields = with(
	truth("any", "some bumper is pressed", func(b *Bumper) bool { return b.Any }),
	whole("pressed", "", "how many are pressed", func(b *Bumper) int { return b.Pressed }),
	whole("first", "", "the number of the first that is pressed, from 0; -1 if there is none", func(b *Bumper) int { return b.First }),
	whole("count", "", "how many bumpers", func(b *Bumper) int { return b.Count }),
	numbers("bumpers", "", "what each says: 0 is free; what else is the driver's, as 1 or a corner's number", func(b *Bumper) []float64 { return b.Bumpers }),
)

// AppendText appends the view as the text of an object: see protocol.Seal.
func (b *Bumper) AppendText(dst []byte) []byte { return appendFields(dst, b, bumperFields) }
