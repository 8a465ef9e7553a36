package view

import (
	"math"

	"callboard/player"
	"callboard/player/iface"
)

// Joystick is a joystick's axes and buttons.
type Joystick struct {
	X       float64   `expr:"x" doc:"the first axis, -1 to 1; no number if there is none, as the next two"`
	Y       float64   `expr:"y" doc:"the second axis"`
	Yaw     float64   `expr:"yaw" doc:"the third axis"`
	Pressed int       `expr:"pressed" doc:"how many buttons are down"`
	Buttons int       `expr:"buttons" doc:"the buttons as bits"`
	Down    []float64 `expr:"down" doc:"the numbers of the buttons that are down, from 0"`
	Count   int       `expr:"axes_count" doc:"how many axes"`
	Axes    []float64 `expr:"axes" doc:"the axes, each -1 to 1"`
	Pos     []float64 `expr:"pos" doc:"the axes as the device counts"`
	Scale   []float64 `expr:"scale" doc:"the greatest pos of each axis"`
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
