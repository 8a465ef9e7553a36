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

// Point2D is a place.
type Point2D struct {
	Px float64 // m
	Py float64 // m
}

// Point3D is a place, or a vector.
type Point3D struct {
	Px float64 // m
	Py float64 // m
	Pz float64 // m
}

// Orientation3D is an attitude.
type Orientation3D struct {
	Proll  float64 // rad
	Ppitch float64 // rad
	Pyaw   float64 // rad
}

// Segment is a line from one place to another.
type Segment struct {
	X0 float64 // m
	Y0 float64 // m
	X1 float64 // m
	Y1 float64 // m
}

// Extent2D is a rectangle, by its lower left and upper right corner.
type Extent2D struct {
	X0 float64 // m
	Y0 float64 // m
	X1 float64 // m
	Y1 float64 // m
}

// Color is a colour, each part 0 to 255. Alpha comes first.
type Color struct {
	Alpha uint8
	Red   uint8
	Green uint8
	Blue  uint8
}

// Bool is a single truth.
type Bool struct {
	State uint8 // 1: true
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
