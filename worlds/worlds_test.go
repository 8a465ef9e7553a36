package worlds

import (
	"io/fs"
	"strconv"
	"testing"

	"callboard/sim"
	"callboard/sim/worldfile"
)

// load loads a world without a single problem.
func load(t *testing.T, open func(string) ([]byte, error), name string) *sim.World {
	t.Helper()
	file, problems := worldfile.Load(open, name)
	for _, p := range problems {
		t.Errorf("%v", p)
	}
	if file == nil {
		t.FailNow()
	}
	w, err := sim.New(sim.Config{World: file})
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// TestBundledWorldsLoad: every bundled world and every made one loads without a
// warning, and its robots are r0, r1, …
func TestBundledWorldsLoad(t *testing.T) {
	names, err := fs.Glob(FS, "*.world")
	if err != nil || len(names) < 2 {
		t.Fatal(names, err)
	}
	for _, name := range names {
		w := load(t, Open, name)
		if len(w.Robots()) < 3 {
			t.Errorf("%s has %d robots", name, len(w.Robots()))
		}
		checkRobots(t, name, w)
	}
	for _, n := range []int{1, 3, most, most + 1, 300} {
		open, name := Robots(n)
		w := load(t, open, name)
		if len(w.Robots()) != n {
			t.Errorf("%s has %d robots, asked for %d", name, len(w.Robots()), n)
		}
		checkRobots(t, name, w)
	}
}

// checkRobots: named in order, with a scanner, and none begins in contact.
func checkRobots(t *testing.T, name string, w *sim.World) {
	t.Helper()
	for i, r := range w.Robots() {
		if want := "r" + strconv.Itoa(i); r.Name() != want {
			t.Errorf("%s: robot %q, expected %q", name, r.Name(), want)
		}
		if len(r.Rangers()) == 0 || r.Rangers()[0].Ranger().Sensors()[0].Samples < 180 {
			t.Errorf("%s: robot %s has no scanner", name, r.Name())
		}
		r.Subscribe()
		r.Position().SetVelocity(0, 0, 0.1)
	}
	w.Step()
	for _, r := range w.Robots() {
		if r.Position().Stalled() {
			t.Errorf("%s: robot %s begins in contact", name, r.Name())
		}
	}
}
