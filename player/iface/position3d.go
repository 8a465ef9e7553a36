package iface

import "callboard/player"

// Subtypes of the position3d interface (code 30).
const (
	DataPosition3DState       uint8 = 1
	DataPosition3DGeometry    uint8 = 2
	CmdPosition3DSetVel       uint8 = 1
	CmdPosition3DSetPos       uint8 = 2
	ReqPosition3DGetGeom      uint8 = 1
	ReqPosition3DMotorPower   uint8 = 2
	ReqPosition3DVelocityMode uint8 = 3
	ReqPosition3DPositionMode uint8 = 4
	ReqPosition3DResetOdom    uint8 = 5
	ReqPosition3DSetOdom      uint8 = 6
	ReqPosition3DSpeedPID     uint8 = 7
	ReqPosition3DPositionPID  uint8 = 8
	ReqPosition3DSpeedProf    uint8 = 9
)

// Position3DData is where the robot believes to be (odometry) and how fast it
// goes, in its own frame.
type Position3DData struct {
	Pos   Pose3D // m, rad
	Vel   Pose3D // m/s, rad/s
	Stall uint8  // 1: the motors are stalled
}

// Position3DCmdPos asks the robot to go to a pose, at most at a velocity.
type Position3DCmdPos struct {
	Pos   Pose3D // m, rad
	Vel   Pose3D // m/s, rad/s
	State uint8  // 1: motors on
}

// Position3DCmdVel asks for a velocity in the robot's frame.
type Position3DCmdVel struct {
	Vel   Pose3D // m/s, rad/s
	State uint8  // 1: motors on
}

// Position3DGeom is the robot's body: its pose in the robot's frame and its
// size.
type Position3DGeom struct {
	Pose Pose3D // m, rad
	Size BBox3D // m
}

// Position3DPowerConfig switches the motors.
type Position3DPowerConfig struct {
	State uint8 // 1: on
}

// Position3DPositionModeReq chooses velocity (0) or position control (1).
type Position3DPositionModeReq struct {
	Value uint32
}

// Position3DVelocityModeConfig chooses how the driver controls velocity; what
// Value means is the driver's.
type Position3DVelocityModeConfig struct {
	Value uint32
}

// Position3DSetOdomReq sets the odometry.
type Position3DSetOdomReq struct {
	Pos Pose3D // m, rad
}

// Position3DSpeedPIDReq sets the gains of velocity control.
type Position3DSpeedPIDReq struct {
	Kp float32
	Ki float32
	Kd float32
}

// Position3DPositionPIDReq sets the gains of position control.
type Position3DPositionPIDReq struct {
	Kp float32
	Ki float32
	Kd float32
}

// Position3DSpeedProfReq sets the profile of position control.
type Position3DSpeedProfReq struct {
	Speed float32 // rad/s, at most
	Acc   float32 // rad/s², at most
}

var position3DMessages = []entry{
	{player.Data, DataPosition3DState, "STATE", body[Position3DData]},
	{player.Data, DataPosition3DGeometry, "GEOMETRY", body[Position3DGeom]},
	{player.Command, CmdPosition3DSetVel, "SET_VEL", body[Position3DCmdVel]},
	{player.Command, CmdPosition3DSetPos, "SET_POS", body[Position3DCmdPos]},
	{player.Request, ReqPosition3DGetGeom, "GET_GEOM", body[Position3DGeom]},
	{player.Request, ReqPosition3DMotorPower, "MOTOR_POWER", body[Position3DPowerConfig]},
	{player.Request, ReqPosition3DVelocityMode, "VELOCITY_MODE", body[Position3DVelocityModeConfig]},
	{player.Request, ReqPosition3DPositionMode, "POSITION_MODE", body[Position3DPositionModeReq]},
	{player.Request, ReqPosition3DResetOdom, "RESET_ODOM", nil},
	{player.Request, ReqPosition3DSetOdom, "SET_ODOM", body[Position3DSetOdomReq]},
	{player.Request, ReqPosition3DSpeedPID, "SPEED_PID", body[Position3DSpeedPIDReq]},
	{player.Request, ReqPosition3DPositionPID, "POSITION_PID", body[Position3DPositionPIDReq]},
	{player.Request, ReqPosition3DSpeedProf, "SPEED_PROF", body[Position3DSpeedProfReq]},
}
