package view

import (
	"math/bits"

	"callboard/player"
	"callboard/player/iface"
)

// Gripper is what a gripper does and feels.
type Gripper struct {
	State  int  `expr:"state"`
	Open   bool `expr:"open"`
	Closed bool `expr:"closed"`
	Moving bool `expr:"moving"`
	Error  bool `expr:"error"`
	Broken int  `expr:"broken"`
	Beams  int  `expr:"beams"`
	Stored int  `expr:"stored"`
	Stamp
}

func (g *Gripper) read(m player.Reading, _ View) bool {
	d, ok := m.Payload.(*iface.GripperData)
	if !ok {
		return false
	}
	*g = Gripper{
		State: int(d.State), Open: d.State == iface.GripperStateOpen, Closed: d.State == iface.GripperStateClosed,
		Moving: d.State == iface.GripperStateMoving, Error: d.State == iface.GripperStateError,
		Broken: bits.OnesCount32(d.Beams), Beams: int(d.Beams), Stored: int(d.Stored),
	}
	return true
}

var gripperFields = with(
	truth("open", "it is open", func(g *Gripper) bool { return g.Open }),
	truth("closed", "it is closed", func(g *Gripper) bool { return g.Closed }),
	truth("moving", "it opens or closes", func(g *Gripper) bool { return g.Moving }),
	truth("error", "it has failed", func(g *Gripper) bool { return g.Error }),
	whole("state", "", "1: open, 2: closed, 3: moving, 4: error", func(g *Gripper) int { return g.State }),
	whole("broken", "", "how many light barriers something breaks", func(g *Gripper) int { return g.Broken }),
	whole("beams", "", "the light barriers as bits, 1: broken", func(g *Gripper) int { return g.Beams }),
	whole("stored", "", "how many objects it stores", func(g *Gripper) int { return g.Stored }),
)

// AppendText appends the view as the text of an object: see protocol.Seal.
func (g *Gripper) AppendText(dst []byte) []byte { return appendFields(dst, g, gripperFields) }
