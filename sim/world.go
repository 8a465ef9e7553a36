package sim

import (
	"fmt"
	"math"
	"time"

	"callboard/sim/worldfile"
)

// Pose is a place and a heading: X, Y, Z in m, A in rad.
type Pose = worldfile.Pose

// Point is a point on the floor, m.
type Point = worldfile.Point

// Reach is the largest coordinate that a model may be put at, m.
const Reach = 1e6

// Config says what a World is made of.
type Config struct {
	// World is the world file. Required.
	World *worldfile.World
	// Seed of all that is random: noise and the odometry errors that the file
	// leaves to chance. Default 0.
	Seed uint64
}

// World is a simulated world. It belongs to one goroutine.
type World struct {
	file     *worldfile.World
	seed     uint64
	now      int64 // µs
	interval int64 // µs

	models  []*Model // depth first, in file order
	byName  map[string]*Model
	roots   []*root
	active  []*Model // those with subscribers, in file order
	stale   bool     // active is to be made anew
	updated []*Model
	targets []*Model // of fiducial finders
	packs   []*Pack
	grips   bool // there is a gripper

	steps  uint64
	grid   grid
	caster caster
	fans   map[fanKey]*fan
}

// New makes a World at time 0. Nothing moves or measures before it is
// subscribed.
func New(cfg Config) (*World, error) {
	if cfg.World == nil {
		return nil, fmt.Errorf("sim: no world given")
	}
	if cfg.World.Interval < time.Microsecond {
		return nil, fmt.Errorf("sim: world %s: interval %v is too short, expected at least 1 µs", cfg.World.File, cfg.World.Interval)
	}
	if !(cfg.World.Resolution > 0) {
		return nil, fmt.Errorf("sim: world %s: resolution %v, expected more than 0", cfg.World.File, cfg.World.Resolution)
	}
	w := &World{
		file:     cfg.World,
		seed:     cfg.Seed,
		interval: cfg.World.Interval.Microseconds(),
		byName:   map[string]*Model{},
		fans:     map[fanKey]*fan{},
	}
	for _, spec := range cfg.World.Models {
		w.addTree(spec, nil, nil)
	}
	w.name()
	if w.grips {
		w.loosen()
	}
	w.caster.grid = &w.grid
	w.build()
	for _, m := range w.models {
		if m.spec.AlwaysOn {
			m.Subscribe()
		}
	}
	return w, nil
}

// addTree makes the model of spec and those below it.
func (w *World) addTree(spec *worldfile.Model, parent *Model, r *root) {
	m := &Model{
		world: w, spec: spec, index: len(w.models), parent: parent, home: parent,
		pose: spec.Pose, body: spec.Body, fiducialReturn: spec.FiducialReturn,
	}
	m.paint()
	if r == nil {
		r = w.newRoot(m)
	}
	m.root = r
	r.models = append(r.models, m)
	w.models = append(w.models, m)
	if parent != nil {
		parent.children = append(parent.children, m)
	}
	m.place()
	if spec.Position != nil {
		m.position = newPosition(m)
		r.moving = true
	}
	if spec.Ranger != nil {
		m.ranger = newRanger(m)
	}
	if spec.Fiducial != nil {
		m.fiducial = &Fiducial{model: m}
	}
	if spec.Bumper != nil {
		m.bumper = &Bumper{model: m, pressed: make([]bool, len(spec.Bumper.Bumpers))}
	}
	if spec.Blobfinder != nil {
		m.blobfinder = &Blobfinder{model: m}
	}
	if spec.Gripper != nil {
		m.gripper = newGripper(m)
		w.grips = true
	}
	if spec.Pack != nil {
		m.pack = newPack(m)
		w.packs = append(w.packs, m.pack)
	}
	if spec.FiducialReturn != 0 {
		w.targets = append(w.targets, m)
	}
	for _, child := range spec.Children {
		w.addTree(child, m, r)
	}
}

// loosen keeps what grippers may take among what moves from the start.
func (w *World) loosen() {
	for _, m := range w.models {
		if m.spec.GripperReturn {
			m.root.moving = true
		}
	}
}

// name fills the table of names. A later model of the same name wins, and any
// name wins over an automatic one.
func (w *World) name() {
	for _, m := range w.models {
		w.byName[m.spec.Auto] = m
	}
	for _, m := range w.models {
		w.byName[m.spec.Name] = m
	}
}

// Step makes one step of the world's interval: the clock goes on, models that
// are due are updated with the poses before the motion, then what drives moves.
func (w *World) Step() {
	w.now += w.interval
	w.updated = w.updated[:0]
	if w.stale {
		w.activate()
	}
	w.caster.layer = both &^ w.layer()
	for _, m := range w.active {
		if m.due <= w.now {
			m.update()
			m.due = w.now + m.interval()
			w.updated = append(w.updated, m)
		}
	}
	for _, m := range w.active {
		if m.position != nil {
			m.position.move()
		}
	}
	if len(w.packs) > 0 {
		w.supply()
	}
	w.steps++
}

// layer is the layer of the grid into which what moves in this step is drawn.
// Rays see the other: what moved in the step before is in it, but what has stood
// still since is there as it was before its last move.
func (w *World) layer() uint8 {
	if w.steps%2 == 0 {
		return even
	}
	return odd
}

// Time is the simulated time.
func (w *World) Time() time.Duration { return time.Duration(w.now) * time.Microsecond }

// Microseconds is the simulated time in µs, as Player's simulation interface
// gives it.
func (w *World) Microseconds() int64 { return w.now }

// Seconds is the simulated time in s, as in the timestamps of readings.
func (w *World) Seconds() float64 { return float64(w.now) / 1e6 }

// Interval is the simulated time of a step.
func (w *World) Interval() time.Duration { return time.Duration(w.interval) * time.Microsecond }

// File is the world file that the World was made of.
func (w *World) File() *worldfile.World { return w.file }

// Models returns all models depth first, parents before children, in file order.
// The slice must not be changed.
func (w *World) Models() []*Model { return w.models }

// Updated returns the models that the last Step updated. The slice is valid until
// the next Step.
func (w *World) Updated() []*Model { return w.updated }

// Find returns the model of a full name (automatic names are names too), or nil.
func (w *World) Find(name string) *Model { return w.byName[name] }

// Reset puts all models back to where and how the file has them; time goes on.
func (w *World) Reset() {
	for _, m := range w.models {
		m.paint()
		m.SetFiducialReturn(m.spec.FiducialReturn)
		if m.gripper != nil {
			m.gripper.start()
			m.body = m.spec.Body
		}
		if m.pack != nil {
			m.pack.start()
		}
		switch {
		case m.parent != m.home:
			w.attach(m, m.home, m.spec.Pose)
		case m.parent == nil || m.pose != m.spec.Pose || m.gripper != nil:
			m.put(m.spec.Pose)
		}
	}
	for _, m := range w.models {
		if m.position != nil {
			m.position.reset()
		}
	}
}

// within reports whether a pose is one that a model may be put at.
func within(p Pose) bool {
	for _, v := range [...]float64{p.X, p.Y, p.Z} {
		if math.IsNaN(v) || v > Reach || v < -Reach {
			return false
		}
	}
	return !math.IsNaN(p.A) && !math.IsInf(p.A, 0)
}
