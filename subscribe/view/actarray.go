package view

import (
	"callboard/player"
	"callboard/player/iface"
)

// Actarray is what the actuators of an array do.
type Actarray struct {
	Count         int       `expr:"count"`
	Moving        bool      `expr:"moving"`
	Stalled       bool      `expr:"stalled"`
	MotorState    int       `expr:"motor_state"`
	Positions     []float64 `expr:"positions"`
	Speeds        []float64 `expr:"speeds"`
	Accelerations []float64 `expr:"accelerations"`
	Currents      []float64 `expr:"currents"`
	States        []float64 `expr:"states"`
	Stamp
}

func (a *Actarray) read(m player.Reading, _ View) bool {
	d, ok := m.Payload.(*iface.ActarrayData)
	if !ok {
		return false
	}
	a.Count, a.Moving, a.Stalled, a.MotorState = len(d.Actuators), false, false, int(d.MotorState)
	a.Positions, a.Speeds, a.Accelerations, a.Currents, a.States = a.Positions[:0], a.Speeds[:0], a.Accelerations[:0], a.Currents[:0], a.States[:0]
	for i := range d.Actuators {
		o := &d.Actuators[i]
		a.Positions, a.Speeds = append(a.Positions, float64(o.Position)), append(a.Speeds, float64(o.Speed))
		a.Accelerations, a.Currents = append(a.Accelerations, float64(o.Acceleration)), append(a.Currents, float64(o.Current))
		a.States = append(a.States, float64(o.State))
		a.Moving = a.Moving || o.State == iface.ActarrayActstateMoving
		a.Stalled = a.Stalled || o.State == iface.ActarrayActstateStalled
	}
	return true
}

var actarrayFields = with(
	truth("moving", "some actuator moves", func(a *Actarray) bool { return a.Moving }),
	truth("stalled", "some actuator is stalled", func(a *Actarray) bool { return a.Stalled }),
	whole("motor_state", "", "1: the motors are on", func(a *Actarray) int { return a.MotorState }),
	whole("count", "", "how many actuators", func(a *Actarray) int { return a.Count }),
	numbers("positions", "m or rad", "the position of each", func(a *Actarray) []float64 { return a.Positions }),
	numbers("speeds", "m/s or rad/s", "the speed of each", func(a *Actarray) []float64 { return a.Speeds }),
	numbers("accelerations", "m/s² or rad/s²", "the acceleration of each", func(a *Actarray) []float64 { return a.Accelerations }),
	numbers("currents", "A", "the current of each", func(a *Actarray) []float64 { return a.Currents }),
	numbers("states", "", "of each, 1: idle, 2: moving, 4: braked, 8: stalled", func(a *Actarray) []float64 { return a.States }),
)

// AppendText appends the view as the text of an object: see protocol.Seal.
func (a *Actarray) AppendText(dst []byte) []byte { return appendFields(dst, a, actarrayFields) }
