package iface

import "callboard/player"

// Subtypes of the actarray interface (code 53).
const (
	DataActarrayState       uint8 = 1
	CmdActarrayPos          uint8 = 1
	CmdActarrayMultiPos     uint8 = 2
	CmdActarraySpeed        uint8 = 3
	CmdActarrayMultiSpeed   uint8 = 4
	CmdActarrayHome         uint8 = 5
	CmdActarrayCurrent      uint8 = 6
	CmdActarrayMultiCurrent uint8 = 7
	ReqActarrayPower        uint8 = 1
	ReqActarrayBrakes       uint8 = 2
	ReqActarrayGetGeom      uint8 = 3
	ReqActarraySpeed        uint8 = 4
	ReqActarrayAccel        uint8 = 5
)

// States of an actuator.
const (
	ActarrayActstateIdle    uint8 = 1
	ActarrayActstateMoving  uint8 = 2
	ActarrayActstateBraked  uint8 = 4
	ActarrayActstateStalled uint8 = 8
)

// Types of an actuator.
const (
	ActarrayTypeLinear uint8 = 1
	ActarrayTypeRotary uint8 = 2
)

// ActarrayActuator is what an actuator does. Linear ones are in m, rotary ones
// in rad.
type ActarrayActuator struct {
	Position     float32 // m or rad
	Speed        float32 // m/s or rad/s
	Acceleration float32 // m/s² or rad/s²
	Current      float32 // A
	State        uint8   // ActarrayActstateIdle and so on
}

// ActarrayData is the actuators of an array, from its base on.
type ActarrayData struct {
	Actuators  []ActarrayActuator
	MotorState uint8 // 1: on
}

// ActarrayActuatorGeom is the shape of an actuator, and what it can do.
type ActarrayActuatorGeom struct {
	Type        uint8         // ActarrayTypeLinear or ActarrayTypeRotary
	Length      float32       // m
	Orientation Orientation3D // rad
	Axis        Point3D       // of turning or sliding
	Min         float32       // m or rad
	Centre      float32       // m or rad
	Max         float32       // m or rad
	Home        float32       // m or rad
	ConfigSpeed float32       // m/s or rad/s
	HasBrakes   uint8         // 1: yes
}

// ActarrayGeom is the shape of an array, from its base on.
type ActarrayGeom struct {
	Actuators       []ActarrayActuatorGeom
	BasePos         Point3D       // m
	BaseOrientation Orientation3D // rad
}

// ActarrayPositionCmd asks a joint to go to a position.
type ActarrayPositionCmd struct {
	Joint    int32   // from 0
	Position float32 // m or rad
}

// ActarrayMultiPositionCmd asks the joints, from the first on, to go to
// positions.
type ActarrayMultiPositionCmd struct {
	Positions []float32 // m or rad
}

// ActarraySpeedCmd asks for the speed of a joint.
type ActarraySpeedCmd struct {
	Joint int32   // from 0
	Speed float32 // m/s or rad/s
}

// ActarrayHomeCmd asks a joint to go home.
type ActarrayHomeCmd struct {
	Joint int32 // -1: all
}

// ActarrayCurrentCmd asks for the current of a joint.
type ActarrayCurrentCmd struct {
	Joint   int32   // -1: all
	Current float32 // A
}

// ActarraySpeedConfig limits the speed of a joint.
type ActarraySpeedConfig struct {
	Joint int32   // -1: all
	Speed float32 // m/s or rad/s
}

// ActarrayAccelConfig limits the acceleration of a joint.
type ActarrayAccelConfig struct {
	Joint int32   // -1: all
	Accel float32 // m/s² or rad/s²
}

var actarrayMessages = []entry{
	{player.Data, DataActarrayState, "STATE", body[ActarrayData]},
	{player.Command, CmdActarrayPos, "POS", body[ActarrayPositionCmd]},
	{player.Command, CmdActarrayMultiPos, "MULTI_POS", body[ActarrayMultiPositionCmd]},
	{player.Command, CmdActarraySpeed, "SPEED", body[ActarraySpeedCmd]},
	{player.Command, CmdActarrayMultiSpeed, "MULTI_SPEED", body[struct{ Speeds []float32 }]},
	{player.Command, CmdActarrayHome, "HOME", body[ActarrayHomeCmd]},
	{player.Command, CmdActarrayCurrent, "CURRENT", body[ActarrayCurrentCmd]},
	{player.Command, CmdActarrayMultiCurrent, "MULTI_CURRENT", body[struct{ Currents []float32 }]},
	{player.Request, ReqActarrayPower, "POWER", body[struct{ Value uint8 }]},
	{player.Request, ReqActarrayBrakes, "BRAKES", body[struct{ Value uint8 }]},
	{player.Request, ReqActarrayGetGeom, "GET_GEOM", body[ActarrayGeom]},
	{player.Request, ReqActarraySpeed, "SPEED", body[ActarraySpeedConfig]},
	{player.Request, ReqActarrayAccel, "ACCEL", body[ActarrayAccelConfig]},
}
