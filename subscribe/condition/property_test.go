package condition

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"testing"

	"callboard/subscribe/protocol"
	"callboard/subscribe/view"

	"github.com/expr-lang/expr"
	"pgregory.net/rapid"
)

// What we evaluate, in closures or in expr's machine with our environment,
// gives the same as plain expr with the same values in a map.
func TestSameAsExpr(t *testing.T) {
	c := newCompiler(t)
	accepted, closures := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		text := generator{t}.bool(rapid.IntRange(0, 4).Draw(t, "depth"), false)
		p, problem := c.Condition(text)
		if problem != nil {
			if problem.Code != protocol.TooCostly {
				t.Fatalf("%s: %v", text, problem)
			}
			return
		}
		accepted++
		if p.expr == nil {
			closures++
		}
		e := drawEnv(t)
		plain, err := expr.Compile(text, expr.Env(plainEnv(c, e)))
		if err != nil {
			t.Fatalf("%s: plain expr refuses: %v", text, err)
		}
		want, wantErr := expr.Run(plain, plainEnv(c, e))
		if wantErr != nil {
			want = false
		}
		m := &Machine{}
		got, gotErr := p.Test(m, e, nil)
		if got != want || (gotErr != nil) != (wantErr != nil) {
			t.Fatalf("%s = %v, %v; plain expr: %v, %v\nlaser %+v\nposition %+v", text, got, gotErr, want, wantErr, e.Laser, e.Position)
		}
	})
	if accepted == 0 || closures == 0 || closures == accepted {
		t.Errorf("of %d conditions %d were closures: the test does not see both", accepted, closures)
	}
}

// A plan finds all readings for which a condition holds, an exact one no
// others; and a condition whose plan says never, never holds.
func TestPlan(t *testing.T) {
	c := newCompiler(t)
	exact, found, nothing := 0, 0, 0
	rapid.Check(t, func(t *rapid.T) {
		text := generator{t}.bool(rapid.IntRange(0, 3).Draw(t, "depth"), false)
		p, problem := c.Condition(text)
		if problem != nil {
			return
		}
		e := drawEnv(t)
		holds, _ := p.Test(&Machine{}, e, nil)
		if names, ok := p.Robots(); ok && holds && !slices.Contains(names, e.Robot) {
			t.Fatalf("%s holds for %s, expected one of %q", text, e.Robot, names)
		}
		plan := p.Plan(e.Robot, rapid.Bool().Draw(t, "robot"))
		met := false
		for _, a := range plan.Accesses {
			v := p.value(uint16(a.Value)).Read(e)
			met = met || a.Lo <= v && v <= a.Hi || a.NaN && math.IsNaN(v)
		}
		switch {
		case plan.Never && holds:
			t.Fatalf("%s holds, planned never", text)
		case plan.Exact && met != holds:
			t.Fatalf("%s is %v, exact plan %+v", text, holds, plan)
		case len(plan.Accesses) > 0 && holds && !met:
			t.Fatalf("%s holds, plan %+v", text, plan)
		}
		switch {
		case plan.Exact:
			exact++
		case len(plan.Accesses) > 0:
			found++
		case !plan.Never:
			nothing++
		}
	})
	if exact == 0 || found == 0 || nothing == 0 {
		t.Errorf("%d exact, %d found, %d not: the test does not see all", exact, found, nothing)
	}
}

func plainEnv(c *Compiler, e *Env) map[string]any {
	number := func(v any) float64 {
		if i, ok := v.(int); ok {
			return float64(i)
		}
		return v.(float64)
	}
	return map[string]any{
		"laser": e.Laser, "sonar": e.Sonar, "position": e.Position, "prev": &e.Prev,
		"robot": e.Robot, "world": e.World, "interface": e.Interface, "index": e.Index, "time": e.Time,
		"sector":     func(v, from, to any) float64 { return sectorOf(v.(view.View), number(from), number(to)) },
		"distance":   func(x, y any) float64 { return math.Hypot(e.Position.X-number(x), e.Position.Y-number(y)) },
		"inside":     func(name string) bool { return c.zones[name].has(e.Position.X, e.Position.Y) },
		"deg":        func(a any) float64 { return number(a) * (math.Pi / 180) },
		"angle_diff": func(a, b any) float64 { return angleDiff(number(a), number(b)) },
	}
}

var odd = []float64{0, math.Copysign(0, -1), 1, 0.5, -1, 2, 8, math.NaN(), math.Inf(1), math.Inf(-1), 1e300, 5e-324}

func drawFloat(t *rapid.T) float64 {
	return rapid.OneOf(rapid.SampledFrom(odd), rapid.Float64Range(-3, 9)).Draw(t, "float")
}

func drawEnv(t *rapid.T) *Env {
	laser := func() *view.Laser {
		n := rapid.SampledFrom([]int{0, 1, 2, 7}).Draw(t, "ranges")
		l := &view.Laser{Count: n, Min: drawFloat(t), Max: drawFloat(t), Bearing: drawFloat(t), AngleMin: -1, AngleMax: 1, MaxRange: 8, Front: drawFloat(t), Index: 1}
		for range n {
			l.Ranges = append(l.Ranges, drawFloat(t))
		}
		if n > 1 {
			l.Resolution = 2 / float64(n-1)
		}
		return l
	}
	position := func() *view.Position {
		return &view.Position{X: drawFloat(t), Y: drawFloat(t), Yaw: drawFloat(t), Speed: drawFloat(t), Stall: rapid.Bool().Draw(t, "stall")}
	}
	sonar := func() *view.Sonar {
		return &view.Sonar{Ranges: []float64{drawFloat(t)}, Count: 1, Min: drawFloat(t), Nearest: rapid.IntRange(-1, 3).Draw(t, "nearest")}
	}
	e := &Env{Robot: rapid.SampledFrom([]string{"r1", "r2", ""}).Draw(t, "robot"), Interface: "laser", Index: rapid.IntRange(0, 2).Draw(t, "index"), Time: drawFloat(t)}
	e.State = view.State{Laser: laser(), Sonar: sonar(), Position: position()}
	e.Prev = view.State{Laser: laser(), Sonar: sonar(), Position: position()}
	e.Have, e.HavePrev = ^view.Kinds(0), ^view.Kinds(0)
	return e
}

// generator writes conditions that are right.
type generator struct{ t *rapid.T }

func (g generator) pick(options ...func() string) string {
	return rapid.SampledFrom(options).Draw(g.t, "part")()
}

func (g generator) of(texts ...string) string { return rapid.SampledFrom(texts).Draw(g.t, "text") }

// bool writes what gives true or false; in a predicate # stands for a number.
func (g generator) bool(depth int, in bool) string {
	if depth == 0 {
		return g.of("true", "position.stall", "prev.position.stall", `inside("dock")`, "(laser.min < 1)", `(robot == "r1")`, "(index == 1)", "(sonar.nearest in [0, 1])")
	}
	d := depth - 1
	if !in && rapid.Bool().Draw(g.t, "known") {
		return g.known()
	}
	compare := func() string {
		return "(" + g.number(d, in) + g.of(" < ", " <= ", " > ", " >= ", " == ", " != ") + g.number(d, in) + ")"
	}
	options := []func() string{
		compare, compare,
		func() string {
			return "(" + g.bool(d, in) + g.of(" && ", " || ", " and ", " or ", " == ", " != ") + g.bool(d, in) + ")"
		},
		func() string { return g.of("!", "not ") + "(" + g.bool(d, in) + ")" },
		func() string { return "(" + g.bool(d, in) + " ? " + g.bool(d, in) + " : " + g.bool(d, in) + ")" },
		func() string {
			return "(robot " + g.of("==", "!=", "<", "contains", "startsWith", "endsWith", "matches") + g.of(` "r1"`, ` "r"`, ` ""`) + ")"
		},
		func() string {
			return "(" + g.of("robot", `"r1"`) + g.of(" in ", " not in ") + g.of(`["r1", "x"]`, `["r2"]`) + ")"
		},
		func() string {
			return "(" + g.number(d, in) + g.of(" in ", " not in ") + g.of("[1, 2]", "[0.5, 1]", "[-1, 0, 8.0]") + ")"
		},
		func() string { return "(" + g.number(d, in) + " < " + g.number(d, in) + " <= " + g.number(d, in) + ")" },
	}
	if !in {
		options = append(options, func() string {
			return g.of("any", "all", "none", "one") + "(" + g.list() + ", " + g.bool(d, true) + ")"
		})
	}
	return g.pick(options...)
}

// known writes what the index knows.
func (g generator) known() string {
	op := func() string { return g.of(" < ", " <= ", " > ", " >= ", " == ", " != ") }
	constant := func() string { return g.of("0", "1", "2", "0.5", "-1", "8", "deg(30)", "1e300", "-0.0", "5e-324") }
	list := func() string { return g.of("laser.ranges", "prev.laser.ranges", "sonar.ranges") }
	value := func() string {
		return g.of("laser.min", "laser.front", "laser.count", "prev.laser.min", "position.x", "time", "index", "sonar.nearest", "len(laser.ranges)",
			"sector(laser, -20, 20)", "(position.x - prev.position.x)", "distance(1, 1)", "abs(position.yaw)")
	}
	element := func() string {
		return g.pick(
			func() string { return "#" + op() + constant() },
			func() string { return constant() + op() + "#" },
			func() string { return "!(#" + op() + constant() + ")" },
			func() string { return "# > " + constant() + " && # <= " + constant() })
	}
	count := func() string { return "count(" + list() + ", " + element() + ")" }
	return "(" + g.pick(
		func() string { return value() + op() + constant() },
		func() string { return constant() + op() + value() },
		func() string { return "!(" + value() + op() + constant() + ")" },
		func() string {
			return value() + g.of(" > ", " >= ") + constant() + " && " + value() + g.of(" < ", " <= ") + constant()
		},
		func() string {
			return "robot" + g.of(" == ", " != ") + g.of(`"r1"`, `"r2"`, `"x"`) + " && " + value() + op() + constant()
		},
		func() string { return g.of("any", "all", "none", "one") + "(" + list() + ", " + element() + ")" },
		func() string { return count() + op() + g.of("0", "1", "2", "3", "-1", "1.5") },
		func() string { return count() + g.of(" in ", " not in ") + "[0, 2]" },
	) + ")"
}

func (g generator) list() string {
	return g.of("laser.ranges", "prev.laser.ranges", "sonar.ranges", "laser.ranges[1:3]", "filter(laser.ranges, # > 0)")
}

func (g generator) number(depth int, in bool) string {
	if depth == 0 {
		leaves := []string{"laser.min", "laser.max", "laser.bearing", "laser.count", "laser.index", "laser.front", "prev.laser.min", "sonar.nearest", "sonar.min",
			"position.x", "position.speed", "prev.position.x", "time", "index", "0", "1", "2.5", "0.5", "8"}
		if in {
			leaves = append(leaves, "#", "#", "#")
		}
		return g.of(leaves...)
	}
	d := depth - 1
	options := []func() string{
		func() string {
			return "(" + g.number(d, in) + g.of(" + ", " - ", " * ", " / ", " ** ") + g.number(d, in) + ")"
		},
		func() string { return g.of("-", "+") + "(" + g.number(d, in) + ")" },
		func() string { return g.of("abs", "floor", "ceil", "round", "deg") + "(" + g.number(d, in) + ")" },
		func() string {
			return g.of("distance", "angle_diff", "min", "max") + "(" + g.number(d, in) + ", " + g.number(d, in) + ")"
		},
		func() string {
			return "(" + g.of("laser.count", "index", "len(laser.ranges)") + " % " + g.of("2", "3", "laser.index", "(index - 1)") + ")"
		},
		func() string { return strconv.Itoa(rapid.IntRange(-2, 9).Draw(g.t, "int")) },
		func() string { return "laser.ranges[" + strconv.Itoa(rapid.IntRange(-3, 3).Draw(g.t, "at")) + "]" },
	}
	if !in {
		options = append(options,
			func() string { return "count(" + g.list() + ", " + g.bool(d, true) + ")" },
			func() string { return g.of("sum", "mean", "median") + "(" + g.list() + ")" },
			func() string {
				return fmt.Sprintf("sector(%s, %s, %s)", g.of("laser", "sonar", "prev.laser"), g.number(d, in), g.number(d, in))
			},
		)
	}
	return g.pick(options...)
}
