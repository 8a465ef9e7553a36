package view

import (
	"math"

	"callboard/player"
	"callboard/player/iface"
)

// Joystick is a joystick's axes and buttons.
type Joystick struct {
	X       float64   `expr:"x"`
	Y       float64   `expr:"y"`
	Yaw     float64   `expr:"yaw"`
	Pressed int       `expr:"pressed"`
	Buttons int       `expr:"buttons"`
	Count   int       `expr:"axes_count"`
	Axes    []float64 `expr:"axes"`
	Pos     []float64 `expr:"pos"`
	Scale   []float64 `expr:"scale"`
	Down    []float64 `expr:"down"`
	Stamp
}

func (j *Joystick) read(m player.Reading, _ View) bool {
	d, ok := m.Payload.(*iface.JoystickData)
	if !ok {
		return false
	}
	j.Buttons, j.Count = int(d.Buttons), int(d.AxesCount)
	j.Axes, j.Pos, j.Scale, j.Down = j.Axes[:0], j.Pos[:0], j.Scale[:0], j.Down[:0]
	for i := range min(int(d.AxesCount), len(d.Pos)) {
		pos, scale, axis := float64(d.Pos[i]), float64(d.Scale[i]), 0.0
		if scale != 0 {
			axis = pos / scale
		}
		j.Axes, j.Pos, j.Scale = append(j.Axes, axis), append(j.Pos, pos), append(j.Scale, scale)
	}
	for i := range 32 {
		if d.Buttons>>i&1 != 0 {
			j.Down = append(j.Down, float64(i))
		}
	}
	j.Pressed = len(j.Down)
	axis := func(i int) float64 {
		if i < len(j.Axes) {
			return j.Axes[i]
		}
		return math.NaN()
	}
	j.X, j.Y, j.Yaw = axis(0), axis(1), axis(2)
	return true
}

var joystickFields = with(
	number("x", "", "the first axis, -1 to 1; no number if there is none, as the next two", func(j *Joystick) float64 { return j.X }),
	number("y", "", "the second axis", func(j *Joystick) float64 { return j.Y }),
	number("yaw", "", "the third axis", func(j *Joystick) float64 { return j.Yaw }),
	whole("pressed", "", "how many buttons are down", func(j *Joystick) int { return j.Pressed }),
	whole("buttons", "", "the buttons as bits", func(j *Joystick) int { return j.Buttons }),
	numbers("down", "", "the numbers of the buttons that are down, from 0", func(j *Joystick) []float64 { return j.Down }),
	whole("axes_count", "", "how many axes", func(j *Joystick) int { return j.Count }),
	numbers("axes", "", "the axes, each -1 to 1", func(j *Joystick) []float64 { return j.Axes }),
	numbers("pos", "", "the axes as the device counts", func(j *Joystick) []float64 { return j.Pos }),
	numbers("scale", "", "the greatest pos of each axis", func(j *Joystick) []float64 { return j.Scale }),
)

// AppendText appends the view as the text of an object: see protocol.Seal.
func (j *Joystick) AppendText(dst []byte) []byte { return appendFields(dst, j, joystickFields) }
