package ros

import (
	"math"

	"callboard/player"
	"callboard/player/iface"
)

// Frames of a robot, behind its prefix.
const (
	FrameOdom      = "odom"
	FrameFootprint = "base_footprint"
	FrameBase      = "base_link"
	FrameLaser     = "base_laser_link"
)

// Position returns where the reading says that the robot is, by its odometry,
// and how fast it goes, in its own frame; false: it does not say.
func (r *Reading) Position() (at, velocity player.Pose, ok bool) {
	if p := payloadOf[iface.Position2DData](r); p != nil {
		return flat(p.Pos), flat(p.Vel), true
	}
	if p := payloadOf[iface.Position3DData](r); p != nil {
		return p.Pos.Pose(), p.Vel.Pose(), true
	}
	return player.Pose{}, player.Pose{}, false
}

func writeOdometry(e *Encoder, r *Reading) bool {
	at, velocity, ok := r.Position()
	if ok {
		writeTwist(e, r, FrameFootprint, at, velocity)
	}
	return ok
}

// none is a covariance of which nothing is known.
var none [36]float64

// writeTwist writes an Odometry.
func writeTwist(e *Encoder, r *Reading, child string, at, v player.Pose) {
	r.header(e, FrameOdom)
	if child != "" {
		child = r.Prefix + child
	}
	e.String("child_frame_id", child)
	e.Begin("pose")
	pose(e, "pose", at)
	e.Float64s("covariance", none[:], true)
	e.End()
	e.Begin("twist")
	e.Begin("twist")
	vector(e, "linear", v.X, v.Y, v.Z)
	vector(e, "angular", v.Roll, v.Pitch, v.Yaw)
	e.End()
	e.Float64s("covariance", none[:], true)
	e.End()
}

// AppendTruth appends the Odometry of where a simulation has a robot.
func AppendTruth(b []byte, f Format, r *Reading, at, velocity player.Pose) []byte {
	e := Begin(b, f)
	writeTwist(&e, r, "", at, velocity)
	return e.Bytes()
}

func writeStall(e *Encoder, r *Reading) bool {
	p := payloadOf[iface.Position2DData](r)
	if p == nil {
		return false
	}
	e.Bool("data", p.Stall != 0)
	return true
}

// Localized returns the likeliest of a localizer's hypotheses, nil if there is
// none.
func (r *Reading) Localized() *iface.LocalizeHypoth {
	p := payloadOf[iface.LocalizeData](r)
	if p == nil || len(p.Hypoths) == 0 {
		return nil
	}
	best := &p.Hypoths[0]
	for i := range p.Hypoths {
		if p.Hypoths[i].Alpha > best.Alpha {
			best = &p.Hypoths[i]
		}
	}
	return best
}

func writeLocalized(e *Encoder, r *Reading) bool {
	best := r.Localized()
	if best == nil {
		return false
	}
	// Player's xx, yy, aa, xy, ya, xa in a matrix of 6 × 6.
	var covariance [36]float64
	for i, places := range [6][]int{{0}, {7}, {35}, {1, 6}, {11, 31}, {5, 30}} {
		for _, at := range places {
			covariance[at] = best.Cov[i]
		}
	}
	e.Begin("header")
	e.Uint32("seq", r.seq())
	e.Time("stamp", StampOf(r.Time))
	e.String("frame_id", "map")
	e.End()
	e.Begin("pose")
	pose(e, "pose", flat(best.Mean))
	e.Float64s("covariance", covariance[:], true)
	e.End()
	return true
}

// Base returns where a frame is, on the ground, in which something is at inner and
// which itself stands so that this is at.
func Base(at, inner player.Pose) player.Pose {
	yaw := Turn(at.Yaw - inner.Yaw)
	sin, cos := math.Sincos(yaw)
	return player.Pose{X: at.X - inner.X*cos + inner.Y*sin, Y: at.Y - inner.X*sin - inner.Y*cos, Yaw: yaw}
}

// Turn returns an angle from −π to π.
func Turn(a float64) float64 { return math.Remainder(a, 2*math.Pi) }

// Transform is where a frame is in another one.
type Transform struct {
	Parent, Child string
	Pose          player.Pose
}

// transform writes a TransformStamped.
func transform(e *Encoder, time float64, seq uint32, t *Transform) {
	e.Begin("header")
	e.Uint32("seq", seq)
	e.Time("stamp", StampOf(time))
	e.String("frame_id", t.Parent)
	e.End()
	e.String("child_frame_id", t.Child)
	e.Begin("transform")
	vector(e, "translation", t.Pose.X, t.Pose.Y, t.Pose.Z)
	rotation(e, "rotation", t.Pose.Roll, t.Pose.Pitch, t.Pose.Yaw)
	e.End()
}

// AppendTransforms appends a TFMessage, or a TFArray, which is alike.
func AppendTransforms(b []byte, f Format, time float64, all []Transform) []byte {
	e := Begin(b, f)
	Transforms(&e, "transforms", time, all)
	return e.Bytes()
}

// Transforms writes a field of TransformStamped.
func Transforms(e *Encoder, name string, time float64, all []Transform) {
	r := Reading{Time: time}
	e.Array(name, len(all))
	for i := range all {
		e.Begin("")
		transform(e, time, r.seq(), &all[i])
		e.End()
	}
	e.EndArray()
}

// writeFiducials writes the marks that a finder sees, in the robot's frame: where
// finders sit on it is not told.
func writeFiducials(e *Encoder, r *Reading) bool {
	p := payloadOf[iface.FiducialData](r)
	if p == nil {
		return false
	}
	r.header(e, FrameBase)
	e.Int32("image_seq", 0)
	e.Array("transforms", len(p.Fiducials))
	for i := range p.Fiducials {
		f := &p.Fiducials[i]
		e.Begin("")
		e.Int32("fiducial_id", f.ID)
		e.Begin("transform")
		vector(e, "translation", f.Pose.Px, f.Pose.Py, f.Pose.Pz)
		rotation(e, "rotation", f.Pose.Proll, f.Pose.Ppitch, f.Pose.Pyaw)
		e.End()
		e.Float64("image_error", 0)
		e.Float64("object_error", 0)
		e.Float64("fiducial_area", 0)
		e.End()
	}
	e.EndArray()
	return true
}

// Of visualization_msgs/Marker.
const (
	markerCube      = 1
	markerDeleteAll = 3
)

// writeMarkers writes the same as boxes: first what takes away those before.
func writeMarkers(e *Encoder, r *Reading) bool {
	p := payloadOf[iface.FiducialData](r)
	if p == nil {
		return false
	}
	e.Array("markers", len(p.Fiducials)+1)
	marker(e, r, 0, markerDeleteAll, player.Pose{})
	for i := range p.Fiducials {
		marker(e, r, int32(i), 0, p.Fiducials[i].Pose.Pose())
	}
	e.EndArray()
	return true
}

func marker(e *Encoder, r *Reading, id, action int32, at player.Pose) {
	e.Begin("")
	r.header(e, FrameBase)
	e.String("ns", r.Prefix+"fiducials")
	e.Int32("id", id)
	e.Int32("type", markerCube)
	e.Int32("action", action)
	pose(e, "pose", at)
	vector(e, "scale", 0.05, 0.3, 0.3)
	e.Begin("color")
	for i, name := range [4]string{"r", "g", "b", "a"} {
		e.Float32(name, [4]float32{1, 0.6, 0, 0.8}[i])
	}
	e.End()
	e.Time("lifetime", Stamp{}) // without end
	e.Bool("frame_locked", true)
	e.Array("points", 0)
	e.EndArray()
	e.Array("colors", 0)
	e.EndArray()
	e.String("text", "")
	e.String("mesh_resource", "")
	e.Bool("mesh_use_embedded_materials", false)
	e.End()
}
