package main

import (
	"testing"

	"callboard/bridge/robots"
	"callboard/player"

	"github.com/google/go-cmp/cmp"
)

// A recording of a broker has the geometry that its list of robots tells.
func TestGeometryOfABroker(t *testing.T) {
	got := (&robots.Geometry{
		Pose: [6]float64{1, 2, 3, 4, 5, 6}, Size: [3]float64{3, 2, 4},
		Elements: [][6]float64{{0, 5}, {0, 0, 6}}, ElementSizes: [][3]float64{{8, 7, 9}, {}},
	}).Geometry()
	want := &player.Geometry{
		Pose: player.Pose{X: 1, Y: 2, Z: 3, Roll: 4, Pitch: 5, Yaw: 6}, Size: player.Size{W: 2, L: 3, H: 4},
		Elements: []player.Pose{{Y: 5}, {Z: 6}}, ElementSizes: []player.Size{{W: 7, L: 8, H: 9}, {}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
