package iface

import "callboard/player"

// Subtypes of the ir interface (code 22).
const (
	DataIRRanges uint8 = 1
	ReqIRPose    uint8 = 1
	ReqIRPower   uint8 = 2
)

// IRData is what the infrared sensors measure, as voltages and as ranges.
type IRData struct {
	Voltages []float32 // V
	Ranges   []float32 // m
}

// IRPoses is where the infrared sensors sit on the robot.
type IRPoses struct {
	Poses []Pose3D
}

var irMessages = []entry{
	{player.Data, DataIRRanges, "RANGES", body[IRData]},
	{player.Request, ReqIRPose, "POSE", body[IRPoses]},
	{player.Request, ReqIRPower, "POWER", body[struct{ State uint8 }]},
}
