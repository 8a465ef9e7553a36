package view

import (
	"callboard/player"
	"callboard/player/iface"
)

// Actarray is what the actuators of an array do.
type Actarray struct {
	Moving        bool      `expr:"moving" doc:"some actuator moves"`
	Stalled       bool      `expr:"stalled" doc:"some actuator is stalled"`
	MotorState    int       `expr:"motor_state" doc:"1: the motors are on"`
	Count         int       `expr:"count" doc:"how many actuators"`
	Positions     []float64 `expr:"positions" unit:"m or rad" doc:"the position of each"`
	Speeds        []float64 `expr:"speeds" unit:"m/s or rad/s" doc:"the speed of each"`
	Accelerations []float64 `expr:"accelerations" unit:"m/s² or rad/s²" doc:"the acceleration of each"`
	Currents      []float64 `expr:"currents" unit:"A" doc:"the current of each"`
	States        []float64 `expr:"states" doc:"of each, 1: idle, 2: moving, 4: braked, 8: stalled"`
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
