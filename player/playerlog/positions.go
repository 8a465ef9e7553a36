package playerlog

import (
	"math"

	"callboard/player/iface"
)

// The layouts of what says where something is: position, ptz, localize, gps,
// imu, fiducial.

func pose2(l *text, p *iface.Pose2D, f form) {
	l.float(&p.Px, f)
	l.float(&p.Py, f)
	l.float(&p.Pa, f)
}

func pose3(l *text, p *iface.Pose3D, f form) {
	l.float(&p.Px, f)
	l.float(&p.Py, f)
	l.float(&p.Pz, f)
	l.float(&p.Proll, f)
	l.float(&p.Ppitch, f)
	l.float(&p.Pyaw, f)
}

func box3(l *text, b *iface.BBox3D, f form) {
	l.float(&b.Sw, f)
	l.float(&b.Sl, f)
	l.float(&b.Sh, f)
}

func position2DState(l *text, p *iface.Position2DData) {
	l.float(&p.Pos.Px, s73)
	l.float(&p.Pos.Py, s73)
	l.float(&p.Pos.Pa, s43)
	pose2(l, &p.Vel, s73)
	integer(l, &p.Stall, d)
}

func position2DGeom(l *text, p *iface.Position2DGeom) {
	l.float(&p.Pose.Px, s73)
	l.float(&p.Pose.Py, s73)
	l.float(&p.Pose.Pyaw, s43)
	l.float(&p.Size.Sl, s73)
	l.float(&p.Size.Sw, s73)
}

func position3DState(l *text, p *iface.Position3DData) {
	pose3(l, &p.Pos, s4)
	pose3(l, &p.Vel, s4)
	integer(l, &p.Stall, d)
}

func position3DGeom(l *text, p *iface.Position3DGeom) {
	pose3(l, &p.Pose, s4)
	box3(l, &p.Size, s4)
	l.blank()
}

func ptzState(l *text, p *iface.PTZData) {
	l.float32(&p.Pan, s73)
	l.float32(&p.Tilt, s73)
	l.float32(&p.Zoom, s43)
	l.float32(&p.PanSpeed, s73)
	l.float32(&p.TiltSpeed, s73)
}

func localizeHypoths(l *text, p *iface.LocalizeData) {
	integer(l, &p.PendingCount, d10)
	l.float(&p.PendingTime, s73)
	for i := range elements(l, &p.Hypoths, 10, d2) {
		h := &p.Hypoths[i]
		localPose(l, &h.Mean)
		for k := range h.Cov {
			l.float(&h.Cov[k], wide)
		}
		l.float(&h.Alpha, wide)
	}
	l.blank()
}

func localizeParticles(l *text, p *iface.LocalizeGetParticles) {
	localPose(l, &p.Mean)
	l.float(&p.Variance, wide)
	for i := range elements(l, &p.Particles, 4, d) {
		localPose(l, &p.Particles[i].Pose)
		l.float(&p.Particles[i].Alpha, wide)
	}
	l.blank()
}

func localPose(l *text, p *iface.Pose2D) {
	l.float(&p.Px, swide)
	l.float(&p.Py, swide)
	l.float(&p.Pa, wide)
}

// gpsState writes the 14 values that are meant. Real writers write 12: a time
// that is a millionth too long, junk for the quality, the quality for the
// number of satellites, and no more.
func gpsState(l *text, p *iface.GPSData) {
	whole := true
	if !l.writing {
		switch n := l.left(); n {
		case 14:
		case 12:
			whole = false
			l.tolerate(l.at, "12 values follow, as Player's writer gives them: the time is exact to the second, satellites, speed and course are missing; expected 14")
		default:
			l.fail(l.at, "%d values follow; expected 14, or the 12 that Player's writer gives", n)
			return
		}
	}
	time := float64(p.TimeSec) + float64(p.TimeUsec)/1e6
	l.float(&time, f3)
	if !whole {
		time = math.Round(time / 1.000001)
	}
	lat, lon, alt := float64(p.Latitude)/1e7, float64(p.Longitude)/1e7, float64(p.Altitude)/1e3
	l.float(&lat, f7)
	l.float(&lon, f7)
	l.float(&alt, f7)
	l.float(&p.UTME, f3)
	l.float(&p.UTMN, f3)
	hdop, vdop := float64(p.HDOP)/10, float64(p.VDOP)/10
	l.float(&hdop, f3)
	l.float(&vdop, f3)
	l.float(&p.ErrHorz, f3)
	l.float(&p.ErrVert, f3)
	integer(l, &p.Quality, d)
	integer(l, &p.NumSats, d)
	if !l.writing {
		sec := math.Floor(time)
		p.TimeSec, p.TimeUsec = cut(sec), cut(math.Round((time-sec)*1e6))
		p.Latitude, p.Longitude, p.Altitude = cutSigned(lat*1e7), cutSigned(lon*1e7), cutSigned(alt*1e3)
		p.HDOP, p.VDOP = cut(math.Round(hdop*10)), cut(math.Round(vdop*10))
		if !whole {
			if p.Quality > 2 {
				p.Quality, p.NumSats = p.NumSats, 0
			}
			p.Speed, p.Course = 0, 0
			return
		}
	}
	l.float(&p.Speed, f3)
	l.float(&p.Course, f3)
}

// cut makes a number of text one that the field holds.
func cut(v float64) uint32 {
	if !(v > 0) {
		return 0
	}
	return uint32(min(v, math.MaxUint32))
}

func cutSigned(v float64) int32 {
	if v != v {
		return 0
	}
	return int32(max(math.MinInt32, min(math.Round(v), math.MaxInt32)))
}

func imuState(l *text, p *iface.IMUDataState) { pose3(l, &p.Pose, f6) }

func imuCalib(l *text, p *iface.IMUDataCalib) {
	l.float32(&p.AccelX, f6)
	l.float32(&p.AccelY, f6)
	l.float32(&p.AccelZ, f6)
	l.float32(&p.GyroX, f6)
	l.float32(&p.GyroY, f6)
	l.float32(&p.GyroZ, f6)
	l.float32(&p.MagnX, f6)
	l.float32(&p.MagnY, f6)
	l.float32(&p.MagnZ, f6)
}

func imuQuat(l *text, p *iface.IMUDataQuat) {
	imuCalib(l, &p.CalibData)
	l.float32(&p.Q0, f6)
	l.float32(&p.Q1, f6)
	l.float32(&p.Q2, f6)
	l.float32(&p.Q3, f6)
}

func imuEuler(l *text, p *iface.IMUDataEuler) {
	imuCalib(l, &p.CalibData)
	l.float(&p.Orientation.Proll, f6)
	l.float(&p.Orientation.Ppitch, f6)
	l.float(&p.Orientation.Pyaw, f6)
}

func imuFullstate(l *text, p *iface.IMUDataFullstate) {
	pose3(l, &p.Pose, f6)
	pose3(l, &p.Vel, f6)
	l.float(&p.Acc.Px, f6)
	l.float(&p.Acc.Py, f6)
	l.float(&p.Acc.Pz, f6)
}

func fiducialScan(l *text, p *iface.FiducialData) {
	for i := range elements(l, &p.Fiducials, 13, d) {
		f := &p.Fiducials[i]
		integer(l, &f.ID, d)
		pose3(l, &f.Pose, s73)
		pose3(l, &f.UPose, s73)
	}
}

func fiducialGeom(l *text, p *iface.FiducialGeom) {
	pose3(l, &p.Pose, swide)
	l.float(&p.Size.Sl, swide)
	l.float(&p.Size.Sw, swide)
	l.float(&p.Size.Sh, swide)
	l.float(&p.FiducialSize.Sl, swide)
	l.float(&p.FiducialSize.Sw, swide)
}
