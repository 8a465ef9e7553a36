package view

import (
	"callboard/player"
	"callboard/player/iface"
)

// WSN is a packet of a node of a sensor network.
type WSN struct {
	NodeID       int     `expr:"node_id"`
	NodeType     int     `expr:"node_type"`
	NodeParentID int     `expr:"node_parent_id"`
	Light        float64 `expr:"light"`
	Mic          float64 `expr:"mic"`
	AccelX       float64 `expr:"accel_x"`
	AccelY       float64 `expr:"accel_y"`
	AccelZ       float64 `expr:"accel_z"`
	MagnX        float64 `expr:"magn_x"`
	MagnY        float64 `expr:"magn_y"`
	MagnZ        float64 `expr:"magn_z"`
	Temperature  float64 `expr:"temperature"`
	Battery      float64 `expr:"battery"`
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

var wsnFields = with(
	whole("node_id", "", "which node", func(w *WSN) int { return w.NodeID }),
	whole("node_type", "", "what kind of node", func(w *WSN) int { return w.NodeType }),
	whole("node_parent_id", "", "which node it reports to", func(w *WSN) int { return w.NodeParentID }),
	number("light", "", "light", func(w *WSN) float64 { return w.Light }),
	number("mic", "", "loudness", func(w *WSN) float64 { return w.Mic }),
	number("accel_x", "", "acceleration", func(w *WSN) float64 { return w.AccelX }),
	number("accel_y", "", "acceleration", func(w *WSN) float64 { return w.AccelY }),
	number("accel_z", "", "acceleration", func(w *WSN) float64 { return w.AccelZ }),
	number("magn_x", "", "magnetic field", func(w *WSN) float64 { return w.MagnX }),
	number("magn_y", "", "magnetic field", func(w *WSN) float64 { return w.MagnY }),
	number("magn_z", "", "magnetic field", func(w *WSN) float64 { return w.MagnZ }),
	number("temperature", "", "temperature", func(w *WSN) float64 { return w.Temperature }),
	number("battery", "", "voltage of its battery", func(w *WSN) float64 { return w.Battery }),
)

// AppendText appends the view as the text of an object: see protocol.Seal.
func (w *WSN) AppendText(dst []byte) []byte { return appendFields(dst, w, wsnFields) }
