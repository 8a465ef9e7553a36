package main

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"callboard/sim"
)

func TestIslands(t *testing.T) {
	ids := []string{"b1", "b2", "b3", "b4", "b5"}
	got := islandsOf(ids, []adhocLink{{"b1", "b4", 1}, {"b3", "b4", 2}, {"b2", "b5", 1}})
	if diff := cmp.Diff(map[string]int{"b1": 0, "b3": 0, "b4": 0, "b2": 1, "b5": 1}, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// TestShareOfBeacons: beacons arrive the less often the farther they go, as far as the
// range, and with --sight not through walls.
func TestShareOfBeacons(t *testing.T) {
	f := &field{reach: 10, walls: [][2]sim.Point{{{X: 3, Y: -1}, {X: 3, Y: 1}}}}
	at := func(x, y float64) sim.Point { return sim.Point{X: x, Y: y} }
	for _, tt := range []struct {
		sight bool
		to    sim.Point
		want  float64
	}{
		{false, at(5, 0), 1}, {false, at(0, 8), 0.75}, {false, at(10, 0), 0.5}, {false, at(10.1, 0), 0},
		{true, at(5, 0), 0}, {true, at(4, 4), 1}, {true, at(2, 0), 1},
	} {
		f.sight = tt.sight
		if got := f.share(at(0, 0), tt.to); got < tt.want-1e-9 || got > tt.want+1e-9 {
			t.Errorf("with sight %v to %v: %v; expected %v", tt.sight, tt.to, got, tt.want)
		}
	}
}
