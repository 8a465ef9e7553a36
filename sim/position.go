package sim

import (
	"math"
	"math/rand/v2"

	"callboard/sim/worldfile"
)

// Speeds and tolerances of position commands, as Stage has them.
const (
	gotoSpeed    = 0.4          // m/s at most on the way, of an omnidirectional base along each axis
	gotoTurn     = 1.0          // rad/s at most
	gotoNear     = 0.02         // m, there
	gotoStraight = math.Pi / 16 // rad, heading error up to which it drives
)

// order is what a position was last told.
type order uint8

const (
	orderVelocity order = iota
	orderGoto
	orderAccelerate
)

// Position is what a robot's base does.
type Position struct {
	model    *Model
	spec     *worldfile.Position
	order    order
	command  Pose // velocity m/s, rad/s; or goal, in the frame of the reported pose
	velocity Pose
	reported Pose
	errors   [3]float64 // proportions of odometry in x, y, heading
	stall    bool
}

func newPosition(m *Model) *Position {
	p := &Position{model: m, spec: m.spec.Position, velocity: m.spec.Position.Velocity}
	if e := p.spec.OdomError; e != nil {
		p.errors = [3]float64{e.X, e.Y, e.A}
	} else {
		r := m.random()
		for i, span := range [...]float64{0.03, 0.03, 0.05} {
			p.errors[i] = (r.Float64() - 0.5) * span
		}
	}
	p.start()
	return p
}

// start sets the reported pose to what it is before the first update.
func (p *Position) start() {
	if !p.spec.Odometry {
		p.reported = p.model.global
		return
	}
	p.reported = Pose{}
	if o := p.spec.Origin; o != nil {
		p.reported = o.Sub(p.model.global)
	}
}

// random returns the model's own source, the same for one seed wherever else
// numbers are drawn.
func (m *Model) random() *rand.Rand {
	return rand.New(rand.NewPCG(m.world.seed, uint64(m.index)))
}

// SetVelocity commands a velocity in the robot's frame: m/s forward and to the
// left, rad/s. For a car a is the steering angle in rad. It holds until the
// next command.
func (p *Position) SetVelocity(x, y, a float64) {
	p.order, p.command = orderVelocity, Pose{X: finite(x), Y: finite(y), A: finite(a)}
}

// Goto commands a pose in the frame of the reported pose. A car does not know
// the command and stands.
func (p *Position) Goto(x, y, a float64) {
	p.order, p.command = orderGoto, Pose{X: finite(x), Y: finite(y), A: worldfile.NormalizeAngle(a)}
}

// Accelerate commands an acceleration in the robot's frame, m/s² and rad/s²,
// within the bounds of the file. A car does not know the command and keeps its
// velocity.
func (p *Position) Accelerate(x, y, a float64) {
	p.order, p.command = orderAccelerate, Pose{X: finite(x), Y: finite(y), A: finite(a)}
}

// Reported is the pose that odometry or GPS tells: in the world's frame for
// GPS, one step behind the true pose.
func (p *Position) Reported() Pose { return p.reported }

// SetReported shifts the odometry. GPS overwrites it at the next update.
func (p *Position) SetReported(to Pose) {
	to.X, to.Y, to.Z, to.A = finite(to.X), finite(to.Y), finite(to.Z), worldfile.NormalizeAngle(to.A)
	p.reported = to
}

// Velocity is the commanded velocity after its bounds, in the robot's frame.
func (p *Position) Velocity() Pose { return p.velocity }

// Stalled reports whether the last move was undone because something was touched.
func (p *Position) Stalled() bool { return p.stall }

// halt forgets command and velocity. The reported pose of GPS comes to where the
// robot has stopped.
func (p *Position) halt() {
	p.order, p.command, p.velocity = orderVelocity, Pose{}, Pose{}
	if !p.spec.Odometry {
		p.reported = p.model.global
	}
}

// reset is a new beginning for the base: no command, no stall, odometry as at
// the start.
func (p *Position) reset() {
	p.halt()
	p.stall = false
	p.start()
}

// update turns the command into a velocity and works out the reported pose.
func (p *Position) update() {
	var v Pose
	switch p.order {
	case orderVelocity:
		v = p.steer(p.command)
	case orderGoto:
		v = p.approach()
	case orderAccelerate:
		v = p.accelerated()
	}
	p.model.watts = basePower + drivePower*p.model.spec.Mass*(math.Abs(v.X)+math.Abs(v.Y)+math.Abs(v.A))
	b := p.spec.Velocities
	v.X, v.Y, v.A = clamp(v.X, b.XMin, b.XMax), clamp(v.Y, b.YMin, b.YMax), clamp(v.A, b.AMin, b.AMax)
	p.velocity = v

	if !p.spec.Odometry {
		p.reported = p.model.global
		return
	}
	dt := float64(p.model.world.interval) / 1e6
	r := &p.reported
	r.A = worldfile.NormalizeAngle(r.A + v.A*dt*(1+p.errors[2]))
	s, c := math.Sincos(r.A)
	dx, dy := v.X*dt*(1+p.errors[0]), v.Y*dt*(1+p.errors[1])
	// The sign of dy in y is Stage's: sideways odometry is mirrored.
	r.X += dx*c + dy*s
	r.Y += dx*s - dy*c
}

// steer returns the velocity that a velocity command means for the drive.
func (p *Position) steer(c Pose) Pose {
	switch p.spec.Drive {
	case worldfile.Omnidirectional:
		return Pose{X: c.X, Y: c.Y, A: c.A}
	case worldfile.Car:
		s, cos := math.Sincos(c.A)
		return Pose{X: c.X * cos, A: c.X * s / p.spec.Wheelbase}
	}
	return Pose{X: c.X, A: c.A}
}

// accelerated returns the velocity after a step of acceleration.
func (p *Position) accelerated() Pose {
	v, b := p.velocity, p.spec.Acceleration
	dt := float64(p.model.world.interval) / 1e6
	if p.spec.Drive == worldfile.Car {
		return v
	}
	v.X += clamp(p.command.X, b.XMin, b.XMax) * dt
	v.A += clamp(p.command.A, b.AMin, b.AMax) * dt
	v.Y += clamp(p.command.Y, b.YMin, b.YMax) * dt
	if p.spec.Drive == worldfile.Differential {
		v.Y = 0
	}
	return v
}

// approach returns the velocity on the way to a goal.
func (p *Position) approach() Pose {
	goal := p.command
	dx, dy := goal.X-p.reported.X, goal.Y-p.reported.Y
	turn := worldfile.NormalizeAngle(goal.A - p.reported.A)
	switch p.spec.Drive {
	case worldfile.Omnidirectional:
		// Stage takes the errors along the world's axes for those of the robot, and
		// bounds them on one side only.
		s, c := math.Sincos(p.reported.A)
		return Pose{
			X: clamp(dx*c+dy*s, -gotoSpeed, gotoSpeed),
			Y: clamp(-dx*s+dy*c, -gotoSpeed, gotoSpeed),
			A: clamp(turn, -gotoTurn, gotoTurn),
		}
	case worldfile.Differential:
		// As in Stage, turns to the left are bounded by velocity_bounds alone.
		if math.Abs(dx) < gotoNear && math.Abs(dy) < gotoNear {
			return Pose{A: math.Max(turn, -gotoTurn)}
		}
		off := worldfile.NormalizeAngle(math.Atan2(dy, dx) - p.reported.A)
		v := Pose{A: math.Max(off, -gotoTurn)}
		if math.Abs(off) < gotoStraight {
			v.X = math.Min(math.Hypot(dx, dy), gotoSpeed)
		}
		return v
	}
	return Pose{}
}

// move makes the whole move of one step, or none of it if that would touch.
func (p *Position) move() {
	v := p.velocity
	if v == (Pose{}) {
		return // a stall stays until the next move, as in Stage
	}
	m := p.model
	dt := float64(m.world.interval) / 1e6
	was := m.pose
	m.pose = was.Add(Pose{X: v.X * dt, Y: v.Y * dt, Z: v.Z * dt, A: v.A * dt})
	if p.stall = !within(m.pose); p.stall {
		m.pose = was
		return
	}
	m.replace()
	layer := m.world.layer()
	m.world.grid.draw(m.root, layer)
	if p.stall = m.world.touches(m.root); p.stall {
		m.pose = was
		m.replace()
		m.world.grid.draw(m.root, layer)
	}
}

func clamp(v, low, high float64) float64 { return math.Max(low, math.Min(high, v)) }

// finite returns v, or 0 if it is no number to reckon with.
func finite(v float64) float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return 0
	}
	return v
}
