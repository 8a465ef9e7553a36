package view

import (
	"math"

	"callboard/player"
	"callboard/player/iface"
)

// Localize is the poses that the robot may have on a map, and the likeliest
// one.
type Localize struct {
	Count        int       `expr:"count"`
	X            float64   `expr:"x"`
	Y            float64   `expr:"y"`
	Yaw          float64   `expr:"yaw"`
	Alpha        float64   `expr:"alpha"`
	Spread       float64   `expr:"spread"`
	PendingCount int       `expr:"pending_count"`
	PendingTime  float64   `expr:"pending_time"`
	Cov          []float64 `expr:"cov"`
	Xs           []float64 `expr:"xs"`
	Ys           []float64 `expr:"ys"`
	Yaws         []float64 `expr:"yaws"`
	Alphas       []float64 `expr:"alphas"`
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

var localizeFields = with(
	whole("count", "", "how many poses", func(l *Localize) int { return l.Count }),
	number("x", "m", "of the likeliest; no number if there is none, as the next four", func(l *Localize) float64 { return l.X }),
	number("y", "m", "of the likeliest", func(l *Localize) float64 { return l.Y }),
	number("yaw", "rad", "of the likeliest", func(l *Localize) float64 { return l.Yaw }),
	number("alpha", "", "its weight", func(l *Localize) float64 { return l.Alpha }),
	number("spread", "m", "how far off it may be, as a standard deviation", func(l *Localize) float64 { return l.Spread }),
	whole("pending_count", "", "observations that are not used yet", func(l *Localize) int { return l.PendingCount }),
	number("pending_time", "s", "of the last observation that is used", func(l *Localize) float64 { return l.PendingTime }),
	numbers("cov", "", "the likeliest one's covariance: xx, yy, aa, xy, ya, xa", func(l *Localize) []float64 { return l.Cov }),
	numbers("xs", "m", "of each", func(l *Localize) []float64 { return l.Xs }),
	numbers("ys", "m", "of each", func(l *Localize) []float64 { return l.Ys }),
	numbers("yaws", "rad", "of each", func(l *Localize) []float64 { return l.Yaws }),
	numbers("alphas", "", "the weight of each", func(l *Localize) []float64 { return l.Alphas }),
)

// AppendText appends the view as the text of an object: see protocol.Seal.
func (l *Localize) AppendText(dst []byte) []byte { return appendFields(dst, l, localizeFields) }
