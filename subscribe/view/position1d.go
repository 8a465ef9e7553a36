package view

import (
	"callboard/player"
	"callboard/player/iface"
)

// Position1D is the place and speed of a joint.
type Position1D struct {
	Pos          float64 `expr:"pos"`
	Vel          float64 `expr:"vel"`
	Stall        bool    `expr:"stall"`
	LimitMin     bool    `expr:"limit_min"`
	LimitCen     bool    `expr:"limit_cen"`
	LimitMax     bool    `expr:"limit_max"`
	OC           bool    `expr:"oc"`
	TrajComplete bool    `expr:"traj_complete"`
	Enabled      bool    `expr:"enabled"`
	Status       int     `expr:"status"`
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

var position1DFields = with(
	number("pos", "m or rad", "position", func(p *Position1D) float64 { return p.Pos }),
	number("vel", "m/s or rad/s", "speed", func(p *Position1D) float64 { return p.Vel }),
	truth("stall", "the motor is stalled", func(p *Position1D) bool { return p.Stall }),
	truth("limit_min", "it is at its lower limit", func(p *Position1D) bool { return p.LimitMin }),
	truth("limit_cen", "it is at its centre", func(p *Position1D) bool { return p.LimitCen }),
	truth("limit_max", "it is at its upper limit", func(p *Position1D) bool { return p.LimitMax }),
	truth("oc", "the motor draws too much", func(p *Position1D) bool { return p.OC }),
	truth("traj_complete", "it has arrived", func(p *Position1D) bool { return p.TrajComplete }),
	truth("enabled", "the motor is on", func(p *Position1D) bool { return p.Enabled }),
	whole("status", "", "the last six as bits", func(p *Position1D) int { return p.Status }),
)

// AppendText appends the view as the text of an object: see protocol.Seal.
func (p *Position1D) AppendText(dst []byte) []byte { return appendFields(dst, p, position1DFields) }
