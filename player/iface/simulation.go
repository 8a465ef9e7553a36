package iface

import "callboard/player"

// Subtypes of the simulation interface (code 31).
const (
	CmdSimulationPause       uint8 = 1
	CmdSimulationReset       uint8 = 2
	CmdSimulationSave        uint8 = 3
	ReqSimulationGetPose2D   uint8 = 1
	ReqSimulationSetPose2D   uint8 = 2
	ReqSimulationGetPose3D   uint8 = 3
	ReqSimulationSetPose3D   uint8 = 4
	ReqSimulationGetProperty uint8 = 5
	ReqSimulationSetProperty uint8 = 6
)

// SimulationPose2DReq gets or sets the true pose of the model called Name.
type SimulationPose2DReq struct {
	Name string
	Pose Pose2D // m, m, rad
}

// SimulationPose3DReq gets or sets the true pose of the model called Name.
type SimulationPose3DReq struct {
	Name    string
	Pose    Pose3D  // m, rad
	Simtime float64 // simulated time; Stage gives µs
}

// SimulationPropertyReq gets or sets a property of the model called Name.
// Value is memory of the machine that the simulator runs on: Stage's "color"
// is four float32, little-endian on x86, and a request to get it must already
// have its 16 bytes.
type SimulationPropertyReq struct {
	Name  string
	Prop  string
	Index uint32
	Value []uint8
}

var simulationMessages = []entry{
	{player.Command, CmdSimulationPause, "PAUSE", nil},
	{player.Command, CmdSimulationReset, "RESET", nil},
	{player.Command, CmdSimulationSave, "SAVE", nil},
	{player.Request, ReqSimulationGetPose2D, "GET_POSE2D", body[SimulationPose2DReq]},
	{player.Request, ReqSimulationSetPose2D, "SET_POSE2D", body[SimulationPose2DReq]},
	{player.Request, ReqSimulationGetPose3D, "GET_POSE3D", body[SimulationPose3DReq]},
	{player.Request, ReqSimulationSetPose3D, "SET_POSE3D", body[SimulationPose3DReq]},
	{player.Request, ReqSimulationGetProperty, "GET_PROPERTY", body[SimulationPropertyReq]},
	{player.Request, ReqSimulationSetProperty, "SET_PROPERTY", body[SimulationPropertyReq]},
}
