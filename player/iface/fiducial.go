package iface

import "callboard/player"

// Subtypes of the fiducial interface (code 10).
const (
	DataFiducialScan   uint8 = 1
	ReqFiducialGetGeom uint8 = 1
	ReqFiducialGetFov  uint8 = 2
	ReqFiducialSetFov  uint8 = 3
	ReqFiducialGetID   uint8 = 7
	ReqFiducialSetID   uint8 = 8
)

// FiducialItem is a mark that was seen, with the uncertainty of its pose.
type FiducialItem struct {
	ID    int32  // -1: not identified
	Pose  Pose3D // m, rad, in the frame of the finder
	UPose Pose3D // m, rad, uncertainty
}

// FiducialData is the marks that are seen.
type FiducialData struct {
	Fiducials []FiducialItem
}

// FiducialGeom is where the finder sits on the robot, its size, and the size of
// the marks.
type FiducialGeom struct {
	Pose         Pose3D // m, rad
	Size         BBox3D // m
	FiducialSize BBox2D // m
}

// FiducialFov is what the finder can see (GET_FOV, SET_FOV).
type FiducialFov struct {
	MinRange  float32 // m
	MaxRange  float32 // m
	ViewAngle float32 // rad
}

// FiducialID is the mark that the robot itself shows (GET_ID, SET_ID).
type FiducialID struct {
	ID uint32
}

var fiducialMessages = []entry{
	{player.Data, DataFiducialScan, "SCAN", body[FiducialData]},
	{player.Request, ReqFiducialGetGeom, "GET_GEOM", body[FiducialGeom]},
	{player.Request, ReqFiducialGetFov, "GET_FOV", body[FiducialFov]},
	{player.Request, ReqFiducialSetFov, "SET_FOV", body[FiducialFov]},
	{player.Request, ReqFiducialGetID, "GET_ID", body[FiducialID]},
	{player.Request, ReqFiducialSetID, "SET_ID", body[FiducialID]},
}
