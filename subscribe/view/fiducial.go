package view

import (
	"math"

	"callboard/player"
	"callboard/player/iface"
)

// Fiducial is the marks that a finder sees, in its frame, and of the nearest
// one all that it tells.
type Fiducial struct {
	Count    int       `expr:"count"`
	Nearest  int       `expr:"nearest"`
	ID       int       `expr:"id"`
	Range    float64   `expr:"range"`
	Bearing  float64   `expr:"bearing"`
	X        float64   `expr:"x"`
	Y        float64   `expr:"y"`
	Z        float64   `expr:"z"`
	Roll     float64   `expr:"roll"`
	Pitch    float64   `expr:"pitch"`
	Yaw      float64   `expr:"yaw"`
	IDs      []float64 `expr:"ids"`
	Ranges   []float64 `expr:"ranges"`
	Bearings []float64 `expr:"bearings"`
	Xs       []float64 `expr:"xs"`
	Ys       []float64 `expr:"ys"`
	Yaws     []float64 `expr:"yaws"`
	Stamp
}

func (f *Fiducial) read(m player.Reading, _ View) bool {
	d, ok := m.Payload.(*iface.FiducialData)
	if !ok {
		return false
	}
	f.IDs, f.Ranges, f.Bearings = f.IDs[:0], f.Ranges[:0], f.Bearings[:0]
	f.Xs, f.Ys, f.Yaws = f.Xs[:0], f.Ys[:0], f.Yaws[:0]
	for i := range d.Fiducials {
		p := &d.Fiducials[i].Pose
		f.IDs = append(f.IDs, float64(d.Fiducials[i].ID))
		f.Ranges = append(f.Ranges, length(p.Px, p.Py, p.Pz))
		f.Bearings = append(f.Bearings, math.Atan2(p.Py, p.Px))
		f.Xs, f.Ys, f.Yaws = append(f.Xs, p.Px), append(f.Ys, p.Py), append(f.Yaws, p.Pyaw)
	}
	f.Count, f.Nearest = len(f.IDs), least(f.Ranges)
	f.ID, f.Range, f.Bearing = -1, math.Inf(1), math.NaN()
	f.X, f.Y, f.Z, f.Roll, f.Pitch, f.Yaw = math.NaN(), math.NaN(), math.NaN(), math.NaN(), math.NaN(), math.NaN()
	if i := f.Nearest; i >= 0 {
		p := &d.Fiducials[i].Pose
		f.ID, f.Range, f.Bearing = int(d.Fiducials[i].ID), f.Ranges[i], f.Bearings[i]
		f.X, f.Y, f.Z, f.Roll, f.Pitch, f.Yaw = p.Px, p.Py, p.Pz, p.Proll, p.Ppitch, p.Pyaw
	}
	return true
}

// least returns the place of the least value that is a number; -1 if there is
// none.
func least(values []float64) int {
	at := -1
	for i, v := range values {
		if v == v && (at < 0 || v < values[at]) {
			at = i
		}
	}
	return at
}

var fiducialFields = with(
	whole("count", "", "how many marks", func(f *Fiducial) int { return f.Count }),
	whole("id", "", "the nearest one's number; -1 if there is none, or it is not identified", func(f *Fiducial) int { return f.ID }),
	number("range", "m", "how far the nearest is; without end if there is none", func(f *Fiducial) float64 { return f.Range }),
	number("bearing", "rad", "where the nearest is; no number if there is none, as what follows", func(f *Fiducial) float64 { return f.Bearing }),
	number("x", "m", "the nearest one's place", func(f *Fiducial) float64 { return f.X }),
	number("y", "m", "the nearest one's place", func(f *Fiducial) float64 { return f.Y }),
	number("z", "m", "the nearest one's place", func(f *Fiducial) float64 { return f.Z }),
	number("roll", "rad", "the nearest one's attitude", func(f *Fiducial) float64 { return f.Roll }),
	number("pitch", "rad", "the nearest one's attitude", func(f *Fiducial) float64 { return f.Pitch }),
	number("yaw", "rad", "the nearest one's heading", func(f *Fiducial) float64 { return f.Yaw }),
	whole("nearest", "", "which one of the lists is nearest, from 0; -1 if there is none", func(f *Fiducial) int { return f.Nearest }),
	numbers("ids", "", "the number of each", func(f *Fiducial) []float64 { return f.IDs }),
	numbers("ranges", "m", "how far each is", func(f *Fiducial) []float64 { return f.Ranges }),
	numbers("bearings", "rad", "where each is", func(f *Fiducial) []float64 { return f.Bearings }),
	numbers("xs", "m", "the place of each", func(f *Fiducial) []float64 { return f.Xs }),
	numbers("ys", "m", "the place of each", func(f *Fiducial) []float64 { return f.Ys }),
	numbers("yaws", "rad", "the heading of each", func(f *Fiducial) []float64 { return f.Yaws }),
)

// AppendText appends the view as the text of an object: see protocol.Seal.
func (f *Fiducial) AppendText(dst []byte) []byte { return appendFields(dst, f, fiducialFields) }
