package worldfile

import (
	"callboard/player/problem"
	"image/color"
	"math"
	"time"
)

// Pose is a place in m and a heading in rad, anticlockwise from x, seen from
// the parent or from the world.
type Pose struct{ X, Y, Z, A float64 }

// Add returns the pose p, which is seen from q's frame, in the frame that q is
// seen from: q + p.
func (q Pose) Add(p Pose) Pose {
	s, c := math.Sincos(q.A)
	return Pose{
		X: q.X + p.X*c - p.Y*s,
		Y: q.Y + p.X*s + p.Y*c,
		Z: q.Z + p.Z,
		A: NormalizeAngle(q.A + p.A),
	}
}

// Sub returns the pose p, seen from the same frame as q, in q's own frame.
func (q Pose) Sub(p Pose) Pose {
	s, c := math.Sincos(q.A)
	dx, dy := p.X-q.X, p.Y-q.Y
	return Pose{X: dx*c + dy*s, Y: -dx*s + dy*c, Z: p.Z - q.Z, A: NormalizeAngle(p.A - q.A)}
}

// NormalizeAngle brings an angle in rad into -π…π; what is not finite becomes 0.
func NormalizeAngle(a float64) float64 {
	if a >= -math.Pi && a <= math.Pi {
		return a
	}
	if math.IsNaN(a) || math.IsInf(a, 0) {
		return 0
	}
	if math.Abs(a) > 100 {
		a = math.Remainder(a, 2*math.Pi)
	}
	for a > math.Pi {
		a -= 2 * math.Pi
	}
	for a < -math.Pi {
		a += 2 * math.Pi
	}
	return a
}

// Size is an extent in m: x forward, y left, z up.
type Size struct{ X, Y, Z float64 }

// Point is a point in m.
type Point struct{ X, Y float64 }

// Block is a part of a body: a closed outline in the frame of the body
// (pose + origin) and the heights that it reaches from and to, in m above the
// model's base. Only the outline is there; the inside is hollow.
type Block struct {
	Points    []Point
	Low, High float64
}

// World is a world file that has been read.
type World struct {
	File       string        // as opened
	Name       string        // the title; default File
	Dialect    int           // 2, 3 or 4: Stage's major version that the file was written for, as far as can be told
	Interval   time.Duration // simulated time of a step
	QuitTime   time.Duration // simulated time after which Stage ends; 0: never
	Resolution float64       // m, side of a cell for collisions
	Speed      float64       // multiple of real time that the author wanted, above 0
	Models     []*Model      // top level, in file order
	Bitmaps    []Bitmap      // pictures that bodies came from, in file order
}

// All returns all models depth first, parents before children, in file order.
func (w *World) All() []*Model {
	var out []*Model
	var walk func([]*Model)
	walk = func(ms []*Model) {
		for _, m := range ms {
			out = append(out, m)
			walk(m.Children)
		}
	}
	walk(w.Models)
	return out
}

// Bitmap describes what was made of a picture: its size and the box of its solid
// pixels (columns and rows, ends included; all -1 if there is none).
type Bitmap struct {
	File                   string
	Width, Height          int
	MinX, MinY, MaxX, MaxY int
	Solid                  int // number of solid pixels
	Missing                bool
}

// Model is one model of a World. Lengths in m, angles in rad.
type Model struct {
	Pos      problem.Place
	Type     string // the built-in type: model, position, ranger, …
	Name     string // full name, as Player's configuration and simulation interface use it
	Auto     string // the automatic name, which stays valid beside Name
	Parent   *Model // nil at the top level
	Children []*Model

	Pose   Pose // in the parent's frame, as written
	Origin Pose // the body sits at pose + origin
	Size   Size
	Color  color.NRGBA
	Body   []Block // none: no body

	StackChildren  bool    // children stand on the top of this model
	Obstacle       bool    // others collide with it
	RangerReturn   float64 // reflectance; negative: invisible to rangers
	BlobReturn     bool
	FiducialReturn int // 0: not seen by fiducial finders
	FiducialKey    int
	GripperReturn  bool
	Mass           float64 // kg
	Watts          float64
	Pack           *Pack // its power pack, nil without one
	GiveWatts      float64
	TakeWatts      float64
	MapResolution  float64
	Interval       time.Duration // between updates
	AlwaysOn       bool

	Position   *Position   // type position
	Ranger     *Ranger     // type ranger (and laser of old files)
	Fiducial   *Fiducial   // type fiducial
	Blobfinder *Blobfinder // type blobfinder
	Bumper     *Bumper     // type bumper
	Gripper    *Gripper    // type gripper
	Actuator   *Actuator   // type actuator
}

// Pack is a power pack.
type Pack struct {
	Joules   float64 // charge at the start; negative: endless
	Capacity float64 // J
}

// Base returns the pose of the model's base in its parent's frame: Pose, put on
// the parent's top if that stacks its children.
func (m *Model) Base() Pose {
	p := m.Pose
	if m.Parent != nil && m.Parent.StackChildren {
		p.Z += m.Parent.Size.Z
	}
	return p
}

// Global returns the model's pose in the world at the start.
func (m *Model) Global() Pose {
	if m.Parent == nil {
		return m.Pose
	}
	return m.Parent.Global().Add(m.Base())
}

// Drive is how a position model steers.
type Drive uint8

// Drives.
const (
	Differential Drive = iota
	Omnidirectional
	Car
)

// Bounds are the least and the greatest velocity in x, y, z (m/s) and about
// the heading (rad/s); or accelerations, per s².
type Bounds struct{ XMin, XMax, YMin, YMax, ZMin, ZMax, AMin, AMax float64 }

// Position holds what a position model (a robot's base) has beyond a Model.
type Position struct {
	Drive        Drive
	Wheelbase    float64 // m, for Car
	Velocity     Pose    // m/s, rad/s; overwritten at the first update
	Velocities   Bounds
	Acceleration Bounds
	Odometry     bool  // localization "odom": the reported pose is integrated
	Origin       *Pose // localization_origin, nil if not given
	OdomError    *Pose // odom_error, nil if not given: proportions
}

// Ranger holds a ranger's sensors: one with many samples (a scanner) or many
// with one (a sonar ring).
type Ranger struct{ Sensors []Sensor }

// Sensor is one sensor of a ranger.
type Sensor struct {
	Pose                  Pose // on the ranger
	Size                  Size
	MinRange, MaxRange    float64 // m; MinRange is told but, as in Stage, not applied unless Clip
	FOV                   float64 // rad
	Samples               int
	NoiseConst, NoiseProp float64 // variance in m², proportion
	NoiseAngular          float64 // part of a step
	Clip                  bool    // readings below MinRange become MinRange (2.x)
}

// Bearing returns the direction of a sample in the sensor's frame, rad.
func (s *Sensor) Bearing(sample int) float64 {
	if s.Samples < 2 {
		return 0
	}
	return -s.FOV/2 + float64(sample)*s.FOV/float64(s.Samples-1)
}

// Fiducial holds a fiducial finder's settings.
type Fiducial struct {
	MaxRange, MaxRangeID, MinRange float64
	FOV                            float64
	IgnoreZ                        bool
}

// Blobfinder holds a blob finder's settings.
type Blobfinder struct {
	Width, Height int // pixels
	Range         float64
	FOV, Pan      float64
	Colors        []color.NRGBA
	Any           bool // no list given: every colour makes blobs
}

// Bumper holds a bumper array's lines.
type Bumper struct{ Bumpers []BumperLine }

// BumperLine is one bumper: a line of the given length across its heading.
type BumperLine struct {
	Pose   Pose
	Length float64
}
