package condition

import (
	"math"
	"slices"
	"testing"

	"callboard/subscribe/condition/conditiontest"
	"callboard/subscribe/protocol"
	"callboard/subscribe/view"

	"github.com/expr-lang/expr"
	"pgregory.net/rapid"
)

// What we evaluate, in closures or in expr's machine with our environment,
// has the same result as plain expr with the same values in a map.
func TestSameAsExpr(t *testing.T) {
	c := newCompiler(t)
	accepted, closures := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		text := conditiontest.Condition(t, 4)
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
		e := drawEnv(t, text)
		program, err := expr.Compile(text, expr.Env(plain(e)))
		if err != nil {
			t.Fatalf("%s: plain expr refuses: %v", text, err)
		}
		want, wantErr := expr.Run(program, plain(e))
		if wantErr != nil {
			want = false
		}
		m := &Machine{}
		got, gotErr := p.Test(m, e, nil)
		if got != want || (gotErr != nil) != (wantErr != nil) {
			t.Fatalf("%s = %v, %v; plain expr: %v, %v\nlaser %+v\nposition %+v", text, got, gotErr, want, wantErr, e.Laser, e.Position)
		}
	})
	if !testing.Short() && (accepted == 0 || closures == 0 || closures == accepted) { // short runs draw too few
		t.Errorf("of %d conditions %d were closures: the test does not see both", accepted, closures)
	}
}

// A plan finds all readings for which a condition holds, an exact one no
// others; and a condition whose plan says never, never holds.
func TestPlan(t *testing.T) {
	c := newCompiler(t)
	exact, found, nothing := 0, 0, 0
	rapid.Check(t, func(t *rapid.T) {
		text := conditiontest.Condition(t, 3)
		p, problem := c.Condition(text)
		if problem != nil {
			return
		}
		e := drawEnv(t, text)
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
		for _, g := range plan.Guards {
			if v := p.value(uint16(g.Value)).Read(e); holds && !(g.Lo <= v && v <= g.Hi) {
				t.Fatalf("%s holds, guard %+v", text, g)
			}
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
	if !testing.Short() && (exact == 0 || found == 0 || nothing == 0) {
		t.Errorf("%d exact, %d found, %d not: the test does not see all", exact, found, nothing)
	}
}

// plain is what plain expr sees.
func plain(e *Env) map[string]any {
	return conditiontest.Plain{Now: e.State, Prev: e.Prev, Robot: e.Robot, World: e.World, Interface: e.Interface, Index: e.Index, Time: e.Time}.Env()
}

func drawEnv(t *rapid.T, text string) *Env {
	laser := func() *view.Laser {
		n := rapid.SampledFrom([]int{0, 1, 2, 7}).Draw(t, "ranges")
		l := &view.Laser{Count: n, Min: conditiontest.Float(t), Max: conditiontest.Float(t), Bearing: conditiontest.Float(t), AngleMin: -1, AngleMax: 1, MaxRange: 8, Front: conditiontest.Float(t), Stamp: view.Stamp{Index: 1}}
		for range n {
			l.Ranges = append(l.Ranges, conditiontest.Float(t))
		}
		if n > 1 {
			l.Resolution = 2 / float64(n-1)
		}
		return l
	}
	position := func() *view.Position {
		return &view.Position{X: conditiontest.Float(t), Y: conditiontest.Float(t), Yaw: conditiontest.Float(t), Speed: conditiontest.Float(t), Stall: rapid.Bool().Draw(t, "stall")}
	}
	sonar := func() *view.Sonar {
		return &view.Sonar{Ranges: []float64{conditiontest.Float(t)}, Count: 1, Min: conditiontest.Float(t), Nearest: rapid.IntRange(-1, 3).Draw(t, "nearest")}
	}
	e := &Env{Robot: rapid.SampledFrom([]string{"r1", "r2", ""}).Draw(t, "robot"), Interface: "laser", Index: rapid.IntRange(0, 2).Draw(t, "index"), Time: conditiontest.Float(t)}
	e.State = view.State{Laser: laser(), Sonar: sonar(), Position: position()}
	e.Prev = view.State{Laser: laser(), Sonar: sonar(), Position: position()}
	conditiontest.Fill(t, &e.State, text)
	conditiontest.Fill(t, &e.Prev, text)
	e.Have, e.HavePrev = ^view.Kinds(0), ^view.Kinds(0)
	return e
}
