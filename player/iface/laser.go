package iface

import "callboard/player"

// Subtypes of the laser interface (code 6).
const (
	DataLaserScan      uint8 = 1
	DataLaserScanpose  uint8 = 2
	DataLaserScanangle uint8 = 3
	ReqLaserGetGeom    uint8 = 1
	ReqLaserSetConfig  uint8 = 2
	ReqLaserGetConfig  uint8 = 3
	ReqLaserPower      uint8 = 4
	ReqLaserGetID      uint8 = 5
	ReqLaserSetFilter  uint8 = 6
)

// LaserData is a scan: ranges at equal steps of bearing from MinAngle to
// MaxAngle. Intensity may have another length than Ranges, often 0.
type LaserData struct {
	MinAngle   float32   // rad
	MaxAngle   float32   // rad
	Resolution float32   // rad, from ray to ray; not to be relied on
	MaxRange   float32   // m
	Ranges     []float32 // m
	Intensity  []uint8   // 0 to 255
	ID         uint32    // number of the scan, 0 from many drivers
}

// LaserDataScanpose is a scan and where the robot was when it was taken.
type LaserDataScanpose struct {
	Scan LaserData
	Pose Pose2D // m, m, rad
}

// LaserDataScanangle is a scan with a bearing for each range.
type LaserDataScanangle struct {
	MaxRange  float32   // m
	Ranges    []float32 // m
	Angles    []float32 // rad
	Intensity []uint8   // 0 to 255
	ID        uint32
}

// LaserGeom is where the laser sits on the robot, and its size.
type LaserGeom struct {
	Pose Pose3D // m, rad
	Size BBox3D // m
}

// LaserConfig is how the laser scans (SET_CONFIG, GET_CONFIG).
type LaserConfig struct {
	MinAngle          float32 // rad
	MaxAngle          float32 // rad
	Resolution        float32 // rad
	MaxRange          float32 // m
	RangeRes          float32 // m
	Intensity         uint8   // 1: intensities are sent
	ScanningFrequency float32 // Hz
}

// LaserGetIDConfig is the laser's serial number.
type LaserGetIDConfig struct {
	SerialNumber uint32
}

// Filter types of a LaserSetFilterConfig.
const (
	LaserFilterMedian uint8 = 1
	LaserFilterEdge   uint8 = 2
	LaserFilterRange  uint8 = 3
	LaserFilterMean   uint8 = 4
)

// LaserSetFilterConfig chooses a filter in the laser.
type LaserSetFilterConfig struct {
	FilterType uint8
	Parameters []float32 `xdr:"max=8"`
}

var laserMessages = []entry{
	{player.Data, DataLaserScan, "SCAN", body[LaserData]},
	{player.Data, DataLaserScanpose, "SCANPOSE", body[LaserDataScanpose]},
	{player.Data, DataLaserScanangle, "SCANANGLE", body[LaserDataScanangle]},
	{player.Request, ReqLaserGetGeom, "GET_GEOM", body[LaserGeom]},
	{player.Request, ReqLaserSetConfig, "SET_CONFIG", body[LaserConfig]},
	{player.Request, ReqLaserGetConfig, "GET_CONFIG", body[LaserConfig]},
	{player.Request, ReqLaserPower, "POWER", body[struct{ State uint8 }]},
	{player.Request, ReqLaserGetID, "GET_ID", body[LaserGetIDConfig]},
	{player.Request, ReqLaserSetFilter, "SET_FILTER", body[LaserSetFilterConfig]},
}
