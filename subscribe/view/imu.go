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
	Roll       float64 `expr:"roll" unit:"rad" doc:"attitude"`
	Pitch      float64 `expr:"pitch" unit:"rad" doc:"attitude"`
	Yaw        float64 `expr:"yaw" unit:"rad" doc:"heading"`
	Tilt       float64 `expr:"tilt" unit:"rad" doc:"how far its upward axis leans from the vertical"`
	Accel      float64 `expr:"accel" unit:"m/s²" doc:"acceleration in any direction"`
	AccelX     float64 `expr:"accel_x" unit:"m/s²" doc:"acceleration"`
	AccelY     float64 `expr:"accel_y" unit:"m/s²" doc:"acceleration"`
	AccelZ     float64 `expr:"accel_z" unit:"m/s²" doc:"acceleration"`
	GyroX      float64 `expr:"gyro_x" unit:"rad/s" doc:"speed of turning about x"`
	GyroY      float64 `expr:"gyro_y" unit:"rad/s" doc:"speed of turning about y"`
	GyroZ      float64 `expr:"gyro_z" unit:"rad/s" doc:"speed of turning about z"`
	MagnX      float64 `expr:"magn_x" doc:"magnetic field"`
	MagnY      float64 `expr:"magn_y" doc:"magnetic field"`
	MagnZ      float64 `expr:"magn_z" doc:"magnetic field"`
	X          float64 `expr:"x" unit:"m" doc:"place"`
	Y          float64 `expr:"y" unit:"m" doc:"place"`
	Z          float64 `expr:"z" unit:"m" doc:"place"`
	VX         float64 `expr:"vx" unit:"m/s" doc:"speed"`
	VY         float64 `expr:"vy" unit:"m/s" doc:"speed"`
	VZ         float64 `expr:"vz" unit:"m/s" doc:"speed"`
	AccelRoll  float64 `expr:"accel_roll" unit:"rad/s²" doc:"acceleration of turning"`
	AccelPitch float64 `expr:"accel_pitch" unit:"rad/s²" doc:"acceleration of turning"`
	AccelYaw   float64 `expr:"accel_yaw" unit:"rad/s²" doc:"acceleration of turning"`
	Q0         float64 `expr:"q0" doc:"attitude as a quaternion, the real part"`
	Q1         float64 `expr:"q1" doc:"attitude as a quaternion"`
	Q2         float64 `expr:"q2" doc:"attitude as a quaternion"`
	Q3         float64 `expr:"q3" doc:"attitude as a quaternion"`
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
