package view

import (
	"callboard/player"
	"callboard/player/iface"
)

// GPS is a fix, in degrees and m where Player sends 1e-7 degrees and mm.
type GPS struct {
	Latitude  float64 `expr:"latitude"`
	Longitude float64 `expr:"longitude"`
	Altitude  float64 `expr:"altitude"`
	Fix       bool    `expr:"fix"`
	Quality   int     `expr:"quality"`
	NumSats   int     `expr:"num_sats"`
	Speed     float64 `expr:"speed"`
	Course    float64 `expr:"course"`
	UTME      float64 `expr:"utm_e"`
	UTMN      float64 `expr:"utm_n"`
	HDOP      float64 `expr:"hdop"`
	VDOP      float64 `expr:"vdop"`
	ErrHorz   float64 `expr:"err_horz"`
	ErrVert   float64 `expr:"err_vert"`
	UTC       float64 `expr:"utc"`
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

var gpsFields = with(
	number("latitude", "deg", "north of the equator is positive", func(g *GPS) float64 { return g.Latitude }),
	number("longitude", "deg", "east of Greenwich is positive", func(g *GPS) float64 { return g.Longitude }),
	number("altitude", "m", "above the ellipsoid or the sea, as the device has it", func(g *GPS) float64 { return g.Altitude }),
	truth("fix", "the device knows where it is", func(g *GPS) bool { return g.Fix }),
	whole("quality", "", "0: no fix, 1: GPS, 2: differential GPS", func(g *GPS) int { return g.Quality }),
	whole("num_sats", "", "how many satellites", func(g *GPS) int { return g.NumSats }),
	number("speed", "m/s", "over ground", func(g *GPS) float64 { return g.Speed }),
	number("course", "rad", "over ground", func(g *GPS) float64 { return g.Course }),
	number("utm_e", "m", "place on the UTM grid", func(g *GPS) float64 { return g.UTME }),
	number("utm_n", "m", "place on the UTM grid", func(g *GPS) float64 { return g.UTMN }),
	number("hdop", "", "horizontal dilution of precision", func(g *GPS) float64 { return g.HDOP }),
	number("vdop", "", "vertical dilution of precision", func(g *GPS) float64 { return g.VDOP }),
	number("err_horz", "m", "horizontal error", func(g *GPS) float64 { return g.ErrHorz }),
	number("err_vert", "m", "vertical error", func(g *GPS) float64 { return g.ErrVert }),
	number("utc", "s", "the time of the fix, since 1970", func(g *GPS) float64 { return g.UTC }),
)

// AppendText appends the view as the text of an object: see protocol.Seal.
func (g *GPS) AppendText(dst []byte) []byte { return appendFields(dst, g, gpsFields) }
