package iface

import "callboard/player"

// Subtype of the pointcloud3d interface (code 61).
const DataPointcloud3DState uint8 = 1

// Pointcloud3DElement is a point with its colour.
type Pointcloud3DElement struct {
	Point Point3D // m
	Color Color
}

// Pointcloud3DData is points in space.
type Pointcloud3DData struct {
	Points []Pointcloud3DElement
}

var pointcloud3DMessages = []entry{
	{player.Data, DataPointcloud3DState, "STATE", body[Pointcloud3DData]},
}
