package view

import (
	"callboard/player"
	"callboard/player/iface"
)

// GPS is a fix, in degrees and m where Player sends 1e-7 degrees and mm.
type GPS struct {
	Latitude  float64 `expr:"latitude" unit:"deg" doc:"north of the equator is positive"`
	Longitude float64 `expr:"longitude" unit:"deg" doc:"east of Greenwich is positive"`
	Altitude  float64 `expr:"altitude" unit:"m" doc:"above the ellipsoid or the sea, as the device has it"`
	Fix       bool    `expr:"fix" doc:"the device knows where it is"`
	Quality   int     `expr:"quality" doc:"0: no fix, 1: GPS, 2: differential GPS"`
	NumSats   int     `expr:"num_sats" doc:"how many satellites"`
	Speed     float64 `expr:"speed" unit:"m/s" doc:"over ground"`
	Course    float64 `expr:"course" unit:"rad" doc:"over ground"`
	UTME      float64 `expr:"utm_e" unit:"m" doc:"place on the UTM grid"`
	UTMN      float64 `expr:"utm_n" unit:"m" doc:"place on the UTM grid"`
	HDOP      float64 `expr:"hdop" doc:"horizontal dilution of precision"`
	VDOP      float64 `expr:"vdop" doc:"vertical dilution of precision"`
	ErrHorz   float64 `expr:"err_horz" unit:"m" doc:"horizontal error"`
	ErrVert   float64 `expr:"err_vert" unit:"m" doc:"vertical error"`
	UTC       float64 `expr:"utc" unit:"s" doc:"the time of the fix, since 1970"`
	Stamp
}

func (g *GPS) read(m player.Reading, _ View) bool {
	d, ok := m.Payload.(*iface.GPSData)
	if !ok {
		return false
	}
	*g = GPS{
		Latitude: float64(d.Latitude) / 1e7, Longitude: float64(d.Longitude) / 1e7, Altitude: float64(d.Altitude) / 1e3,
		Fix: d.Quality != 0, Quality: int(d.Quality), NumSats: int(d.NumSats),
		Speed: d.Speed, Course: d.Course, UTME: d.UTME, UTMN: d.UTMN,
		HDOP: float64(d.HDOP) / 10, VDOP: float64(d.VDOP) / 10, ErrHorz: d.ErrHorz, ErrVert: d.ErrVert,
		UTC: float64(d.TimeSec) + float64(d.TimeUsec)/1e6,
	}
	return true
}
