package sim

import "math"

// paddleStep is the part of the way that paddles and lift move in an update.
const paddleStep = 0.05

// Paddles is what a gripper's paddles do.
type Paddles uint8

// What paddles do.
const (
	PaddlesOpen Paddles = iota
	PaddlesClosed
	PaddlesOpening
	PaddlesClosing
)

// Gripper is a gripper on a robot: two paddles with two light barriers and a
// contact each, which feel models with gripper_return.
type Gripper struct {
	model   *Model
	paddles Paddles
	closed  float64 // 0 open to 1 closed
	limit   float64 // of closed: what is held is in the way
	lift    float64 // 0 down to 1 up

	shut, up bool // as commanded
	told     bool // the paddles have been commanded at all
	lifting  bool // the lift has

	beams, contacts [2]*Model
	held            *Model
}

func newGripper(m *Model) *Gripper {
	g := &Gripper{model: m}
	g.start()
	return g
}

// start is the state at the start of the world.
func (g *Gripper) start() {
	*g = Gripper{model: g.model, limit: 1}
	g.closed, g.lift = g.model.spec.Gripper.Opening()
	if g.closed > 0 {
		g.paddles = PaddlesClosed
	}
}

// Open lets the paddles open; what is held is put down at once.
func (g *Gripper) Open() { g.shut, g.told = false, true }

// Close lets the paddles close until they hold something or meet.
func (g *Gripper) Close() { g.shut, g.told = true, true }

// Lift lets the paddles rise or come down.
func (g *Gripper) Lift(up bool) { g.up, g.lifting = up, true }

// Paddles returns what the paddles do.
func (g *Gripper) Paddles() Paddles { return g.paddles }

// Closed is how far the paddles are closed, 0 to 1.
func (g *Gripper) Closed() float64 { return g.closed }

// Raised is how far the paddles are lifted, 0 to 1.
func (g *Gripper) Raised() float64 { return g.lift }

// Beams returns which light barriers are broken, the inner one first.
func (g *Gripper) Beams() [2]bool { return [2]bool{g.beams[0] != nil, g.beams[1] != nil} }

// Contacts returns which paddles, left and right, touch something.
func (g *Gripper) Contacts() [2]bool { return [2]bool{g.contacts[0] != nil, g.contacts[1] != nil} }

// Held is what the gripper holds, or nil.
func (g *Gripper) Held() *Model { return g.held }

// update moves the paddles by a step, then feels what is between them.
func (g *Gripper) update() {
	closed, lift := g.closed, g.lift
	g.movePaddles()
	g.moveLift()
	if (closed != g.closed || lift != g.lift) && !g.model.spec.Gripper.Fixed {
		g.model.body = g.model.spec.Gripper.Blocks(g.model.spec.Size, g.closed, g.lift)
		g.model.world.moved(g.model.root)
	}
	g.feelBeams()
	g.feelContacts()
}

func (g *Gripper) movePaddles() {
	if g.told {
		switch {
		case g.shut && g.paddles != PaddlesClosed:
			g.paddles = PaddlesClosing
		case !g.shut && g.paddles != PaddlesOpen:
			g.paddles = PaddlesOpening
		}
	}
	switch g.paddles {
	case PaddlesOpening:
		if g.closed -= paddleStep; g.closed < 0 {
			g.closed, g.paddles = 0, PaddlesOpen
		}
		if g.held != nil && (g.closed == 0 || g.closed < g.limit) {
			g.drop()
		}
	case PaddlesClosing:
		if g.closed += paddleStep; g.closed > g.limit {
			g.closed, g.paddles = g.limit, PaddlesClosed
		}
	}
}

func (g *Gripper) moveLift() {
	if !g.lifting {
		return
	}
	if g.up {
		g.lift = math.Min(1, g.lift+paddleStep)
	} else {
		g.lift = math.Max(0, g.lift-paddleStep)
	}
}

// between returns the way between the open paddles' inner sides and the middle, m.
func (g *Gripper) between() float64 {
	size, paddle := g.model.spec.Size, g.model.spec.Gripper.PaddleSize
	return (1 - g.closed) * (size.Y/2 - size.Y*paddle.Y)
}

// feelBeams looks across between the paddles, at 3/4 and 1/4 of their length
// from their tips.
func (g *Gripper) feelBeams() {
	size, paddle := g.model.spec.Size, g.model.spec.Gripper.PaddleSize
	y := g.between()
	for i, part := range [...]float64{0.75, 0.25} {
		g.beams[i] = g.feel(Pose{X: size.X/2 - part*paddle.X*size.X, Y: y, A: -math.Pi / 2}, 2*y)
	}
	if g.model.spec.Gripper.AutoSnatch {
		g.shut, g.told = g.beams[0] != nil || g.beams[1] != nil, true
	}
}

// feelContacts feels along the inner sides of the paddles; while they close,
// what is felt is taken.
func (g *Gripper) feelContacts() {
	size, paddle := g.model.spec.Size, g.model.spec.Gripper.PaddleSize
	x, y := (1-paddle.X)*size.X-size.X/2, g.between()
	g.contacts[0] = g.feel(Pose{X: x, Y: y}, paddle.X*size.X)
	g.contacts[1] = g.feel(Pose{X: x, Y: -y}, paddle.X*size.X)
	felt := g.contacts[0]
	if felt == nil {
		felt = g.contacts[1]
	}
	if felt != nil && g.paddles == PaddlesClosing && g.held == nil {
		g.take(felt)
	}
}

// feel follows a line in the gripper's frame, at the height of its base.
func (g *Gripper) feel(from Pose, length float64) *Model {
	w := g.model.world
	at := g.model.global.Add(g.model.spec.Origin).Add(from)
	w.caster.begin(at, length, nobody, func(t *tile) bool {
		m := w.models[t.model]
		return m.spec.GripperReturn && at.Z >= t.low && at.Z <= t.high && !g.model.on(m)
	})
	sin, cos := aim(at.A)
	if _, hit := w.caster.cast(sin, cos); hit != nil {
		return w.models[hit.model]
	}
	return nil
}

// take makes a thing part of the gripper, between its paddles.
func (g *Gripper) take(m *Model) {
	for _, other := range m.world.models {
		if other.gripper != nil && other.gripper.held == m {
			other.gripper.held, other.gripper.limit = nil, 1
		}
	}
	at := Pose{}
	if g.model.spec.StackChildren {
		at.Z = -g.model.spec.Size.Z
	}
	m.world.attach(m, g.model, at)
	g.held = m
	g.limit = 1
	if room := g.model.spec.Size.Y - g.model.spec.Gripper.PaddleSize.Y/2; room > 0 {
		g.limit = math.Max(0, 1-m.spec.Size.Y/room)
	}
}

// drop puts down what is held, at the gripper's pose.
func (g *Gripper) drop() {
	m := g.held
	g.held, g.limit = nil, 1
	m.world.attach(m, nil, g.model.global)
}
