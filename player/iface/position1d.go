package iface

import "callboard/player"

// Subtypes of the position1d interface (code 52).
const (
	DataPosition1DState       uint8 = 1
	DataPosition1DGeom        uint8 = 2
	CmdPosition1DVel          uint8 = 1
	CmdPosition1DPos          uint8 = 2
	ReqPosition1DGetGeom      uint8 = 1
	ReqPosition1DMotorPower   uint8 = 2
	ReqPosition1DVelocityMode uint8 = 3
	ReqPosition1DPositionMode uint8 = 4
	ReqPosition1DSetOdom      uint8 = 5
	ReqPosition1DResetOdom    uint8 = 6
	ReqPosition1DSpeedPID     uint8 = 7
	ReqPosition1DPositionPID  uint8 = 8
	ReqPosition1DSpeedProf    uint8 = 9
)

// Numbers of the bits in a Position1DData's Status.
const (
	Position1DStatusLimitMin     uint8 = 0
	Position1DStatusLimitCen     uint8 = 1
	Position1DStatusLimitMax     uint8 = 2
	Position1DStatusOC           uint8 = 3
	Position1DStatusTrajComplete uint8 = 4
	Position1DStatusEnabled      uint8 = 5
)

// Position1DData is the place and velocity of a linear or rotary joint.
type Position1DData struct {
	Pos    float32 // m or rad
	Vel    float32 // m/s or rad/s
	Stall  uint8   // 1: the motor is stalled
	Status uint8   // bits, numbered by Position1DStatusLimitMin and so on
}

// Position1DCmdVel asks for a velocity.
type Position1DCmdVel struct {
	Vel   float32 // m/s or rad/s
	State uint8   // 1: motor on
}

// Position1DCmdPos asks to go to a place, at most at a velocity.
type Position1DCmdPos struct {
	Pos   float32 // m or rad
	Vel   float32 // m/s or rad/s
	State uint8   // 1: motor on
}

// Position1DGeom is where the joint sits on the robot, and its size.
type Position1DGeom struct {
	Pose Pose3D // m, rad
	Size BBox3D // m
}

// Position1DPowerConfig switches the motor.
type Position1DPowerConfig struct {
	State uint8 // 1: on
}

// Position1DVelocityModeConfig chooses how the driver controls velocity; what
// Value means is the driver's.
type Position1DVelocityModeConfig struct {
	Value uint32
}

// Position1DResetOdomConfig sets the odometry to 0; Value has no meaning.
type Position1DResetOdomConfig struct {
	Value uint32
}

// Position1DPositionModeReq chooses velocity (0) or position control (1).
type Position1DPositionModeReq struct {
	State uint32
}

// Position1DSetOdomReq sets the odometry.
type Position1DSetOdomReq struct {
	Pos float32 // m or rad
}

// Position1DSpeedPIDReq sets the gains of velocity control.
type Position1DSpeedPIDReq struct {
	Kp float32
	Ki float32
	Kd float32
}

// Position1DPositionPIDReq sets the gains of position control.
type Position1DPositionPIDReq struct {
	Kp float32
	Ki float32
	Kd float32
}

// Position1DSpeedProfReq sets the profile of position control.
type Position1DSpeedProfReq struct {
	Speed float32 // m/s or rad/s, at most
	Acc   float32 // m/s² or rad/s², at most
}

var position1DMessages = []entry{
	{player.Data, DataPosition1DState, "STATE", body[Position1DData]},
	{player.Data, DataPosition1DGeom, "GEOM", body[Position1DGeom]},
	{player.Command, CmdPosition1DVel, "VEL", body[Position1DCmdVel]},
	{player.Command, CmdPosition1DPos, "POS", body[Position1DCmdPos]},
	{player.Request, ReqPosition1DGetGeom, "GET_GEOM", body[Position1DGeom]},
	{player.Request, ReqPosition1DMotorPower, "MOTOR_POWER", body[Position1DPowerConfig]},
	{player.Request, ReqPosition1DVelocityMode, "VELOCITY_MODE", body[Position1DVelocityModeConfig]},
	{player.Request, ReqPosition1DPositionMode, "POSITION_MODE", body[Position1DPositionModeReq]},
	{player.Request, ReqPosition1DSetOdom, "SET_ODOM", body[Position1DSetOdomReq]},
	{player.Request, ReqPosition1DResetOdom, "RESET_ODOM", body[Position1DResetOdomConfig]},
	{player.Request, ReqPosition1DSpeedPID, "SPEED_PID", body[Position1DSpeedPIDReq]},
	{player.Request, ReqPosition1DPositionPID, "POSITION_PID", body[Position1DPositionPIDReq]},
	{player.Request, ReqPosition1DSpeedProf, "SPEED_PROF", body[Position1DSpeedProfReq]},
}
