package view

import (
	"callboard/player"
	"callboard/player/iface"
)

// WSN is a packet of a node of a sensor network.
type WSN struct {
	NodeID       int     `expr:"node_id" doc:"which node"`
	NodeType     int     `expr:"node_type" doc:"what kind of node"`
	NodeParentID int     `expr:"node_parent_id" doc:"which node it reports to"`
	Light        float64 `expr:"light" doc:"light"`
	Mic          float64 `expr:"mic" doc:"loudness"`
	AccelX       float64 `expr:"accel_x" doc:"acceleration"`
	AccelY       float64 `expr:"accel_y" doc:"acceleration"`
	AccelZ       float64 `expr:"accel_z" doc:"acceleration"`
	MagnX        float64 `expr:"magn_x" doc:"magnetic field"`
	MagnY        float64 `expr:"magn_y" doc:"magnetic field"`
	MagnZ        float64 `expr:"magn_z" doc:"magnetic field"`
	Temperature  float64 `expr:"temperature" doc:"temperature"`
	Battery      float64 `expr:"battery" doc:"voltage of its battery"`
	Stamp
}

func (w *WSN) read(m player.Reading, _ View) bool {
	d, ok := m.Payload.(*iface.WSNData)
	if !ok {
		return false
	}
	p := &d.DataPacket
	*w = WSN{
		NodeID: int(d.NodeID), NodeType: int(d.NodeType), NodeParentID: int(d.NodeParentID),
		Light:       float64(p.Light),
		Mic:         float64(p.Mic),
		AccelX:      float64(p.AccelX),
		AccelY:      float64(p.AccelY),
		AccelZ:      float64(p.AccelZ),
		MagnX:       float64(p.MagnX),
		MagnY:       float64(p.MagnY),
		MagnZ:       float64(p.MagnZ),
		Temperature: float64(p.Temperature),
		Battery:     float64(p.Battery),
	}
	return true
}
