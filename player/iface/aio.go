package iface

import "callboard/player"

// Subtypes of the aio interface (code 21).
const (
	DataAIOState uint8 = 1
	CmdAIOState  uint8 = 1
)

// AIOData is analog inputs.
type AIOData struct {
	Voltages []float32 // V
}

// AIOCmd sets an analog output.
type AIOCmd struct {
	ID      uint32  // of the output, from 0
	Voltage float32 // V
}

var aioMessages = []entry{
	{player.Data, DataAIOState, "STATE", body[AIOData]},
	{player.Command, CmdAIOState, "STATE", body[AIOCmd]},
}
