package iface

import "callboard/player"

// Subtypes of the limb interface (code 54).
const (
	DataLimbState      uint8 = 1
	CmdLimbHome        uint8 = 1
	CmdLimbStop        uint8 = 2
	CmdLimbSetPose     uint8 = 3
	CmdLimbSetPosition uint8 = 4
	CmdLimbVecMove     uint8 = 5
	ReqLimbPower       uint8 = 1
	ReqLimbBrakes      uint8 = 2
	ReqLimbGeom        uint8 = 3
	ReqLimbSpeed       uint8 = 4
)

// States of a limb.
const (
	LimbStateIdle   uint8 = 1
	LimbStateBraked uint8 = 2
	LimbStateMoving uint8 = 3
	LimbStateOOR    uint8 = 4 // the target is out of reach
	LimbStateColl   uint8 = 5 // stopped by a collision
)

// LimbData is where the end of a limb is and where it points.
type LimbData struct {
	Position    Point3D // m
	Approach    Point3D // vector
	Orientation Point3D // vector
	State       uint8   // LimbStateIdle and so on
}

// LimbVecMoveCmd asks the end of the limb to move along a vector.
type LimbVecMoveCmd struct {
	Direction Point3D // vector
	Length    float32 // m
}

var limbMessages = []entry{
	{player.Data, DataLimbState, "STATE", body[LimbData]},
	{player.Command, CmdLimbHome, "HOME", nil},
	{player.Command, CmdLimbStop, "STOP", nil},
	{player.Command, CmdLimbSetPose, "SETPOSE", body[struct{ Position, Approach, Orientation Point3D }]},
	{player.Command, CmdLimbSetPosition, "SETPOSITION", body[struct{ Position Point3D }]},
	{player.Command, CmdLimbVecMove, "VECMOVE", body[LimbVecMoveCmd]},
	{player.Request, ReqLimbPower, "POWER", body[struct{ Value uint8 }]},
	{player.Request, ReqLimbBrakes, "BRAKES", body[struct{ Value uint8 }]},
	{player.Request, ReqLimbGeom, "GEOM", body[struct{ BasePos Point3D }]},
	{player.Request, ReqLimbSpeed, "SPEED", body[struct{ Speed float32 }]},
}
