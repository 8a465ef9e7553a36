package iface

import "callboard/player"

// Subtypes of the sonar interface (code 5).
const (
	DataSonarRanges uint8 = 1
	DataSonarGeom   uint8 = 2
	ReqSonarGetGeom uint8 = 1
	ReqSonarPower   uint8 = 2
)

// SonarData is one range per element of the ring.
type SonarData struct {
	Ranges []float32 // m
}

// SonarGeom is the pose of each element in the robot's frame.
type SonarGeom struct {
	Poses []Pose3D // m, rad
}

var sonarMessages = []entry{
	{player.Data, DataSonarRanges, "RANGES", body[SonarData]},
	{player.Data, DataSonarGeom, "GEOM", body[SonarGeom]},
	{player.Request, ReqSonarGetGeom, "GET_GEOM", body[SonarGeom]},
	{player.Request, ReqSonarPower, "POWER", body[struct{ State uint8 }]},
}
