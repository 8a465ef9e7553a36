package sim

import (
	"image/color"

	"callboard/sim/worldfile"
)

// Model is one model of a World.
type Model struct {
	world    *World
	spec     *worldfile.Model
	index    int
	parent   *Model
	children []*Model
	root     *root

	pose   Pose // in the parent's frame
	global Pose // in the world
	color  color.NRGBA

	subscribers int
	due         int64 // µs, of the next update

	position *Position
	ranger   *Ranger
	fiducial *Fiducial
	bumper   *Bumper
}

// Spec is what the world file says of the model.
func (m *Model) Spec() *worldfile.Model { return m.spec }

// Name is the full name: "r0", "r0.ranger:1".
func (m *Model) Name() string { return m.spec.Name }

// Type is the built-in type: "position", "ranger", …
func (m *Model) Type() string { return m.spec.Type }

// Parent is the model that m sits on, nil at the top level.
func (m *Model) Parent() *Model { return m.parent }

// Children sit on m, in file order. The slice must not be changed.
func (m *Model) Children() []*Model { return m.children }

// Root is the top-level model of m's tree, itself perhaps.
func (m *Model) Root() *Model { return m.root.model }

// Pose is the pose in the parent's frame, as Player's simulation interface
// gives it.
func (m *Model) Pose() Pose { return m.pose }

// Global is the pose in the world.
func (m *Model) Global() Pose { return m.global }

// Position gives what a position model can do, nil for other types.
func (m *Model) Position() *Position { return m.position }

// Ranger gives a ranger's readings, nil for other types.
func (m *Model) Ranger() *Ranger { return m.ranger }

// Fiducial gives what a fiducial finder sees, nil for other types.
func (m *Model) Fiducial() *Fiducial { return m.fiducial }

// Bumper gives which bumpers are pressed, nil for other types.
func (m *Model) Bumper() *Bumper { return m.bumper }

// Color is the model's colour now.
func (m *Model) Color() color.NRGBA { return m.color }

// SetColor changes the model's colour.
func (m *Model) SetColor(c color.NRGBA) { m.color = c }

// SetPose puts the model to a pose in its parent's frame; collisions are not
// tested. It tells whether the pose was one to go to: finite, within Reach.
func (m *Model) SetPose(p Pose) bool {
	if !within(p) {
		return false
	}
	p.A = worldfile.NormalizeAngle(p.A)
	m.pose = p
	m.replace()
	m.world.moved(m.root)
	return true
}

// Subscribe lets the model be updated: the first subscriber's data come one
// update interval from now. It is counted.
func (m *Model) Subscribe() {
	m.subscribers++
	if m.subscribers == 1 {
		m.due = m.world.now + m.interval()
		m.world.activate()
	}
}

// Unsubscribe takes one subscription back. A position without any stands still
// and forgets its command.
func (m *Model) Unsubscribe() {
	if m.subscribers == 0 {
		return
	}
	m.subscribers--
	if m.subscribers == 0 {
		if m.position != nil {
			m.position.halt()
		}
		m.world.activate()
	}
}

// Subscribed tells whether anyone has subscribed the model.
func (m *Model) Subscribed() bool { return m.subscribers > 0 }

// interval between updates, µs.
func (m *Model) interval() int64 { return m.spec.Interval.Microseconds() }

// activate lists the models that have subscribers, in file order.
func (w *World) activate() {
	w.active = w.active[:0]
	for _, m := range w.models {
		if m.subscribers > 0 {
			w.active = append(w.active, m)
		}
	}
}

// update takes a sensor's reading, or turns a position's command into velocity.
func (m *Model) update() {
	switch {
	case m.position != nil:
		m.position.update()
	case m.ranger != nil:
		m.ranger.update()
	case m.fiducial != nil:
		m.fiducial.update()
	case m.bumper != nil:
		m.bumper.update()
	}
}

// place works out the global pose from the parent's.
func (m *Model) place() {
	if m.parent == nil {
		m.global = m.pose
		return
	}
	p := m.pose
	if m.parent.spec.StackChildren {
		p.Z += m.parent.spec.Size.Z
	}
	m.global = m.parent.global.Add(p)
}

// replace works out the global poses of m and of all below it.
func (m *Model) replace() {
	m.place()
	for _, c := range m.children {
		c.replace()
	}
}

// root is a top-level model with its tree: what moves as one and never sees or
// touches itself.
type root struct {
	index  int32
	model  *Model
	models []*Model
	moving bool // its bodies are kept in the moving part of space

	body
}

// Index is the model's place in World.Models.
func (m *Model) Index() int { return m.index }

// Rangers gives the rangers on m and on what sits on it, depth first.
func (m *Model) Rangers() []*Model {
	var out []*Model
	for _, c := range m.children {
		if c.ranger != nil {
			out = append(out, c)
		}
		out = append(out, c.Rangers()...)
	}
	return out
}

// Robots gives the position models that sit on no other, in file order.
func (w *World) Robots() []*Model {
	var out []*Model
	for _, m := range w.models {
		if m.position != nil && !m.carried() {
			out = append(out, m)
		}
	}
	return out
}

// carried tells whether m sits on a position model.
func (m *Model) carried() bool {
	for p := m.parent; p != nil; p = p.parent {
		if p.position != nil {
			return true
		}
	}
	return false
}
