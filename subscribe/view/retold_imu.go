package view

import (
	"math"

	"callboard/player"
	"callboard/player/iface"
)

// retoldIMU makes an inertial unit's messages again. A reading is what several
// kinds of messages told, so the message is the one that, after those before,
// leaves least to be desired: mostly nothing. What a unit told before the first
// reading and does not tell again is missing, as to any who came in late.
type retoldIMU struct {
	IMU
	told IMU // by the messages so far
	any  bool
}

func (r *retoldIMU) message() (uint8, any) {
	if !r.any {
		r.told, r.any = untold(), true
	}
	var subtype uint8
	var payload any
	var best IMU
	wrong := math.MaxInt
	for _, m := range r.IMU.candidates() {
		after := IMU{}
		after.read(player.Reading{Payload: m.payload}, &r.told)
		if n := after.differences(&r.IMU); n < wrong {
			wrong, subtype, payload, best = n, m.subtype, m.payload, after
		}
	}
	r.told = best
	return subtype, payload
}

// imuMessage is a message that tells some of a reading.
type imuMessage struct {
	subtype uint8
	payload any
}

// candidates gives a message of each kind, those that tell less first.
func (u *IMU) candidates() []imuMessage {
	pose := iface.Pose3D{Px: u.X, Py: u.Y, Pz: u.Z, Proll: u.Roll, Ppitch: u.Pitch, Pyaw: u.Yaw}
	calib := iface.IMUDataCalib{
		AccelX: float32(u.AccelX), AccelY: float32(u.AccelY), AccelZ: float32(u.AccelZ),
		GyroX: float32(u.GyroX), GyroY: float32(u.GyroY), GyroZ: float32(u.GyroZ),
		MagnX: float32(u.MagnX), MagnY: float32(u.MagnY), MagnZ: float32(u.MagnZ),
	}
	return []imuMessage{
		{iface.DataIMUState, &iface.IMUDataState{Pose: pose}},
		{iface.DataIMUCalib, &calib},
		{iface.DataIMUEuler, &iface.IMUDataEuler{CalibData: calib, Orientation: iface.Orientation3D{Proll: u.Roll, Ppitch: u.Pitch, Pyaw: u.Yaw}}},
		{iface.DataIMUQuat, &iface.IMUDataQuat{CalibData: calib, Q0: float32(u.Q0), Q1: float32(u.Q1), Q2: float32(u.Q2), Q3: float32(u.Q3)}},
		{iface.DataIMUFullstate, &iface.IMUDataFullstate{
			Pose: pose,
			Vel:  iface.Pose3D{Px: u.VX, Py: u.VY, Pz: u.VZ, Proll: u.GyroX, Ppitch: u.GyroY, Pyaw: u.GyroZ},
			Acc:  iface.Pose3D{Px: u.AccelX, Py: u.AccelY, Pz: u.AccelZ, Proll: u.AccelRoll, Ppitch: u.AccelPitch, Pyaw: u.AccelYaw},
		}},
	}
}

// differences counts the values that differ, time and index aside.
func (u *IMU) differences(o *IMU) int {
	n := 0
	for i := range imuFields {
		f := &imuFields[i]
		if f.float == nil || f.name == "time" {
			continue
		}
		if a, b := f.float(u), f.float(o); a != b && (a == a || b == b) {
			n++
		}
	}
	return n
}
