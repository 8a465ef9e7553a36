package iface

import "callboard/player"

// Subtypes of the position2d interface (code 4).
const (
	DataPosition2DState       uint8 = 1
	DataPosition2DGeom        uint8 = 2
	CmdPosition2DVel          uint8 = 1
	CmdPosition2DPos          uint8 = 2
	CmdPosition2DCar          uint8 = 3
	CmdPosition2DVelHead      uint8 = 4
	ReqPosition2DGetGeom      uint8 = 1
	ReqPosition2DMotorPower   uint8 = 2
	ReqPosition2DVelocityMode uint8 = 3
	ReqPosition2DPositionMode uint8 = 4
	ReqPosition2DSetOdom      uint8 = 5
	ReqPosition2DResetOdom    uint8 = 6
	ReqPosition2DSpeedPID     uint8 = 7
	ReqPosition2DPositionPID  uint8 = 8
	ReqPosition2DSpeedProf    uint8 = 9
)

// Position2DData is where the robot believes to be (odometry) and how fast it
// goes, in its own frame.
type Position2DData struct {
	Pos   Pose2D // m, m, rad
	Vel   Pose2D // m/s, m/s, rad/s
	Stall uint8  // 1: the motors are stalled
}

// Position2DCmdVel asks for a velocity in the robot's frame.
type Position2DCmdVel struct {
	Vel   Pose2D // m/s, m/s, rad/s
	State uint8  // 1: motors on
}

// Position2DCmdPos asks the robot to go to a pose, at most at a velocity.
type Position2DCmdPos struct {
	Pos   Pose2D // m, m, rad
	Vel   Pose2D // m/s, m/s, rad/s
	State uint8  // 1: motors on
}

// Position2DCmdCar steers a car.
type Position2DCmdCar struct {
	Velocity float64 // m/s
	Angle    float64 // rad, of the steering
}

// Position2DCmdVelHead asks for a speed in a direction.
type Position2DCmdVelHead struct {
	Velocity float64 // m/s
	Angle    float64 // rad, heading
}

// Position2DGeom is the robot's body: its pose in the robot's frame and its
// size.
type Position2DGeom struct {
	Pose Pose3D // m, rad
	Size BBox3D // m
}

// Position2DPowerConfig switches the motors.
type Position2DPowerConfig struct {
	State uint8 // 1: on
}

// Position2DSetOdomReq sets the odometry.
type Position2DSetOdomReq struct {
	Pose Pose2D // m, m, rad
}

// Position2DSpeedPIDReq sets the gains of velocity control.
type Position2DSpeedPIDReq struct {
	Kp float32
	Ki float32
	Kd float32
}

var position2DMessages = []entry{
	{player.Data, DataPosition2DState, "STATE", body[Position2DData]},
	{player.Data, DataPosition2DGeom, "GEOM", body[Position2DGeom]},
	{player.Command, CmdPosition2DVel, "VEL", body[Position2DCmdVel]},
	{player.Command, CmdPosition2DPos, "POS", body[Position2DCmdPos]},
	{player.Command, CmdPosition2DCar, "CAR", body[Position2DCmdCar]},
	{player.Command, CmdPosition2DVelHead, "VEL_HEAD", body[Position2DCmdVelHead]},
	{player.Request, ReqPosition2DGetGeom, "GET_GEOM", body[Position2DGeom]},
	{player.Request, ReqPosition2DMotorPower, "MOTOR_POWER", body[Position2DPowerConfig]},
	{player.Request, ReqPosition2DVelocityMode, "VELOCITY_MODE", body[struct{ Value uint32 }]},
	{player.Request, ReqPosition2DPositionMode, "POSITION_MODE", body[struct{ State uint32 }]},
	{player.Request, ReqPosition2DSetOdom, "SET_ODOM", body[Position2DSetOdomReq]},
	{player.Request, ReqPosition2DResetOdom, "RESET_ODOM", nil},
	{player.Request, ReqPosition2DSpeedPID, "SPEED_PID", body[Position2DSpeedPIDReq]},
	{player.Request, ReqPosition2DPositionPID, "POSITION_PID", body[struct{ Kp, Ki, Kd float32 }]},
	{player.Request, ReqPosition2DSpeedProf, "SPEED_PROF", body[struct{ Speed, Acc float32 }]},
}
