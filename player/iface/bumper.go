package iface

import "callboard/player"

// Subtypes of the bumper interface (code 14).
const (
	DataBumperState  uint8 = 1
	DataBumperGeom   uint8 = 2
	ReqBumperGetGeom uint8 = 1
)

// BumperData is one number per bumper: 0 is free; what another means is the
// driver's, mostly 1: touched, or the number of a corner.
type BumperData struct {
	Bumpers []uint8
}

// BumperDefine is where a bumper sits, as its centre, and its shape.
type BumperDefine struct {
	Pose   Pose3D  // m, rad
	Length float32 // m
	Radius float32 // m, 0: straight
}

// BumperGeom is where the bumpers sit on the robot.
type BumperGeom struct {
	BumperDef []BumperDefine
}

var bumperMessages = []entry{
	{player.Data, DataBumperState, "STATE", body[BumperData]},
	{player.Data, DataBumperGeom, "GEOM", body[BumperGeom]},
	{player.Request, ReqBumperGetGeom, "GET_GEOM", body[BumperGeom]},
}
