package worlds

import (
	"math"
	"testing"

	"callboard/sim"
)

// TestRobotsWander: in each world the robots get about, seldom touch anything,
// and none is caught anywhere.
func TestRobotsWander(t *testing.T) {
	cave, _ := Robots(8)
	for _, c := range []struct {
		name string
		open func(string) ([]byte, error)
	}{{"cave.world", Open}, {"office.world", Open}, {"warehouse.world", Open}, {"cave.world", cave}} {
		w := load(t, c.open, c.name)
		ws := sim.NewWanderers(w, 1)
		robots := w.Robots()
		n := len(robots)
		last, way := make([]sim.Pose, n), make([]float64, n)
		places := make([]map[[2]int]bool, n)
		for i, r := range robots {
			last[i], places[i] = r.Global(), map[[2]int]bool{}
		}
		stalls, steps := 0, 1200
		for range steps {
			ws.Drive()
			w.Step()
			for i, r := range robots {
				g := r.Global()
				way[i] += math.Hypot(g.X-last[i].X, g.Y-last[i].Y)
				last[i] = g
				places[i][[2]int{int(math.Floor(g.X / 2)), int(math.Floor(g.Y / 2))}] = true
				if r.Position().Stalled() {
					stalls++
				}
			}
		}
		for i, r := range robots {
			t.Logf("%s %d robots: %s drove %.0f m through %d places", c.name, n, r.Name(), way[i], len(places[i]))
			if way[i] < 15 || len(places[i]) < 4 {
				t.Errorf("%s %d robots: %s drove %.0f m through %d places of 4 m² in 120 s", c.name, n, r.Name(), way[i], len(places[i]))
			}
		}
		if share := float64(stalls) / float64(steps*n); share > 0.03 {
			t.Errorf("%s %d robots: stalled in %.1f %% of the time", c.name, n, 100*share)
		} else {
			t.Logf("stalled %.2f %%", 100*share)
		}
	}
}
