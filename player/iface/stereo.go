package iface

import "callboard/player"

// Subtype of the stereo interface (code 65).
const DataStereoState uint8 = 1

// Pointcloud3DStereoElement is a point with its colour.
type Pointcloud3DStereoElement struct {
	Px    float32 // m
	Py    float32 // m
	Pz    float32 // m
	Red   uint8
	Green uint8
	Blue  uint8
}

// StereoData is the images of a stereo camera, and the points seen in both.
type StereoData struct {
	LeftChannel  CameraData
	RightChannel CameraData
	Disparity    CameraData
	Points       []Pointcloud3DStereoElement
	Mode         uint32 // the driver's
}

var stereoMessages = []entry{
	{player.Data, DataStereoState, "STATE", body[StereoData]},
}
