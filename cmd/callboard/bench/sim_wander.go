package bench

import (
	"math/rand/v2"

	"callboard/sim"
)

// How real Stage's controller "wander" drives: m, m/s, rad/s, and updates of the
// scanner.
const (
	cruiseSpeed = 0.4
	creepSpeed  = 0.05
	avoidTurn   = 0.5
	avoidAhead  = 1.0 // nothing is to be nearer in the middle third
	avoidStop   = 0.3 // nor anywhere
	avoidLeast  = 10  // updates that it turns away for, and as many more by chance
)

// wanderers drive robots as real Stage's do, so that both simulate the same: how
// far robots look and how often they stand at a wall is most of what a step takes.
type wanderers []*wanderer

type wanderer struct {
	base   *sim.Position
	scan   *sim.Ranger
	random *rand.Rand
	turn   float64 // rad/s
	left   int     // updates that it goes on turning away for
}

func newWanderers(w *sim.World, seed uint64) wanderers {
	var all wanderers
	for i, m := range w.Robots() {
		eyes := m.Rangers()[0]
		m.Subscribe()
		eyes.Subscribe()
		all = append(all, &wanderer{base: m.Position(), scan: eyes.Ranger(), random: rand.New(rand.NewPCG(seed, uint64(i)))})
	}
	return all
}

func (ws wanderers) drive() {
	for _, w := range ws {
		if w.scan.Taken() {
			w.drive(w.scan.Ranges(0))
		}
	}
}

func (w *wanderer) drive(scan []float64) {
	n := len(scan)
	half, third := min(n/2+1, n), min(n/3+1, n)
	right, left, ahead := nearest(scan[:half]), nearest(scan[half:]), nearest(scan[third:max(third, n-n/3)])
	stop := min(left, right) < avoidStop
	if ahead >= avoidAhead && !stop && w.left == 0 {
		w.base.SetVelocity(cruiseSpeed, 0, 0)
		return
	}
	if w.left == 0 {
		w.left = avoidLeast + w.random.IntN(avoidLeast)
		if w.turn = avoidTurn; left < right {
			w.turn = -avoidTurn
		}
	}
	w.left--
	speed := creepSpeed
	if stop {
		speed = 0
	}
	w.base.SetVelocity(speed, 0, w.turn)
}

// avoidNever is farther than anything is looked for.
const avoidNever = 1e6

// nearest returns the least range.
func nearest(ranges []float64) float64 {
	least := avoidNever
	for _, v := range ranges {
		if v < least {
			least = v
		}
	}
	return least
}
