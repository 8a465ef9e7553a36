package robots

import (
	"encoding/json"
	"math"
	"testing"

	"callboard/player"
)

// The list of robots has a device's whole geometry: lengths along x first,
// and what is no number as 0.
func TestGeometry(t *testing.T) {
	got, err := json.Marshal(newGeometry(&player.Geometry{
		Pose: player.Pose{X: 1, Yaw: math.NaN()}, Size: player.Size{W: 2, L: 3, H: 4},
		Elements: []player.Pose{{Y: 5}, {Z: 6}}, ElementSizes: []player.Size{{W: 7, L: 8, H: 9}, {}},
	}))
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"pose":[1,0,0,0,0,0],"size":[3,2,4],"elements":[[0,5,0,0,0,0],[0,0,6,0,0,0]],"element_sizes":[[8,7,9],[0,0,0]]}`
	if string(got) != want {
		t.Errorf("got %s\nexpected %s", got, want)
	}
}
