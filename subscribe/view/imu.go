package view

import (
	"math"

	"callboard/player"
	"callboard/player/iface"
)

// IMU is what an inertial unit tells. Player has five kinds of messages for
// it, and a unit may send several: each is a reading, and what one does not
// tell stands as the unit told it last. Units are the custom of drivers.
type IMU struct {
	Roll       float64 `expr:"roll"`
	Pitch      float64 `expr:"pitch"`
	Yaw        float64 `expr:"yaw"`
	Tilt       float64 `expr:"tilt"`
	Accel      float64 `expr:"accel"`
	AccelX     float64 `expr:"accel_x"`
	AccelY     float64 `expr:"accel_y"`
	AccelZ     float64 `expr:"accel_z"`
	GyroX      float64 `expr:"gyro_x"`
	GyroY      float64 `expr:"gyro_y"`
	GyroZ      float64 `expr:"gyro_z"`
	MagnX      float64 `expr:"magn_x"`
	MagnY      float64 `expr:"magn_y"`
	MagnZ      float64 `expr:"magn_z"`
	X          float64 `expr:"x"`
	Y          float64 `expr:"y"`
	Z          float64 `expr:"z"`
	VX         float64 `expr:"vx"`
	VY         float64 `expr:"vy"`
	VZ         float64 `expr:"vz"`
	AccelRoll  float64 `expr:"accel_roll"`
	AccelPitch float64 `expr:"accel_pitch"`
	AccelYaw   float64 `expr:"accel_yaw"`
	Q0         float64 `expr:"q0"`
	Q1         float64 `expr:"q1"`
	Q2         float64 `expr:"q2"`
	Q3         float64 `expr:"q3"`
	Stamp
}

// untold is the view of a unit that has told nothing.
func untold() IMU {
	nan := math.NaN()
	return IMU{
		Roll: nan, Pitch: nan, Yaw: nan, Tilt: nan, Accel: nan, AccelX: nan, AccelY: nan, AccelZ: nan,
		GyroX: nan, GyroY: nan, GyroZ: nan, MagnX: nan, MagnY: nan, MagnZ: nan,
		X: nan, Y: nan, Z: nan, VX: nan, VY: nan, VZ: nan, AccelRoll: nan, AccelPitch: nan, AccelYaw: nan,
		Q0: nan, Q1: nan, Q2: nan, Q3: nan,
	}
}

func (u *IMU) read(m player.Reading, last View) bool {
	if l, ok := last.(*IMU); ok {
		*u = *l
	} else {
		*u = untold()
	}
	switch d := m.Payload.(type) {
	case *iface.IMUDataState:
		u.readPose(&d.Pose)
	case *iface.IMUDataCalib:
		u.readCalib(d)
	case *iface.IMUDataQuat:
		u.readCalib(&d.CalibData)
		u.readQuaternion(float64(d.Q0), float64(d.Q1), float64(d.Q2), float64(d.Q3))
	case *iface.IMUDataEuler:
		u.readCalib(&d.CalibData)
		u.Roll, u.Pitch, u.Yaw = d.Orientation.Proll, d.Orientation.Ppitch, d.Orientation.Pyaw
	case *iface.IMUDataFullstate:
		u.readPose(&d.Pose)
		u.VX, u.VY, u.VZ = d.Vel.Px, d.Vel.Py, d.Vel.Pz
		u.GyroX, u.GyroY, u.GyroZ = d.Vel.Proll, d.Vel.Ppitch, d.Vel.Pyaw
		u.AccelX, u.AccelY, u.AccelZ = d.Acc.Px, d.Acc.Py, d.Acc.Pz
		u.AccelRoll, u.AccelPitch, u.AccelYaw = d.Acc.Proll, d.Acc.Ppitch, d.Acc.Pyaw
	default:
		return false
	}
	u.Tilt = math.Acos(math.Cos(u.Roll) * math.Cos(u.Pitch))
	u.Accel = length(u.AccelX, u.AccelY, u.AccelZ)
	return true
}

func (u *IMU) readPose(p *iface.Pose3D) {
	u.X, u.Y, u.Z, u.Roll, u.Pitch, u.Yaw = p.Px, p.Py, p.Pz, p.Proll, p.Ppitch, p.Pyaw
}

func (u *IMU) readCalib(d *iface.IMUDataCalib) {
	u.AccelX, u.AccelY, u.AccelZ = float64(d.AccelX), float64(d.AccelY), float64(d.AccelZ)
	u.GyroX, u.GyroY, u.GyroZ = float64(d.GyroX), float64(d.GyroY), float64(d.GyroZ)
	u.MagnX, u.MagnY, u.MagnZ = float64(d.MagnX), float64(d.MagnY), float64(d.MagnZ)
}

// readQuaternion takes an attitude, also as angles. Its length does not
// matter.
func (u *IMU) readQuaternion(w, x, y, z float64) {
	u.Q0, u.Q1, u.Q2, u.Q3 = w, x, y, z
	square := w*w + x*x + y*y + z*z
	u.Roll = math.Atan2(2*(w*x+y*z), w*w-x*x-y*y+z*z)
	u.Pitch = math.Asin(math.Max(-1, math.Min(1, 2*(w*y-z*x)/square)))
	u.Yaw = math.Atan2(2*(w*z+x*y), w*w+x*x-y*y-z*z)
}

var imuFields = with(
	number("roll", "rad", "attitude", func(u *IMU) float64 { return u.Roll }),
	number("pitch", "rad", "attitude", func(u *IMU) float64 { return u.Pitch }),
	number("yaw", "rad", "heading", func(u *IMU) float64 { return u.Yaw }),
	number("tilt", "rad", "how far its upward axis leans from the vertical", func(u *IMU) float64 { return u.Tilt }),
	number("accel", "m/s²", "acceleration in any direction", func(u *IMU) float64 { return u.Accel }),
	number("accel_x", "m/s²", "acceleration", func(u *IMU) float64 { return u.AccelX }),
	number("accel_y", "m/s²", "acceleration", func(u *IMU) float64 { return u.AccelY }),
	number("accel_z", "m/s²", "acceleration", func(u *IMU) float64 { return u.AccelZ }),
	number("gyro_x", "rad/s", "speed of turning about x", func(u *IMU) float64 { return u.GyroX }),
	number("gyro_y", "rad/s", "speed of turning about y", func(u *IMU) float64 { return u.GyroY }),
	number("gyro_z", "rad/s", "speed of turning about z", func(u *IMU) float64 { return u.GyroZ }),
	number("magn_x", "", "magnetic field", func(u *IMU) float64 { return u.MagnX }),
	number("magn_y", "", "magnetic field", func(u *IMU) float64 { return u.MagnY }),
	number("magn_z", "", "magnetic field", func(u *IMU) float64 { return u.MagnZ }),
	number("x", "m", "place", func(u *IMU) float64 { return u.X }),
	number("y", "m", "place", func(u *IMU) float64 { return u.Y }),
	number("z", "m", "place", func(u *IMU) float64 { return u.Z }),
	number("vx", "m/s", "speed", func(u *IMU) float64 { return u.VX }),
	number("vy", "m/s", "speed", func(u *IMU) float64 { return u.VY }),
	number("vz", "m/s", "speed", func(u *IMU) float64 { return u.VZ }),
	number("accel_roll", "rad/s²", "acceleration of turning", func(u *IMU) float64 { return u.AccelRoll }),
	number("accel_pitch", "rad/s²", "acceleration of turning", func(u *IMU) float64 { return u.AccelPitch }),
	number("accel_yaw", "rad/s²", "acceleration of turning", func(u *IMU) float64 { return u.AccelYaw }),
	number("q0", "", "attitude as a quaternion, the real part", func(u *IMU) float64 { return u.Q0 }),
	number("q1", "", "attitude as a quaternion", func(u *IMU) float64 { return u.Q1 }),
	number("q2", "", "attitude as a quaternion", func(u *IMU) float64 { return u.Q2 }),
	number("q3", "", "attitude as a quaternion", func(u *IMU) float64 { return u.Q3 }),
)

// AppendText appends the view as the text of an object: see protocol.Seal.
func (u *IMU) AppendText(dst []byte) []byte { return appendFields(dst, u, imuFields) }
