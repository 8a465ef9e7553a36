package sim

import (
	"math"
	"testing"
)

// TestGotoAtAnyHeading: an omnidirectional base comes to its goal however it
// stands, no faster along its axes than Stage's goes; there real Stage runs away,
// or takes what is behind it at 1 m/s.
func TestGotoAtAnyHeading(t *testing.T) {
	for _, start := range []float64{0, 1.5, math.Pi, -2.5} {
		w := loadText(t, `position ( name "r" drive "omni" localization "gps" )`)
		m := w.Find("r")
		m.SetPose(Pose{A: start})
		m.Subscribe()
		w.Step() // the reported pose is one step late
		m.Position().Goto(-2, 1.5, 2)
		for range 200 {
			w.Step()
			if v := m.Position().Velocity(); math.Abs(v.X) > 0.4+1e-9 || math.Abs(v.Y) > 0.4+1e-9 || math.Abs(v.A) > 1+1e-9 {
				t.Fatalf("heading %v at first: velocity %+v", start, v)
			}
		}
		if p := m.Pose(); math.Hypot(p.X+2, p.Y-1.5) > 1e-3 || math.Abs(p.A-2) > 1e-3 {
			t.Errorf("heading %v at first: sent to -2, 1.5, 2, and is at %+v", start, p)
		}
	}
}
