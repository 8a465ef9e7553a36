package bench

import (
	"fmt"
	"math"
	"strings"
	"time"
)

// scanRange is how far the crowd's scanners see, m.
const scanRange = 8.0

// world writes the crowd's world. Real Stage, which wanders by a controller of
// its own, ends by itself after quit of simulated time; 0 is never.
func (c crowd) world(quit time.Duration) string {
	side := max(int(math.Ceil(math.Sqrt(float64(c.robots)))), 1)
	width := float64(side+1) * c.spacing
	var b strings.Builder
	fmt.Fprintf(&b, "resolution %g\ninterval_sim %g\nspeedup -1\n", c.resolution, float64(c.interval)/float64(time.Millisecond))
	if quit > 0 {
		fmt.Fprintf(&b, "quit_time %g\n", quit.Seconds())
	}
	fmt.Fprintf(&b, `define mote position
(
  size [ 0.44 0.38 0.22 ]
  drive "diff"
  ctrl "wander"
  ranger ( pose [ 0 0 -0.08 0 ] sensor ( range [ 0 %g ] fov 180 samples %d ) )
)
`, scanRange, c.samples)
	for i, wall := range [][4]float64{
		{0.2, width + 0.2, width / 2, 0}, {0.2, width + 0.2, -width / 2, 0},
		{width + 0.2, 0.2, 0, width / 2}, {width + 0.2, 0.2, 0, -width / 2},
	} {
		fmt.Fprintf(&b, "model ( name \"wall%d\" size [ %g %g 1 ] pose [ %g %g 0 0 ] )\n", i, wall[0], wall[1], wall[2], wall[3])
	}
	for i := range c.robots {
		x, y := (float64(i%side)-float64(side-1)/2)*c.spacing, (float64(i/side)-float64(side-1)/2)*c.spacing
		// A heading that looks like chance and is not.
		fmt.Fprintf(&b, "mote ( name \"r%d\" pose [ %g %g 0 %d ] )\n", i, x, y, (i*137)%360-180)
	}
	return b.String()
}
