package sim

import (
	"math"
	"testing"
)

// carrying is a world in which r holds the puck after 30 steps.
const carrying = `
model ( name "puck" size [0.1 0.1 0.1] pose [0.35 0 0 0] gripper_return 1 )
define r position ( size [0.3 0.3 0.2] stack_children 0 gripper_return 1 gripper ( name "g" pose [0.25 0 0 0] size [0.2 0.3 0.2] ) )
r ( name "r" )
r ( name "s" pose [0.75 0 0 180] )
position ( name "eye" pose [0.3 2 0 -90] size [0.2 0.2 0.05] stack_children 0 ranger ( sensor ( range [0 5] samples 1 pose [0 0 0.03 0] size [0 0 0] ) ) )
`

func run(w *World, n int) {
	for range n {
		w.Step()
	}
}

func take(t *testing.T) (w *World, puck, r *Model) {
	t.Helper()
	w = loadText(t, carrying)
	puck, r = w.Find("puck"), w.Find("r")
	r.Subscribe()
	g := w.Find("r.g")
	g.Subscribe()
	g.Gripper().Close()
	run(w, 30)
	if g.Gripper().Held() != puck || puck.Parent() != g || puck.Root() != r {
		t.Fatalf("holds %v; the puck sits on %v", g.Gripper().Held(), puck.Parent())
	}
	return w, puck, r
}

// TestHeldThing: what is held moves with the robot, does not stop it, is seen
// where it is now, and stays where it is put down.
func TestHeldThing(t *testing.T) {
	w, puck, r := take(t)
	eye := w.Find("eye.ranger:0")
	eye.Subscribe()
	r.Position().SetVelocity(-0.5, 0, 0)
	run(w, 10)
	if r.Position().Stalled() || math.Abs(puck.Global().X+0.25) > 1e-9 {
		t.Fatalf("the puck is at %+v, stall %v", puck.Global(), r.Position().Stalled())
	}
	w.Find("eye").SetPose(Pose{X: puck.Global().X, Y: 2, A: -math.Pi / 2})
	r.Position().SetVelocity(0, 0, 0)
	run(w, 1)
	// The paddle is nearer than the puck.
	if d := eye.Ranger().Ranges(0)[0]; math.Abs(d-1.94) > 0.02 && math.Abs(d-1.85) > 0.02 {
		t.Errorf("the eye sees something at %v m", d)
	}
	w.Find("r.g").Gripper().Open()
	run(w, 1)
	if puck.Parent() != nil || puck.Root() != puck || len(w.Find("r.g").Children()) != 0 {
		t.Fatal("the puck was not put down")
	}
	r.Position().SetVelocity(-0.5, 0, 0)
	run(w, 10)
	if math.Abs(puck.Global().X+0.25) > 1e-9 {
		t.Errorf("the puck went to %+v", puck.Global())
	}
	run(w, 10)
	if d := eye.Ranger().Ranges(0)[0]; math.Abs(d-1.95) > 0.02 {
		t.Errorf("the eye sees the puck at %v m, expected 1.95", d)
	}
	r.Position().SetVelocity(0.5, 0, 0)
	run(w, 30)
	if !r.Position().Stalled() {
		t.Error("the robot drove through the puck that it put down")
	}
}

// TestTakingAgainAndAgain: what is put down is what it was before.
func TestTakingAgainAndAgain(t *testing.T) {
	w, puck, _ := take(t)
	g, roots := w.Find("r.g").Gripper(), len(w.roots)
	for range 5 {
		g.Open()
		run(w, 30)
		if puck.Parent() != nil {
			t.Fatal("not put down")
		}
		g.Close()
		run(w, 30)
		if g.Held() != puck {
			t.Fatal("not taken again")
		}
	}
	if len(w.roots) != roots {
		t.Errorf("%d trees have become %d", roots, len(w.roots))
	}
}

// TestGripperNeverTakesItsOwnRobot: what carries a gripper is not felt by it.
func TestGripperNeverTakesItsOwnRobot(t *testing.T) {
	w := loadText(t, `position ( name "r" gripper_return 1 size [2 2 0.2] stack_children 0
		gripper ( name "g" gripper_return 1 pose [0.4 0 0 0] size [1.5 2.2 0.2] ) )`)
	g := w.Find("r.g")
	g.Subscribe()
	g.Gripper().Close()
	run(w, 30)
	if g.Gripper().Held() != nil || w.Find("r").Parent() != nil {
		t.Fatal("the gripper has taken its robot")
	}
}

// TestThingIsTakenFromAnother: a thing has one holder.
func TestThingIsTakenFromAnother(t *testing.T) {
	w, puck, _ := take(t)
	w.Find("s").SetPose(Pose{X: 0.5, A: math.Pi})
	g := w.Find("s.g")
	g.Subscribe()
	g.Gripper().Close()
	run(w, 30)
	if g.Gripper().Held() != puck || w.Find("r.g").Gripper().Held() != nil || puck.Root() != w.Find("s") {
		t.Fatalf("s holds %v, r holds %v", g.Gripper().Held(), w.Find("r.g").Gripper().Held())
	}
}

// TestResetWhileHeld: everything is back in its place and does what it did the
// first time.
func TestResetWhileHeld(t *testing.T) {
	w, puck, r := take(t)
	r.Position().SetVelocity(-0.5, 0.1, 1)
	run(w, 10)
	w.Find("eye").SetFiducialReturn(4)
	w.Reset()
	if puck.Parent() != nil || puck.Global() != puck.Spec().Pose || r.Global() != r.Spec().Pose || w.Find("eye").FiducialReturn() != 0 {
		t.Fatalf("puck on %v at %+v, robot at %+v", puck.Parent(), puck.Global(), r.Global())
	}
	g := w.Find("r.g").Gripper()
	if g.Held() != nil || g.Paddles() != PaddlesOpen || g.Closed() != 0 {
		t.Fatalf("the gripper is %v, closed %v", g.Paddles(), g.Closed())
	}
	g.Close()
	run(w, 30)
	if g.Held() != puck {
		t.Error("does not take it again")
	}
}

// TestGripperBody: the paddles are obstacles where they are.
func TestGripperBody(t *testing.T) {
	w := loadText(t, `position ( name "r" size [0.3 0.3 0.2] stack_children 0 gripper ( name "g" pose [0.25 0 0 0] size [0.2 0.4 0.2] ) )
		position ( name "p" size [0.05 0.05 0.05] pose [0.6 0 0 180] )`)
	p, g := w.Find("p"), w.Find("r.g")
	p.Subscribe()
	g.Subscribe()
	p.Position().SetVelocity(0.1, 0, 0)
	run(w, 60)
	if x := p.Global().X; x > 0.3 || x < 0.2 {
		t.Errorf("between open paddles p comes to x %v", x)
	}
	p.SetPose(Pose{X: 0.6, A: math.Pi})
	g.Gripper().Close()
	run(w, 60)
	if x := p.Global().X; x < 0.35 || x > 0.4 {
		t.Errorf("before closed paddles p stops at x %v", x)
	}
}
