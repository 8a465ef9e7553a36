package iface

import "callboard/player"

// Subtypes of the dio interface (code 20).
const (
	DataDIOValues uint8 = 1
	CmdDIOValues  uint8 = 1
)

// DIOData is digital inputs, the lowest bit the first.
type DIOData struct {
	Count uint32 // bits that are used
	Bits  uint32
}

// DIOCmd sets digital outputs, the lowest bit the first.
type DIOCmd struct {
	Count  uint32 // bits that are used
	Digout uint32
}

var dioMessages = []entry{
	{player.Data, DataDIOValues, "VALUES", body[DIOData]},
	{player.Command, CmdDIOValues, "VALUES", body[DIOCmd]},
}
