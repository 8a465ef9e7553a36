package view

import (
	"math"

	"callboard/player"
	"callboard/player/iface"
)

// Localize is the poses that the robot may have on a map, and the likeliest
// one.
type Localize struct {
	Count        int       `expr:"count" doc:"how many poses"`
	X            float64   `expr:"x" unit:"m" doc:"of the likeliest; no number if there is none, as the next four"`
	Y            float64   `expr:"y" unit:"m" doc:"of the likeliest"`
	Yaw          float64   `expr:"yaw" unit:"rad" doc:"of the likeliest"`
	Alpha        float64   `expr:"alpha" doc:"its weight"`
	Spread       float64   `expr:"spread" unit:"m" doc:"how far off it may be, as a standard deviation"`
	PendingCount int       `expr:"pending_count" doc:"observations that are not used yet"`
	PendingTime  float64   `expr:"pending_time" unit:"s" doc:"of the last observation that is used"`
	Cov          []float64 `expr:"cov" doc:"the likeliest one's covariance: xx, yy, aa, xy, ya, xa"`
	Xs           []float64 `expr:"xs" unit:"m" doc:"of each"`
	Ys           []float64 `expr:"ys" unit:"m" doc:"of each"`
	Yaws         []float64 `expr:"yaws" unit:"rad" doc:"of each"`
	Alphas       []float64 `expr:"alphas" doc:"the weight of each"`
	Stamp
}

func (l *Localize) read(m player.Reading, _ View) bool {
	d, ok := m.Payload.(*iface.LocalizeData)
	if !ok {
		return false
	}
	l.Count, l.PendingCount, l.PendingTime = len(d.Hypoths), int(d.PendingCount), d.PendingTime
	l.Xs, l.Ys, l.Yaws, l.Alphas, l.Cov = l.Xs[:0], l.Ys[:0], l.Yaws[:0], l.Alphas[:0], l.Cov[:0]
	var best *iface.LocalizeHypoth
	for i := range d.Hypoths {
		h := &d.Hypoths[i]
		l.Xs, l.Ys, l.Yaws = append(l.Xs, h.Mean.Px), append(l.Ys, h.Mean.Py), append(l.Yaws, h.Mean.Pa)
		l.Alphas = append(l.Alphas, h.Alpha)
		if best == nil || h.Alpha > best.Alpha {
			best = h
		}
	}
	nan := math.NaN()
	l.X, l.Y, l.Yaw, l.Alpha, l.Spread = nan, nan, nan, nan, nan
	if best != nil {
		l.X, l.Y, l.Yaw, l.Alpha = best.Mean.Px, best.Mean.Py, best.Mean.Pa, best.Alpha
		l.Spread = math.Sqrt(best.Cov[0] + best.Cov[1])
		l.Cov = append(l.Cov, best.Cov[:]...)
	}
	return true
}
