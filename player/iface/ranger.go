package iface

import "callboard/player"

// Subtypes of the ranger interface (code 62).
const (
	DataRangerRange        uint8 = 1
	DataRangerRangestamped uint8 = 2
	DataRangerIntns        uint8 = 3
	DataRangerIntnsstamped uint8 = 4
	DataRangerGeom         uint8 = 5
	ReqRangerGetGeom       uint8 = 1
	ReqRangerPower         uint8 = 2
	ReqRangerIntns         uint8 = 3
	ReqRangerSetConfig     uint8 = 4
	ReqRangerGetConfig     uint8 = 5
)

// RangerConfig is how the ranger measures (SET_CONFIG, GET_CONFIG).
type RangerConfig struct {
	MinAngle   float64 // rad
	MaxAngle   float64 // rad
	AngularRes float64 // rad, from ray to ray; Stage's is wrong
	MinRange   float64 // m
	MaxRange   float64 // m
	RangeRes   float64 // m
	Frequency  float64 // Hz
}

// RangerGeom is where the ranger sits on the robot, its size, and the same of
// each element. One element is a scanner, several are as many single beams.
type RangerGeom struct {
	Pose         Pose3D   // m, rad
	Size         BBox3D   // m
	ElementPoses []Pose3D // m, rad
	ElementSizes []BBox3D // m
}

// RangerDataRange is a scan. Bearings are not in it: they follow from the
// configuration and geometry.
type RangerDataRange struct {
	Ranges []float64 // m
}

// RangerDataRangestamped is a scan with the geometry and configuration that it
// was taken with, as far as the Have fields are not 0.
type RangerDataRangestamped struct {
	Data       RangerDataRange
	HaveGeom   uint8
	Geom       RangerGeom
	HaveConfig uint8
	Config     RangerConfig
}

// RangerDataIntns is the intensities of a scan.
type RangerDataIntns struct {
	Intensities []float64
}

// RangerDataIntnsstamped is intensities with geometry and configuration, as
// far as the Have fields are not 0.
type RangerDataIntnsstamped struct {
	Data       RangerDataIntns
	HaveGeom   uint8
	Geom       RangerGeom
	HaveConfig uint8
	Config     RangerConfig
}

// RangerPowerConfig switches the ranger.
type RangerPowerConfig struct {
	State uint8 // 1: on
}

// RangerIntnsConfig switches intensities.
type RangerIntnsConfig struct {
	State uint8 // 1: on
}

var rangerMessages = []entry{
	{player.Data, DataRangerRange, "RANGE", body[RangerDataRange]},
	{player.Data, DataRangerRangestamped, "RANGESTAMPED", body[RangerDataRangestamped]},
	{player.Data, DataRangerIntns, "INTNS", body[RangerDataIntns]},
	{player.Data, DataRangerIntnsstamped, "INTNSSTAMPED", body[RangerDataIntnsstamped]},
	{player.Data, DataRangerGeom, "GEOM", body[RangerGeom]},
	{player.Request, ReqRangerGetGeom, "GET_GEOM", body[RangerGeom]},
	{player.Request, ReqRangerPower, "POWER", body[RangerPowerConfig]},
	{player.Request, ReqRangerIntns, "INTNS", body[RangerIntnsConfig]},
	{player.Request, ReqRangerSetConfig, "SET_CONFIG", body[RangerConfig]},
	{player.Request, ReqRangerGetConfig, "GET_CONFIG", body[RangerConfig]},
}
