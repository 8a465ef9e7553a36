package iface

import "callboard/player"

// DevAddr is a device address in a body: host, robot (TCP port), interface,
// index.
type DevAddr = player.Addr

// Pose2D is a place and heading. As a velocity it is m/s and rad/s.
type Pose2D struct {
	Px float64 // m
	Py float64 // m
	Pa float64 // rad
}

// Pose3D is a place and attitude.
type Pose3D struct {
	Px     float64 // m
	Py     float64 // m
	Pz     float64 // m
	Proll  float64 // rad
	Ppitch float64 // rad
	Pyaw   float64 // rad
}

// BBox2D is an extent.
type BBox2D struct {
	Sw float64 // m, width (y)
	Sl float64 // m, length (x)
}

// BBox3D is an extent.
type BBox3D struct {
	Sw float64 // m, width (y)
	Sl float64 // m, length (x)
	Sh float64 // m, height (z)
}

// Uint32 is a single number; of SYNCH OVERFLOW: how many messages were lost.
type Uint32 struct {
	Value uint32
}

// Pose converts to Player's vocabulary.
func (p Pose3D) Pose() player.Pose {
	return player.Pose{X: p.Px, Y: p.Py, Z: p.Pz, Roll: p.Proll, Pitch: p.Ppitch, Yaw: p.Pyaw}
}

// Size converts to Player's vocabulary.
func (b BBox3D) Size() player.Size {
	return player.Size{W: b.Sw, L: b.Sl, H: b.Sh}
}
