package iface

import (
	"math"
	"slices"

	"callboard/player"
)

// Learn takes geometry and configuration out of a payload that has any: the
// answer to a request for them, or a DATA message. It reports whether that is
// news; what was known is replaced, never changed. It allocates only for news.
func Learn(payload any, geometry **player.Geometry, config **player.RangerConfig) bool {
	switch p := payload.(type) {
	case *LaserGeom:
		return learnGeometry(geometry, p.Pose, p.Size, nil, nil)
	case *Position2DGeom:
		return learnGeometry(geometry, p.Pose, p.Size, nil, nil)
	case *SonarGeom:
		return learnGeometry(geometry, Pose3D{}, BBox3D{}, p.Poses, nil)
	case *RangerGeom:
		return learnGeometry(geometry, p.Pose, p.Size, p.ElementPoses, p.ElementSizes)
	case *RangerConfig:
		return learnConfig(config, p)
	case *RangerDataRangestamped:
		return learnStamp(geometry, config, p.HaveGeom, &p.Geom, p.HaveConfig, &p.Config)
	case *RangerDataIntnsstamped:
		return learnStamp(geometry, config, p.HaveGeom, &p.Geom, p.HaveConfig, &p.Config)
	}
	return false
}

func learnStamp(geometry **player.Geometry, config **player.RangerConfig, haveGeom uint8, g *RangerGeom, haveConfig uint8, c *RangerConfig) bool {
	a := haveGeom != 0 && learnGeometry(geometry, g.Pose, g.Size, g.ElementPoses, g.ElementSizes)
	b := haveConfig != 0 && learnConfig(config, c)
	return a || b
}

func learnGeometry(known **player.Geometry, pose Pose3D, size BBox3D, elements []Pose3D, sizes []BBox3D) bool {
	if g := *known; g != nil && samePose(g.Pose, pose.Pose()) && sameSize(g.Size, size.Size()) &&
		slices.EqualFunc(g.Elements, elements, func(a player.Pose, b Pose3D) bool { return samePose(a, b.Pose()) }) &&
		slices.EqualFunc(g.ElementSizes, sizes, func(a player.Size, b BBox3D) bool { return sameSize(a, b.Size()) }) {
		return false
	}
	g := &player.Geometry{Pose: pose.Pose(), Size: size.Size()}
	for _, e := range elements {
		g.Elements = append(g.Elements, e.Pose())
	}
	for _, s := range sizes {
		g.ElementSizes = append(g.ElementSizes, s.Size())
	}
	*known = g
	return true
}

func learnConfig(known **player.RangerConfig, c *RangerConfig) bool {
	n := player.RangerConfig(*c)
	if o := *known; o != nil && same(o.MinAngle, n.MinAngle) && same(o.MaxAngle, n.MaxAngle) &&
		same(o.AngularRes, n.AngularRes) && same(o.MinRange, n.MinRange) && same(o.MaxRange, n.MaxRange) &&
		same(o.RangeRes, n.RangeRes) && same(o.Frequency, n.Frequency) {
		return false
	}
	*known = &n
	return true
}

func samePose(a, b player.Pose) bool {
	return same(a.X, b.X) && same(a.Y, b.Y) && same(a.Z, b.Z) &&
		same(a.Roll, b.Roll) && same(a.Pitch, b.Pitch) && same(a.Yaw, b.Yaw)
}

func sameSize(a, b player.Size) bool {
	return same(a.W, b.W) && same(a.L, b.L) && same(a.H, b.H)
}

// same compares bits: real drivers leave fields uninitialised, and a NaN that
// stays is no change.
func same(a, b float64) bool { return math.Float64bits(a) == math.Float64bits(b) }

// Answer is an answer to a request without body: its subtype and its struct.
type Answer struct {
	Subtype uint8
	Payload any
}

// Answers returns the answers that tell what is known of a device, as Learn
// takes them: to the requests for its geometry and its configuration.
func Answers(i player.Interface, geometry *player.Geometry, config *player.RangerConfig) []Answer {
	var out []Answer
	if g := geometry; g != nil {
		pose, size := poseOf(g.Pose), boxOf(g.Size)
		var elements []Pose3D
		for _, e := range g.Elements {
			elements = append(elements, poseOf(e))
		}
		switch i {
		case player.InterfaceLaser:
			out = append(out, Answer{ReqLaserGetGeom, &LaserGeom{Pose: pose, Size: size}})
		case player.InterfacePosition2D:
			out = append(out, Answer{ReqPosition2DGetGeom, &Position2DGeom{Pose: pose, Size: size}})
		case player.InterfaceSonar:
			out = append(out, Answer{ReqSonarGetGeom, &SonarGeom{Poses: elements}})
		case player.InterfaceRanger:
			// A size for each pose, also if it is not known: stock clients read so
			// many, and die where there are fewer.
			sizes := make([]BBox3D, max(len(g.Elements), len(g.ElementSizes)))
			for i, s := range g.ElementSizes {
				sizes[i] = boxOf(s)
			}
			out = append(out, Answer{ReqRangerGetGeom, &RangerGeom{Pose: pose, Size: size, ElementPoses: elements, ElementSizes: sizes}})
		}
	}
	if config != nil && i == player.InterfaceRanger {
		c := RangerConfig(*config)
		out = append(out, Answer{ReqRangerGetConfig, &c})
	}
	return out
}

func poseOf(p player.Pose) Pose3D {
	return Pose3D{Px: p.X, Py: p.Y, Pz: p.Z, Proll: p.Roll, Ppitch: p.Pitch, Pyaw: p.Yaw}
}

func boxOf(s player.Size) BBox3D { return BBox3D{Sw: s.W, Sl: s.L, Sh: s.H} }

// Describes reports whether DATA messages of that kind may hold what Learn takes.
func Describes(i player.Interface, subtype uint8) bool {
	switch i {
	case player.InterfaceRanger:
		return subtype == DataRangerRangestamped || subtype == DataRangerIntnsstamped || subtype == DataRangerGeom
	case player.InterfaceSonar:
		return subtype == DataSonarGeom
	}
	return false
}
