package iface

import "callboard/player"

// Subtypes of the universal requests, which every interface has. Drivers that
// do not know a property, or do not implement a request, answer with a NACK.
const (
	ReqCapabilities uint8 = 255 // crashes the real 3.1.1-dev server if the driver implements it
	ReqGetIntprop   uint8 = 254
	ReqSetIntprop   uint8 = 253
	ReqGetDblprop   uint8 = 252
	ReqSetDblprop   uint8 = 251
	ReqGetStrprop   uint8 = 250
	ReqSetStrprop   uint8 = 249
	ReqGetBoolprop  uint8 = 248
	ReqSetBoolprop  uint8 = 247
)

// CapabilitiesReq asks whether a device takes a message: an empty ACK is yes,
// a NACK no.
type CapabilitiesReq struct {
	Type    uint32
	Subtype uint32
}

// IntpropReq gets or sets a driver's property that is an integer.
type IntpropReq struct {
	Key   string
	Value int32
}

// DblpropReq gets or sets a driver's property that is a number.
type DblpropReq struct {
	Key   string
	Value float64
}

// StrpropReq gets or sets a driver's property that is a text.
type StrpropReq struct {
	Key   string
	Value string
}

// BoolpropReq gets or sets a driver's property that is true (not 0) or false.
type BoolpropReq struct {
	Key   string
	Value int8
}

var universalMessages = []entry{
	{player.Request, ReqCapabilities, "CAPABILITIES", body[CapabilitiesReq]},
	{player.Request, ReqGetIntprop, "GET_INTPROP", body[IntpropReq]},
	{player.Request, ReqSetIntprop, "SET_INTPROP", body[IntpropReq]},
	{player.Request, ReqGetDblprop, "GET_DBLPROP", body[DblpropReq]},
	{player.Request, ReqSetDblprop, "SET_DBLPROP", body[DblpropReq]},
	{player.Request, ReqGetStrprop, "GET_STRPROP", body[StrpropReq]},
	{player.Request, ReqSetStrprop, "SET_STRPROP", body[StrpropReq]},
	{player.Request, ReqGetBoolprop, "GET_BOOLPROP", body[BoolpropReq]},
	{player.Request, ReqSetBoolprop, "SET_BOOLPROP", body[BoolpropReq]},
}
