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

var position3DMessages = []entry{
	{player.Data, DataPosition3DState, "STATE", body[Position3DData]},
	{player.Data, DataPosition3DGeometry, "GEOMETRY", body[Position3DGeom]},
	{player.Command, CmdPosition3DSetVel, "SET_VEL", body[Position3DCmdVel]},
	{player.Command, CmdPosition3DSetPos, "SET_POS", body[Position3DCmdPos]},
	{player.Request, ReqPosition3DGetGeom, "GET_GEOM", body[Position3DGeom]},
	{player.Request, ReqPosition3DMotorPower, "MOTOR_POWER", body[struct{ State uint8 }]},
	{player.Request, ReqPosition3DVelocityMode, "VELOCITY_MODE", body[struct{ Value uint32 }]},
	{player.Request, ReqPosition3DPositionMode, "POSITION_MODE", body[struct{ Value uint32 }]},
	{player.Request, ReqPosition3DResetOdom, "RESET_ODOM", nil},
	{player.Request, ReqPosition3DSetOdom, "SET_ODOM", body[struct{ Pos Pose3D }]},
	{player.Request, ReqPosition3DSpeedPID, "SPEED_PID", body[struct{ Kp, Ki, Kd float32 }]},
	{player.Request, ReqPosition3DPositionPID, "POSITION_PID", body[struct{ Kp, Ki, Kd float32 }]},
	{player.Request, ReqPosition3DSpeedProf, "SPEED_PROF", body[struct{ Speed, Acc float32 }]},
}
