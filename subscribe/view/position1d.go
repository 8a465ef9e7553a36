package view

import (
	"callboard/player"
	"callboard/player/iface"
)

// Position1D is the place and speed of a joint.
type Position1D struct {
	Pos          float64 `expr:"pos" unit:"m or rad" doc:"position"`
	Vel          float64 `expr:"vel" unit:"m/s or rad/s" doc:"speed"`
	Stall        bool    `expr:"stall" doc:"the motor is stalled"`
	LimitMin     bool    `expr:"limit_min" doc:"it is at its lower limit"`
	LimitCen     bool    `expr:"limit_cen" doc:"it is at its centre"`
	LimitMax     bool    `expr:"limit_max" doc:"it is at its upper limit"`
	OC           bool    `expr:"oc" doc:"the motor draws too much"`
	TrajComplete bool    `expr:"traj_complete" doc:"it has arrived"`
	Enabled      bool    `expr:"enabled" doc:"the motor is on"`
	Status       int     `expr:"status" doc:"the last six as bits"`
	Stamp
}

func (p *Position1D) read(m player.Reading, _ View) bool {
	d, ok := m.Payload.(*iface.Position1DData)
	if !ok {
		return false
	}
	bit := func(number uint8) bool { return d.Status>>number&1 != 0 }
	*p = Position1D{
		Pos: float64(d.Pos), Vel: float64(d.Vel), Stall: d.Stall != 0, Status: int(d.Status),
		LimitMin: bit(iface.Position1DStatusLimitMin), LimitCen: bit(iface.Position1DStatusLimitCen), LimitMax: bit(iface.Position1DStatusLimitMax),
		OC: bit(iface.Position1DStatusOC), TrajComplete: bit(iface.Position1DStatusTrajComplete), Enabled: bit(iface.Position1DStatusEnabled),
	}
	return true
}
