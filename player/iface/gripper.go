package iface

import "callboard/player"

// Subtypes of the gripper interface (code 3). Its commands have no body.
const (
	DataGripperState   uint8 = 1
	CmdGripperOpen     uint8 = 1
	CmdGripperClose    uint8 = 2
	CmdGripperStop     uint8 = 3
	CmdGripperStore    uint8 = 4
	CmdGripperRetrieve uint8 = 5
	ReqGripperGetGeom  uint8 = 1
)

// States of a gripper.
const (
	GripperStateOpen   uint8 = 1
	GripperStateClosed uint8 = 2
	GripperStateMoving uint8 = 3
	GripperStateError  uint8 = 4
)

// GripperData is what the gripper does and what it feels.
type GripperData struct {
	State  uint8  // GripperStateOpen and so on
	Beams  uint32 // bits: light barriers that are broken
	Stored uint8  // objects that are stored
}

// GripperGeom is where the gripper sits on the robot, and its size.
type GripperGeom struct {
	Pose      Pose3D // m, rad
	OuterSize BBox3D // m
	InnerSize BBox3D // m, between the paddles
	NumBeams  uint8  // light barriers
	Capacity  uint8  // objects that it can store
}

var gripperMessages = []entry{
	{player.Data, DataGripperState, "STATE", body[GripperData]},
	{player.Command, CmdGripperOpen, "OPEN", nil},
	{player.Command, CmdGripperClose, "CLOSE", nil},
	{player.Command, CmdGripperStop, "STOP", nil},
	{player.Command, CmdGripperStore, "STORE", nil},
	{player.Command, CmdGripperRetrieve, "RETRIEVE", nil},
	{player.Request, ReqGripperGetGeom, "GET_GEOM", body[GripperGeom]},
}
