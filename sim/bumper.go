package sim

// Bumper tells which bumpers of an array are pressed.
type Bumper struct {
	model   *Model
	pressed []bool
}

// Pressed gives the bumpers' states at the last update. The slice is written
// anew by the next update.
func (b *Bumper) Pressed() []bool { return b.pressed }

// update tests each bumper's line, which lies across its heading: it is pressed
// if a body of another tree shares a cell with it, at any height.
func (b *Bumper) update() {
	at := b.model.global.Add(b.model.spec.Origin)
	for i, line := range b.model.spec.Bumper.Bumpers {
		p := at.Add(line.Pose)
		left, right := p.Add(Pose{Y: line.Length / 2}), p.Add(Pose{Y: -line.Length / 2})
		b.pressed[i] = b.model.world.crosses(b.model.root, left.X, left.Y, right.X, right.Y)
	}
}
