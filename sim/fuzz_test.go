package sim

import (
	"math"
	"os"
	"path/filepath"
	"testing"

	"callboard/sim/worldfile"
)

// FuzzStep: whatever a world says and clients command, stepping it neither
// panics nor gives a pose or range that is no number.
func FuzzStep(f *testing.F) {
	for _, dir := range []string{"testdata/stage-cases/behaviour", "testdata/stage-more"} {
		names, _ := filepath.Glob(dir + "/*.world")
		for _, n := range names {
			if b, err := os.ReadFile(n); err == nil {
				f.Add(string(b), 0.4, -0.2, 1.1, uint8(0x5a))
			}
		}
	}
	f.Fuzz(func(t *testing.T, text string, x, y, a float64, how uint8) {
		if len(text) > 1<<14 {
			t.Skip()
		}
		file, _ := worldfile.Load(func(n string) ([]byte, error) {
			if n == "test.world" {
				return []byte(text), nil
			}
			return nil, os.ErrNotExist
		}, "test.world")
		if file == nil || !small(file) {
			t.Skip()
		}
		w, err := New(Config{World: file})
		if err != nil {
			t.Skip()
		}
		for _, m := range w.Models() {
			m.Subscribe()
		}
		for i := range 12 {
			for _, m := range w.Models() {
				drive(m, x, y, a, how>>(i%4)&7)
			}
			w.Step()
			if i == 8 && how&0x80 != 0 {
				w.Reset()
			}
		}
		for _, m := range w.Models() {
			g := m.Global()
			for _, v := range []float64{g.X, g.Y, g.Z, g.A} {
				if math.IsNaN(v) || math.IsInf(v, 0) {
					t.Fatalf("%s is at %+v", m.Name(), g)
				}
			}
			if r := m.Ranger(); r != nil {
				for i := range r.Sensors() {
					for _, v := range r.Ranges(i) {
						if math.IsNaN(v) {
							t.Fatalf("%s has a range that is no number", m.Name())
						}
					}
				}
			}
		}
	})
}

// small reports whether a world is one that a fuzzer can step many of.
func small(file *worldfile.World) bool {
	work := 0
	for _, m := range file.All() {
		work += 1 + len(m.Body)
		if math.Max(m.Size.X, m.Size.Y) > 30*file.Resolution/0.02 {
			return false // it would be drawn into millions of cells
		}
		if m.Ranger != nil {
			for _, s := range m.Ranger.Sensors {
				work += s.Samples
			}
		}
		if m.Blobfinder != nil {
			work += m.Blobfinder.Width
		}
	}
	return work < 3000
}

// drive commands a model in one of several ways.
func drive(m *Model, x, y, a float64, how uint8) {
	if p := m.Position(); p != nil {
		switch how % 4 {
		case 0:
			p.SetVelocity(x, y, a)
		case 1:
			p.Goto(x, y, a)
		case 2:
			p.Accelerate(x, y, a)
		default:
			p.SetReported(Pose{X: x, Y: y, A: a})
		}
	}
	if g := m.Gripper(); g != nil {
		if how&1 != 0 {
			g.Close()
		} else {
			g.Open()
		}
		g.Lift(how&2 != 0)
	}
	if how == 7 {
		m.SetPose(Pose{X: x, Y: y, A: a})
	}
}
