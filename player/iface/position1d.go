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

var position1DMessages = []entry{
	{player.Data, DataPosition1DState, "STATE", body[Position1DData]},
	{player.Data, DataPosition1DGeom, "GEOM", body[Position1DGeom]},
	{player.Command, CmdPosition1DVel, "VEL", body[Position1DCmdVel]},
	{player.Command, CmdPosition1DPos, "POS", body[Position1DCmdPos]},
	{player.Request, ReqPosition1DGetGeom, "GET_GEOM", body[Position1DGeom]},
	{player.Request, ReqPosition1DMotorPower, "MOTOR_POWER", body[struct{ State uint8 }]},
	{player.Request, ReqPosition1DVelocityMode, "VELOCITY_MODE", body[struct{ Value uint32 }]},
	{player.Request, ReqPosition1DPositionMode, "POSITION_MODE", body[struct{ State uint32 }]},
	{player.Request, ReqPosition1DSetOdom, "SET_ODOM", body[struct{ Pos float32 }]},
	{player.Request, ReqPosition1DResetOdom, "RESET_ODOM", body[struct{ Value uint32 }]},
	{player.Request, ReqPosition1DSpeedPID, "SPEED_PID", body[struct{ Kp, Ki, Kd float32 }]},
	{player.Request, ReqPosition1DPositionPID, "POSITION_PID", body[struct{ Kp, Ki, Kd float32 }]},
	{player.Request, ReqPosition1DSpeedProf, "SPEED_PROF", body[struct{ Speed, Acc float32 }]},
}
