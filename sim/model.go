package sim

import (
	"image/color"
	"math"

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
	home     *Model // the parent that the file gives it
	own      *root  // the root that it is the base of, if it ever was one

	pose           Pose // in the parent's frame
	global         Pose // in the world
	tint           [4]float32
	body           []worldfile.Block
	fiducialReturn int
	watts          float64 // drawn while subscribed

	subscribers int
	due         int64 // µs, of the next update

	position   *Position
	ranger     *Ranger
	fiducial   *Fiducial
	bumper     *Bumper
	blobfinder *Blobfinder
	gripper    *Gripper
	pack       *Pack
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

// Position returns what a position model can do, nil for other types.
func (m *Model) Position() *Position { return m.position }

// Ranger returns a ranger's readings, nil for other types.
func (m *Model) Ranger() *Ranger { return m.ranger }

// Fiducial returns what a fiducial finder sees, nil for other types.
func (m *Model) Fiducial() *Fiducial { return m.fiducial }

// Bumper returns which bumpers are pressed, nil for other types.
func (m *Model) Bumper() *Bumper { return m.bumper }

// Blobfinder returns what a blob finder sees, nil for other types.
func (m *Model) Blobfinder() *Blobfinder { return m.blobfinder }

// Gripper returns what a gripper can do, nil for other types.
func (m *Model) Gripper() *Gripper { return m.gripper }

// Color is the model's colour now.
func (m *Model) Color() color.NRGBA {
	part := func(v float32) uint8 { return uint8(math.Round(255 * math.Max(0, math.Min(1, float64(v))))) }
	return color.NRGBA{part(m.tint[0]), part(m.tint[1]), part(m.tint[2]), part(m.tint[3])}
}

// Tint is the model's colour now as red, green, blue and alpha of 0 to 1.
func (m *Model) Tint() [4]float32 { return m.tint }

// SetTint changes the model's colour; it tells whether all values were 0 to 1.
func (m *Model) SetTint(t [4]float32) bool {
	for _, v := range t {
		if !(v >= 0 && v <= 1) {
			return false
		}
	}
	m.tint = t
	return true
}

// paint gives the model its colour of the file.
func (m *Model) paint() {
	c := m.spec.Color
	for i, v := range [...]uint8{c.R, c.G, c.B, c.A} {
		m.tint[i] = float32(v) / 255
	}
}

// SetPose puts the model to a pose in its parent's frame; collisions are not
// tested. It reports whether the pose is one to go to: finite, within Reach. If
// the model is there already nothing is done.
func (m *Model) SetPose(p Pose) bool {
	if p == m.pose {
		return true
	}
	return m.put(p)
}

// put is SetPose, and draws the model anew in any case.
func (m *Model) put(p Pose) bool {
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
		m.watts = m.power()
		m.world.stale = true
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
		if m.blobfinder != nil {
			m.blobfinder.blobs = nil
		}
		m.world.stale = true
	}
}

// Subscribed reports whether anyone has subscribed the model.
func (m *Model) Subscribed() bool { return m.subscribers > 0 }

// interval between updates, µs.
func (m *Model) interval() int64 { return m.spec.Interval.Microseconds() }

// activate lists the models that have subscribers, in file order.
func (w *World) activate() {
	w.stale = false
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
	case m.blobfinder != nil:
		m.blobfinder.update()
	case m.gripper != nil:
		m.gripper.update()
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

// Index is the model's place in World.Models.
func (m *Model) Index() int { return m.index }

// Rangers returns the rangers on m and on what sits on it, depth first.
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

// Robots returns the position models that sit on no other, in file order.
func (w *World) Robots() []*Model {
	var out []*Model
	for _, m := range w.models {
		if m.position != nil && !m.carried() {
			out = append(out, m)
		}
	}
	return out
}

// carried reports whether m sits on a position model.
func (m *Model) carried() bool {
	for p := m.parent; p != nil; p = p.parent {
		if p.position != nil {
			return true
		}
	}
	return false
}
