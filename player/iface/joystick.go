package iface

import "callboard/player"

// Subtype of the joystick interface (code 49).
const DataJoystickState uint8 = 1

// JoystickData is a joystick. Axes beyond AxesCount are junk from some drivers.
type JoystickData struct {
	Pos       [8]int32 // by axis
	Scale     [8]int32 // by axis, the greatest Pos
	Buttons   uint32   // bits
	AxesCount uint32
}

var joystickMessages = []entry{
	{player.Data, DataJoystickState, "STATE", body[JoystickData]},
}
