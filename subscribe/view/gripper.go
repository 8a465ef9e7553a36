package view

import (
	"math/bits"

	"callboard/player"
	"callboard/player/iface"
)

// Gripper is what a gripper does and feels.
type Gripper struct {
	Open   bool `expr:"open" doc:"it is open"`
	Closed bool `expr:"closed" doc:"it is closed"`
	Moving bool `expr:"moving" doc:"it opens or closes"`
	Error  bool `expr:"error" doc:"it has failed"`
	State  int  `expr:"state" doc:"1: open, 2: closed, 3: moving, 4: error"`
	Broken int  `expr:"broken" doc:"how many light barriers something breaks"`
	Beams  int  `expr:"beams" doc:"the light barriers as bits, 1: broken"`
	Stored int  `expr:"stored" doc:"how many objects it stores"`
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
