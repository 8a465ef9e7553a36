package sim

import "math"

// Bumper says which bumpers of an array are pressed.
type Bumper struct {
	model   *Model
	pressed []bool
}

// Pressed returns the bumpers' states at the last update. The slice is written
// anew by the next update.
func (b *Bumper) Pressed() []bool { return b.pressed }

// update tests each bumper's line, which lies across its heading: it is pressed
// if a ray along it hits a body of another tree, at any height, be it an obstacle
// or not.
func (b *Bumper) update() {
	at, own := b.model.global.Add(b.model.spec.Origin), b.model.root.index
	c := &b.model.world.caster
	for i, line := range b.model.spec.Bumper.Bumpers {
		right := line.Pose
		right.A += math.Pi / 2
		sin, cos := math.Sincos(right.A)
		right.X -= line.Length / 2 * cos
		right.Y -= line.Length / 2 * sin
		from := at.Add(right)
		c.begin(from, line.Length, own, func(t *tile) bool { return t.root != own })
		sin, cos = aim(from.A)
		_, hit := c.cast(sin, cos)
		b.pressed[i] = hit != nil
	}
}
