package iface

import "callboard/player"

// Subtypes of the wsn interface (code 57).
const (
	DataWSNState   uint8 = 1
	CmdWSNDevstate uint8 = 1
	ReqWSNPower    uint8 = 1
	ReqWSNDatatype uint8 = 2
	ReqWSNDatafreq uint8 = 3
)

// WSNNodeData is the sensors of a node, in the node's own units or calibrated
// (WSN DATATYPE).
type WSNNodeData struct {
	Light       float32
	Mic         float32
	AccelX      float32
	AccelY      float32
	AccelZ      float32
	MagnX       float32
	MagnY       float32
	MagnZ       float32
	Temperature float32
	Battery     float32 // V, or raw
}

// WSNData is a packet of a node of a sensor network.
type WSNData struct {
	NodeType     uint32
	NodeID       uint32
	NodeParentID uint32
	DataPacket   WSNNodeData
}

// WSNCmd switches a device on a node.
type WSNCmd struct {
	NodeID  int32 // -1: all
	GroupID int32 // -1: all
	Device  uint32
	Enable  uint8 // bits: on or off, by device
}

// WSNPowerConfig lets a node sleep (0) or wakes it (1).
type WSNPowerConfig struct {
	NodeID  int32 // -1: all
	GroupID int32 // -1: all
	Value   uint8 // 0: sleep, 1: wake
}

// WSNDatafreqConfig sets how often a node sends.
type WSNDatafreqConfig struct {
	NodeID    int32   // -1: all
	GroupID   int32   // -1: all
	Frequency float64 // Hz
}

var wsnMessages = []entry{
	{player.Data, DataWSNState, "STATE", body[WSNData]},
	{player.Command, CmdWSNDevstate, "DEVSTATE", body[WSNCmd]},
	{player.Request, ReqWSNPower, "POWER", body[WSNPowerConfig]},
	{player.Request, ReqWSNDatatype, "DATATYPE", body[struct{ Value uint8 }]},
	{player.Request, ReqWSNDatafreq, "DATAFREQ", body[WSNDatafreqConfig]},
}
