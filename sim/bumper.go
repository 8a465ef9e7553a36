package sim

import "math"

// Bumper tells which bumpers of an array are pressed.
type Bumper struct {
	model   *Model
	pressed []bool
}

// Pressed gives the bumpers' states at the last update. The slice is written
// anew by the next update.
func (b *Bumper) Pressed() []bool { return b.pressed }

// update tests each bumper's line, which lies across its heading: it is pressed
// if a body of another tree shares a cell with it, at any height, be it an
// obstacle or not.
func (b *Bumper) update() {
	at, own := b.model.global.Add(b.model.spec.Origin), b.model.root.index
	other := func(g *segment) bool { return g.root != own }
	for i, line := range b.model.spec.Bumper.Bumpers {
		right := at.Add(line.Pose).Add(Pose{Y: -line.Length / 2, A: math.Pi / 2})
		b.pressed[i] = b.model.world.feel(right, line.Length, other) != nil
	}
}
