package iface

import "callboard/player"

// Subtypes of the ptz interface (code 8).
const (
	DataPTZState      uint8 = 1
	DataPTZGeom       uint8 = 2
	CmdPTZState       uint8 = 1
	ReqPTZGeneric     uint8 = 1
	ReqPTZControlMode uint8 = 2
	ReqPTZGeom        uint8 = 4
	ReqPTZStatus      uint8 = 5
)

// Modes of a PTZReqControlMode.
const (
	PTZVelocityControl uint32 = 0
	PTZPositionControl uint32 = 1
)

// PTZData is where the camera head looks.
type PTZData struct {
	Pan       float32 // rad
	Tilt      float32 // rad
	Zoom      float32 // rad, field of view
	PanSpeed  float32 // rad/s
	TiltSpeed float32 // rad/s
	Status    uint32  // the driver's
}

// PTZCmd asks the camera head to look somewhere.
type PTZCmd struct {
	Pan       float32 // rad
	Tilt      float32 // rad
	Zoom      float32 // rad, field of view
	PanSpeed  float32 // rad/s
	TiltSpeed float32 // rad/s
}

// PTZReqStatus asks for the status of the camera head.
type PTZReqStatus struct {
	Status uint32 // the driver's
}

// PTZGeom is where the camera head sits on the robot, and its size.
type PTZGeom struct {
	Pos  Pose3D // m, rad
	Size BBox3D // m
}

var ptzMessages = []entry{
	{player.Data, DataPTZState, "STATE", body[PTZData]},
	{player.Data, DataPTZGeom, "GEOM", body[PTZGeom]},
	{player.Command, CmdPTZState, "STATE", body[PTZCmd]},
	{player.Request, ReqPTZGeneric, "GENERIC", body[struct{ Config []uint32 }]},
	{player.Request, ReqPTZControlMode, "CONTROL_MODE", body[struct{ Mode uint32 }]},
	{player.Request, ReqPTZGeom, "GEOM", body[PTZGeom]},
	{player.Request, ReqPTZStatus, "STATUS", body[PTZReqStatus]},
}
