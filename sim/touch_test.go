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
