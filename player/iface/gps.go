package iface

import "callboard/player"

// Subtype of the gps interface (code 13).
const DataGPSState uint8 = 1

// GPSData is a fix. Latitude is positive north of the equator, Longitude east
// of Greenwich.
type GPSData struct {
	TimeSec   uint32  // s, UTC
	TimeUsec  uint32  // µs
	Latitude  int32   // 1e-7 degrees
	Longitude int32   // 1e-7 degrees
	Altitude  int32   // mm
	Speed     float64 // m/s
	Course    float64 // rad
	UTME      float64 // m
	UTMN      float64 // m
	Quality   uint32  // 0 no fix, 1 GPS, 2 DGPS
	NumSats   uint32
	HDOP      uint32  // times 10
	VDOP      uint32  // times 10
	ErrHorz   float64 // m
	ErrVert   float64 // m
}

var gpsMessages = []entry{
	{player.Data, DataGPSState, "STATE", body[GPSData]},
}
