package sim

import "testing"

// TestLargeBody: something large turns by the cells of the world's resolution,
// and without making garbage.
func TestLargeBody(t *testing.T) {
	for _, c := range []struct {
		gap   string
		stall bool
	}{{"0.01", true}, {"0.05", false}} {
		w := loadText(t, `position ( name "hall" size [ 200 200 1 ] ) model ( size [ 0.4 0.4 1 ] pose [ 100.2 0 0 0 ] origin [ `+c.gap+` 0 0 0 ] )`)
		hall := w.Find("hall")
		hall.Subscribe()
		hall.Position().SetVelocity(0, 0, 1e-6)
		w.Step()
		w.Step()
		if hall.Position().Stalled() != c.stall {
			t.Errorf("%s m beside it: stalled %v, expected %v", c.gap, !c.stall, c.stall)
		}
		hall.Position().SetVelocity(0, 0, 0.001)
		if n := testing.AllocsPerRun(20, w.Step); n > 0.2 {
			t.Errorf("%v allocations a step", n)
		}
	}
}
