package iface

import "callboard/player"

// Subtypes of the map interface (code 42).
const (
	DataMapInfo     uint8 = 1
	ReqMapGetInfo   uint8 = 1
	ReqMapGetData   uint8 = 2
	ReqMapGetVector uint8 = 3
)

// MapInfo is what a grid map covers. Origin is the pose of cell (0, 0).
type MapInfo struct {
	Scale  float32 // m per cell
	Width  uint32  // cells
	Height uint32  // cells
	Origin Pose2D  // m, m, rad
}

// MapData is a tile of a grid map, row by row from its lowest. In an ACK Data
// is a zlib stream: Cells inflates it. In the request Data is empty.
type MapData struct {
	Col       uint32 // cells
	Row       uint32 // cells
	Width     uint32 // cells
	Height    uint32 // cells
	DataRange int8   // a cell of -DataRange to -1 is free, 0 unknown, 1 to DataRange occupied
	Data      []int8 `xdr:"count-before=DataRange"`
}

// MapDataVector is a map of line segments.
type MapDataVector struct {
	MinX     float32   // m
	MaxX     float32   // m
	MinY     float32   // m
	MaxY     float32   // m
	Segments []Segment // m
}

var mapMessages = []entry{
	{player.Data, DataMapInfo, "INFO", body[MapInfo]},
	{player.Request, ReqMapGetInfo, "GET_INFO", body[MapInfo]},
	{player.Request, ReqMapGetData, "GET_DATA", body[MapData]},
	{player.Request, ReqMapGetVector, "GET_VECTOR", body[MapDataVector]},
}
