package robots

import (
	"math"
	"sync"

	"callboard/player"
)

// Bound is what is certain of a value of a robot's readings: it lies between
// Lo and Hi.
type Bound struct {
	Name   string // as conditions name it: "laser.min", "index"
	Lo, Hi float64
}

// scanValues are those of a scan that are at most its device's maximum.
var scanValues = []string{"laser.min", "laser.max", "laser.front", "laser.left", "laser.right", "laser.max_range"}

// bounds knows how far a robot's scanners have ever seen: readings of before a
// change stand until others come.
type bounds struct {
	mu   sync.Mutex
	most float64
}

// of returns what is certain of the readings of devices. The maximum of a laser
// device comes with each scan, so only of rangers something is known.
func (b *bounds) of(devices []*player.Device) []Bound {
	b.mu.Lock()
	defer b.mu.Unlock()
	var out []Bound
	lowest, highest := math.Inf(1), math.Inf(-1)
	scanners, known := 0, true
	for _, d := range devices {
		lowest, highest = min(lowest, float64(d.Index)), max(highest, float64(d.Index))
		switch d.Interf {
		case player.InterfaceLaser:
			known = false
		case player.InterfaceRanger:
			scanners++
			if d.Config == nil || !(d.Config.MaxRange > 0) || math.IsInf(d.Config.MaxRange, 1) {
				known = false
			} else {
				b.most = max(b.most, d.Config.MaxRange)
			}
		}
	}
	if len(devices) > 0 {
		out = append(out, Bound{"index", lowest, highest})
	}
	if known && scanners > 0 {
		for _, name := range scanValues {
			out = append(out, Bound{name, math.Inf(-1), b.most})
		}
	}
	return out
}
