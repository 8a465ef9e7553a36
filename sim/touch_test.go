package sim

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// walkCells is follow step by step, without a window.
func walkCells(ax, ay, bx, by int64, f func(x, y int64)) {
	dx, dy := abs(bx-ax), abs(by-ay)
	sx, sy := sign(bx-ax), sign(by-ay)
	if dx == 0 && dy == 0 {
		f(ax, ay)
	}
	balance := dy - dx
	for n := dx + dy; n > 0; n-- {
		f(ax, ay)
		if balance < 0 {
			ax += sx
			balance += 2 * dy
		} else {
			ay += sy
			balance -= 2 * dx
		}
	}
}

// TestFollow: the cells of a line within a window are those of a walk along the
// whole line that lie in it.
func TestFollow(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := rapid.Int64Range(-40, 40)
		ax, ay, bx, by := c.Draw(t, "ax"), c.Draw(t, "ay"), c.Draw(t, "bx"), c.Draw(t, "by")
		w := toucher{perMetre: 1, x0: c.Draw(t, "x0"), y0: c.Draw(t, "y0")}
		w.x1, w.y1 = w.x0+rapid.Int64Range(0, 30).Draw(t, "w"), w.y0+rapid.Int64Range(0, 30).Draw(t, "h")
		want, got := map[[2]int64]bool{}, map[[2]int64]bool{}
		walkCells(ax, ay, bx, by, func(x, y int64) {
			if x >= w.x0 && x <= w.x1 && y >= w.y0 && y <= w.y1 {
				want[[2]int64{x, y}] = true
			}
		})
		g := segment{ax: float64(ax) + 0.5, ay: float64(ay) + 0.5, bx: float64(bx) + 0.5, by: float64(by) + 0.5}
		w.along(&g, func(x, y int64) bool {
			if got[[2]int64{x, y}] {
				t.Fatalf("cell %d, %d twice", x, y)
			}
			got[[2]int64{x, y}] = true
			return false
		})
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("cells (-walked +followed):\n%s", diff)
		}
	})
}

// TestTableOfCells: a cell has what was marked in it last, whatever else is in
// the table, and nothing after a wipe.
func TestTableOfCells(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var w toucher
		for range 2 {
			want := map[[2]int64]int32{}
			c := rapid.Int64Range(-maxCell, maxCell)
			x, y := c.Draw(t, "x"), c.Draw(t, "y")
			for i := range rapid.SampledFrom([]int{1, 100, 2000}).Draw(t, "marks") {
				at := [2]int64{max(x-int64(i%40), -maxCell), max(y-int64(i*i%90), -maxCell)}
				w.mark(at[0], at[1], 0, float64(i))
				want[at] = int32(len(w.marks))
			}
			for at, head := range want {
				if got := w.marked(at[0], at[1]); got != head {
					t.Fatalf("cell %v has mark %d, expected %d", at, got, head)
				}
			}
			if at := [2]int64{y, x}; want[at] == 0 && w.marked(at[0], at[1]) != 0 {
				t.Fatalf("cell %v has a mark", at)
			}
			w.wipe()
			if w.marked(x, y) != 0 {
				t.Fatal("there are marks after a wipe")
			}
		}
	})
}

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
