package playerlog

import "callboard/player/iface"

// The layouts of what measures ranges: laser, ranger, sonar, ir, bumper.

func laserScan(l *text, p *iface.LaserData) {
	integer(l, &p.ID, d04)
	laserRays(l, p)
}

func laserScanpose(l *text, p *iface.LaserDataScanpose) {
	integer(l, &p.Scan.ID, d04)
	pose2(l, &p.Pose, s73)
	laserRays(l, &p.Scan)
}

func laserRays(l *text, p *iface.LaserData) {
	l.float32(&p.MinAngle, s74)
	l.float32(&p.MaxAngle, s74)
	l.float32(&p.Resolution, s8)
	l.float32(&p.MaxRange, s74)
	ranges := elements(l, &p.Ranges, 2, d04)
	intensity := intensities(l, &p.Intensity, len(ranges))
	for i := 0; i < len(ranges); i++ {
		if !l.writing && l.bad == "" {
			if i += l.plainRays(ranges[i:], intensity[i:]); i == len(ranges) {
				break
			}
		}
		l.float32(&ranges[i], f3)
		integer(l, &intensity[i], d2)
	}
	l.blank()
}

// intensities returns an intensity for each of n ranges: the line has 0 where a
// scan has none.
func intensities(l *text, s *[]uint8, n int) []uint8 {
	if l.writing && len(*s) >= n {
		return *s
	}
	if l.writing || cap(*s) < n {
		all := make([]uint8, n)
		copy(all, *s)
		if l.writing {
			return all
		}
		*s = all
	}
	*s = (*s)[:n]
	return *s
}

func laserScanangle(l *text, p *iface.LaserDataScanangle) {
	integer(l, &p.ID, d04)
	l.float32(&p.MaxRange, s74)
	ranges := elements(l, &p.Ranges, 3, d04)
	if !l.writing {
		if cap(p.Angles) < len(ranges) {
			p.Angles = make([]float32, len(ranges))
		}
		p.Angles = p.Angles[:len(ranges)]
	}
	intensity := intensities(l, &p.Intensity, len(ranges))
	for i := range ranges {
		var angle float32
		if i < len(p.Angles) {
			angle = p.Angles[i]
		}
		l.float32(&ranges[i], f3)
		l.float32(&angle, f3)
		integer(l, &intensity[i], d2)
		if !l.writing {
			p.Angles[i] = angle
		}
	}
	l.blank()
}

func laserGeom(l *text, p *iface.LaserGeom) {
	l.float(&p.Pose.Px, swide)
	l.float(&p.Pose.Py, swide)
	l.float(&p.Pose.Pyaw, wide)
	l.float(&p.Size.Sl, wide)
	l.float(&p.Size.Sw, wide)
}

func rangerRange(l *text, p *iface.RangerDataRange) { numbers(l, &p.Ranges, d04) }
func rangerIntns(l *text, p *iface.RangerDataIntns) { numbers(l, &p.Intensities, d04) }

// numbers is an array of numbers.
func numbers(l *text, s *[]float64, f form) {
	all := elements(l, s, 1, f)
	for i := 0; i < len(all); i++ {
		if !l.writing && l.bad == "" {
			if i += plainRanges(l, all[i:]); i == len(all) {
				break
			}
		}
		l.float(&all[i], f3)
	}
	l.blank()
}

func numbers32(l *text, s *[]float32, f form) {
	all := elements(l, s, 1, f)
	for i := 0; i < len(all); i++ {
		if !l.writing && l.bad == "" {
			if i += plainRanges(l, all[i:]); i == len(all) {
				break
			}
		}
		l.float32(&all[i], f3)
	}
	l.blank()
}

func rangerRangestamped(l *text, p *iface.RangerDataRangestamped) {
	numbers(l, &p.Data.Ranges, d04)
	stamp(l, &p.HaveGeom, &p.Geom, &p.HaveConfig, &p.Config)
}

func rangerIntnsstamped(l *text, p *iface.RangerDataIntnsstamped) {
	numbers(l, &p.Data.Intensities, d04)
	stamp(l, &p.HaveGeom, &p.Geom, &p.HaveConfig, &p.Config)
}

// stamp is only read: Player's writer leaves out whether there is a
// configuration, and Player's reader cannot read what it writes.
func stamp(l *text, haveGeom *uint8, g *iface.RangerGeom, haveConfig *uint8, c *iface.RangerConfig) {
	integer(l, haveGeom, d)
	if *haveGeom != 0 {
		rangerGeom(l, g)
	} else {
		*g = iface.RangerGeom{ElementPoses: g.ElementPoses[:0], ElementSizes: g.ElementSizes[:0]}
	}
	*haveConfig, *c = 0, iface.RangerConfig{}
	if l.bad == "" && l.left() >= 7 {
		*haveConfig = 1
		rangerConfig(l, c)
	}
}

func rangerGeom(l *text, p *iface.RangerGeom) {
	pose3(l, &p.Pose, s73)
	box3(l, &p.Size, s73)
	for i := range elements(l, &p.ElementPoses, 6, d04) {
		pose3(l, &p.ElementPoses[i], s73)
	}
	for i := range elements(l, &p.ElementSizes, 3, d04) {
		box3(l, &p.ElementSizes[i], s73)
	}
	l.blank()
}

func rangerConfig(l *text, p *iface.RangerConfig) {
	for _, v := range []*float64{&p.MinAngle, &p.MaxAngle, &p.AngularRes, &p.MinRange, &p.MaxRange, &p.RangeRes, &p.Frequency} {
		l.float(v, f6)
	}
	l.blank()
}

func sonarRanges(l *text, p *iface.SonarData) { numbers32(l, &p.Ranges, d) }

func sonarGeom(l *text, p *iface.SonarGeom) { poses(l, &p.Poses) }

// poses is an array of poses in the plane.
func poses(l *text, s *[]iface.Pose3D) {
	for i := range elements(l, s, 3, d) {
		planar(l, &(*s)[i])
	}
	l.blank()
}

// planar is a pose of which only the plane's part is written.
func planar(l *text, p *iface.Pose3D) {
	if !l.writing {
		*p = iface.Pose3D{}
	}
	l.float(&p.Px, s73)
	l.float(&p.Py, s73)
	l.float(&p.Pyaw, s74)
}

func irRanges(l *text, p *iface.IRData) {
	if !l.writing {
		p.Voltages = p.Voltages[:0]
	}
	numbers32(l, &p.Ranges, d)
}

func irPoses(l *text, p *iface.IRPoses) { poses(l, &p.Poses) }

func bumperState(l *text, p *iface.BumperData) {
	for i := range elements(l, &p.Bumpers, 1, d) {
		integer(l, &p.Bumpers[i], d)
	}
	l.blank()
}

func bumperGeom(l *text, p *iface.BumperGeom) {
	for i := range elements(l, &p.BumperDef, 5, d) {
		b := &p.BumperDef[i]
		planar(l, &b.Pose)
		l.float32(&b.Length, s74)
		l.float32(&b.Radius, s74)
	}
	l.blank()
}
