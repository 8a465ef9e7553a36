package iface

import "callboard/player"

// Subtypes of the imu interface (code 60).
const (
	DataIMUState           uint8 = 1
	DataIMUCalib           uint8 = 2
	DataIMUQuat            uint8 = 3
	DataIMUEuler           uint8 = 4
	DataIMUFullstate       uint8 = 5
	ReqIMUSetDatatype      uint8 = 1
	ReqIMUResetOrientation uint8 = 2
	ReqIMUResetEuler       uint8 = 3
)

// IMUDataState is the pose that the unit computes.
type IMUDataState struct {
	Pose Pose3D // m, rad
}

// IMUDataCalib is calibrated accelerations, turn rates and magnetic field.
// Units are the custom of drivers.
type IMUDataCalib struct {
	AccelX float32 // m/s² by custom
	AccelY float32 // m/s² by custom
	AccelZ float32 // m/s² by custom
	GyroX  float32 // rad/s by custom
	GyroY  float32 // rad/s by custom
	GyroZ  float32 // rad/s by custom
	MagnX  float32
	MagnY  float32
	MagnZ  float32
}

// IMUDataQuat is an attitude as a quaternion.
type IMUDataQuat struct {
	CalibData IMUDataCalib
	Q0        float32
	Q1        float32
	Q2        float32
	Q3        float32
}

// IMUDataEuler is an attitude as angles.
type IMUDataEuler struct {
	CalibData   IMUDataCalib
	Orientation Orientation3D // rad
}

// IMUDataFullstate is pose, velocity and acceleration.
type IMUDataFullstate struct {
	Pose Pose3D // m, rad
	Vel  Pose3D // m/s, rad/s
	Acc  Pose3D // m/s², rad/s²
}

// IMUDatatypeConfig chooses the data that the unit sends: the subtype of its
// DATA.
type IMUDatatypeConfig struct {
	Value uint8 // DataIMUState and so on
}

var imuMessages = []entry{
	{player.Data, DataIMUState, "STATE", body[IMUDataState]},
	{player.Data, DataIMUCalib, "CALIB", body[IMUDataCalib]},
	{player.Data, DataIMUQuat, "QUAT", body[IMUDataQuat]},
	{player.Data, DataIMUEuler, "EULER", body[IMUDataEuler]},
	{player.Data, DataIMUFullstate, "FULLSTATE", body[IMUDataFullstate]},
	{player.Request, ReqIMUSetDatatype, "SET_DATATYPE", body[IMUDatatypeConfig]},
	{player.Request, ReqIMUResetOrientation, "RESET_ORIENTATION", body[struct{ Value uint32 }]},
	{player.Request, ReqIMUResetEuler, "RESET_EULER", body[struct{ Orientation Pose3D }]},
}
