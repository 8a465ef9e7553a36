package view

import (
	"math"

	"callboard/player"
	"callboard/player/iface"
)

// Fiducial is the marks that a finder sees, in its frame, and of the nearest
// one all that it tells.
type Fiducial struct {
	Count    int       `expr:"count" doc:"how many marks"`
	ID       int       `expr:"id" doc:"the nearest one's number; -1 if there is none, or it is not identified"`
	Range    float64   `expr:"range" unit:"m" doc:"how far the nearest is; without end if there is none"`
	Bearing  float64   `expr:"bearing" unit:"rad" doc:"where the nearest is; no number if there is none, as what follows"`
	X        float64   `expr:"x" unit:"m" doc:"the nearest one's place"`
	Y        float64   `expr:"y" unit:"m" doc:"the nearest one's place"`
	Z        float64   `expr:"z" unit:"m" doc:"the nearest one's place"`
	Roll     float64   `expr:"roll" unit:"rad" doc:"the nearest one's attitude"`
	Pitch    float64   `expr:"pitch" unit:"rad" doc:"the nearest one's attitude"`
	Yaw      float64   `expr:"yaw" unit:"rad" doc:"the nearest one's heading"`
	Nearest  int       `expr:"nearest" doc:"which one of the lists is nearest, from 0; -1 if there is none"`
	IDs      []float64 `expr:"ids" doc:"the number of each"`
	Ranges   []float64 `expr:"ranges" unit:"m" doc:"how far each is"`
	Bearings []float64 `expr:"bearings" unit:"rad" doc:"where each is"`
	Xs       []float64 `expr:"xs" unit:"m" doc:"the place of each"`
	Ys       []float64 `expr:"ys" unit:"m" doc:"the place of each"`
	Yaws     []float64 `expr:"yaws" unit:"rad" doc:"the heading of each"`
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
