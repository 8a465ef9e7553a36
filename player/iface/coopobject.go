package iface

import "callboard/player"

// Subtypes of the coopobject interface (code 66).
const (
	DataCoopobjectHealth      uint8 = 1
	DataCoopobjectRSSI        uint8 = 2
	DataCoopobjectSensor      uint8 = 3
	DataCoopobjectAlarm       uint8 = 4
	DataCoopobjectUserDefined uint8 = 5
	DataCoopobjectRequest     uint8 = 6
	DataCoopobjectCommand     uint8 = 7
	DataCoopobjectPosition    uint8 = 8
	CmdCoopobjectStandard     uint8 = 1
	CmdCoopobjectData         uint8 = 2
	CmdCoopobjectPosition     uint8 = 3
	ReqCoopobjectStandard     uint8 = 1
)

// Origins of a CoopobjectHeader.
const (
	CoopobjectOriginStaticBase uint8 = 0
	CoopobjectOriginMobileBase uint8 = 1
	CoopobjectOriginMote       uint8 = 2
	CoopobjectOriginRobot      uint8 = 3
)

// Kinds of messages among cooperating objects.
const (
	CoopobjectMsgNone     int32 = -1
	CoopobjectMsgHealth   int32 = 0
	CoopobjectMsgPosition int32 = 1
	CoopobjectMsgRSSI     int32 = 2
	CoopobjectMsgSensor   int32 = 3
	CoopobjectMsgAlarm    int32 = 4
	CoopobjectMsgRequest  int32 = 5
	CoopobjectMsgCommand  int32 = 6
)

// Types of a CoopobjectSensor.
const (
	CoopobjectTemperature   uint8 = 0
	CoopobjectHumidity      uint8 = 1
	CoopobjectPressure      uint8 = 2
	CoopobjectLight1        uint8 = 3
	CoopobjectLight2        uint8 = 4
	CoopobjectAccelX        uint8 = 5
	CoopobjectAccelY        uint8 = 6
	CoopobjectAccelZ        uint8 = 7
	CoopobjectMagnetometerX uint8 = 8
	CoopobjectMagnetometerY uint8 = 9
	CoopobjectMagnetometerZ uint8 = 10
	CoopobjectCompass       uint8 = 11
	CoopobjectCO            uint8 = 12
	CoopobjectCO2           uint8 = 13
	CoopobjectH2            uint8 = 14
	CoopobjectSmoke         uint8 = 15
	CoopobjectOptSwitch     uint8 = 16
)

// CoopobjectHeader says which object a message is of.
type CoopobjectHeader struct {
	Origin   uint8 // CoopobjectOriginMote and so on
	ID       uint16
	ParentID uint16
}

// CoopobjectRSSI is how strongly an object heard another.
type CoopobjectRSSI struct {
	Header       CoopobjectHeader
	SenderID     uint16
	RSSI         uint16
	Stamp        uint16
	NodeTimeHigh uint32
	NodeTimeLow  uint32
	X            float32 // m
	Y            float32 // m
	Z            float32 // m
}

// CoopobjectPosition is where an object is.
type CoopobjectPosition struct {
	Header CoopobjectHeader
	X      float32 // m
	Y      float32 // m
	Z      float32 // m
	Status uint8
}

// CoopobjectSensor is a value of a sensor of an object.
type CoopobjectSensor struct {
	Type  uint8 // CoopobjectTemperature and so on
	Value int16 // raw
}

// CoopobjectDataSensor is the sensors of an object (SENSOR), or those that gave
// an alarm (ALARM).
type CoopobjectDataSensor struct {
	Header CoopobjectHeader
	Data   []CoopobjectSensor
}

// CoopobjectDataUserDefined is bytes whose meaning is the user's.
type CoopobjectDataUserDefined struct {
	Header CoopobjectHeader
	Type   uint8
	Data   []uint8
}

// CoopobjectReq is a request to an object.
type CoopobjectReq struct {
	Header     CoopobjectHeader
	Request    uint8 // the user's
	Parameters []uint8
}

// CoopobjectCmd is a command to an object.
type CoopobjectCmd struct {
	Header     CoopobjectHeader
	Command    uint8
	Parameters []uint8
}

var coopobjectMessages = []entry{
	{player.Data, DataCoopobjectHealth, "HEALTH", body[CoopobjectHeader]},
	{player.Data, DataCoopobjectRSSI, "RSSI", body[CoopobjectRSSI]},
	{player.Data, DataCoopobjectSensor, "SENSOR", body[CoopobjectDataSensor]},
	{player.Data, DataCoopobjectAlarm, "ALARM", body[CoopobjectDataSensor]},
	{player.Data, DataCoopobjectUserDefined, "USERDEFINED", body[CoopobjectDataUserDefined]},
	{player.Data, DataCoopobjectRequest, "REQUEST", body[CoopobjectReq]},
	{player.Data, DataCoopobjectCommand, "COMMAND", body[CoopobjectCmd]},
	{player.Data, DataCoopobjectPosition, "POSITION", body[CoopobjectPosition]},
	{player.Command, CmdCoopobjectStandard, "STANDARD", body[CoopobjectCmd]},
	{player.Command, CmdCoopobjectData, "DATA", body[CoopobjectDataUserDefined]},
	{player.Command, CmdCoopobjectPosition, "POSITION", body[CoopobjectPosition]},
	{player.Request, ReqCoopobjectStandard, "STANDARD", body[CoopobjectReq]},
}
