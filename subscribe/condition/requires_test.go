package condition_test

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"callboard/subscribe/condition"
)

// TestRequires: what must hold is told, what need not is not.
func TestRequires(t *testing.T) {
	compiler, err := condition.New(condition.Config{})
	if err != nil {
		t.Fatal(err)
	}
	inf := math.Inf(1)
	below := func(v float64) float64 { return math.Nextafter(v, -inf) }
	number := func(name string, lo, hi float64) condition.Requirement {
		return condition.Requirement{Name: name, Lo: lo, Hi: hi}
	}
	text := func(name string, texts ...string) condition.Requirement {
		return condition.Requirement{Name: name, Texts: texts}
	}
	for _, c := range []struct {
		condition string
		want      []condition.Requirement
	}{
		{"true", nil},
		{"laser.min < 1", []condition.Requirement{number("laser.min", -inf, below(1))}},
		{"laser.min >= 10 && position.x > 0 || laser.min > 20", nil},
		{"laser.min >= 10 && (position.x >= 1 || position.y >= 1)", []condition.Requirement{number("laser.min", 10, inf)}},
		{"!(laser.min < 10)", nil}, // also what is no number
		{`robot == "r1"`, []condition.Requirement{text("robot", "r1")}},
		{`robot == "r1" || robot == "r2"`, []condition.Requirement{text("robot", "r1", "r2")}},
		{`robot in ["r1", "r2"] && robot != "r2"`, []condition.Requirement{text("robot", "r1")}},
		{`robot != "r1"`, nil},
		{`robot == "r1" || laser.min < 1`, nil},
		{`world == "cave" && interface == "laser" && index == 1`, []condition.Requirement{text("world", "cave"), text("interface", "laser"), number("index", 1, 1)}},
		{`robot == "r1" && any(laser.ranges, # * 2 < 1)`, []condition.Requirement{text("robot", "r1")}},
		{`prev.laser.min >= 10`, nil},
	} {
		p, err := compiler.Condition(c.condition)
		if err != nil {
			t.Fatalf("%s: %v", c.condition, err)
		}
		if diff := cmp.Diff(c.want, p.Requires()); diff != "" {
			t.Errorf("%s: %s", c.condition, diff)
		}
	}
}
