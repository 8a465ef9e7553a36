package overlay

import (
	"math"
	"testing"
)

// TestCanMeet: a requirement is out of the question only where that is certain.
func TestCanMeet(t *testing.T) {
	inf := math.Inf(1)
	r := &robot{name: "r1", world: "cave", devices: []string{"ranger:0", "position2d:0"}, bounds: []Bound{{"laser.min", -inf, 8}, {"index", 0, 0}}}
	unknown := &robot{name: "r2"}
	for _, c := range []struct {
		q             Requirement
		met, unknowns bool
	}{
		{Requirement{Name: "laser.min", Lo: -inf, Hi: 1}, true, true},
		{Requirement{Name: "laser.min", Lo: 8, Hi: inf}, true, true},
		{Requirement{Name: "laser.min", Lo: 8.1, Hi: inf}, false, true},
		{Requirement{Name: "laser.bearing", Lo: 99, Hi: inf}, true, true},
		{Requirement{Name: "index", Lo: 1, Hi: 1}, false, true},
		{Requirement{Name: "robot", Texts: []string{"r1", "r7"}}, true, false},
		{Requirement{Name: "robot", Texts: []string{"r3"}}, false, false},
		{Requirement{Name: "robot", Texts: []string{}}, false, false},
		{Requirement{Name: "world", Texts: []string{"office"}}, false, true},
		{Requirement{Name: "world", Texts: []string{""}}, true, true},
		{Requirement{Name: "interface", Texts: []string{"laser"}}, false, true},
		{Requirement{Name: "interface", Texts: []string{"sonar", "ranger"}}, true, true},
		{Requirement{Name: "weather", Texts: []string{"fine"}}, true, true},
	} {
		if r.canMeet(&c.q) != c.met {
			t.Errorf("%+v: %v", c.q, !c.met)
		}
		if unknown.canMeet(&c.q) != c.unknowns {
			t.Errorf("%+v of a robot of which nothing is known: %v", c.q, !c.unknowns)
		}
	}
}
