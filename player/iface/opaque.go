package iface

import "callboard/player"

// Subtypes of the opaque interface (code 51). All have the same struct.
const (
	DataOpaqueState uint8 = 1
	CmdOpaqueData   uint8 = 1
	ReqOpaqueData   uint8 = 1
)

// OpaqueData is bytes whose meaning is the driver's.
type OpaqueData struct {
	Data []uint8
}

var opaqueMessages = []entry{
	{player.Data, DataOpaqueState, "STATE", body[OpaqueData]},
	{player.Command, CmdOpaqueData, "DATA", body[OpaqueData]},
	{player.Request, ReqOpaqueData, "DATA", body[OpaqueData]},
}
