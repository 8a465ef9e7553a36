package iface_test

import (
	"testing"

	"callboard/player"
	"callboard/player/iface"
)

// Stock clients read as many sizes of a ranger's elements as poses, whatever
// their count says.
func TestRangersHaveASizeForEachPose(t *testing.T) {
	for _, a := range iface.Answers(player.InterfaceRanger, &player.Geometry{Elements: make([]player.Pose, 8)}, nil) {
		if g, ok := a.Payload.(*iface.RangerGeom); !ok || len(g.ElementPoses) != 8 || len(g.ElementSizes) != 8 {
			t.Errorf("%d: %+v, expected 8 poses and sizes", a.Subtype, a.Payload)
		}
	}
}
