package view

import (
	"slices"

	"callboard/player"
	"callboard/player/iface"
)

// learnStamped takes the geometry and configuration that some messages bring;
// true if they are news.
func (v *device) learnStamped(payload any) bool {
	switch p := payload.(type) {
	case *iface.RangerDataRangestamped:
		news := p.HaveGeom != 0 && v.learnRangerGeom(&p.Geom)
		return p.HaveConfig != 0 && v.learnRangerConfig(&p.Config) || news
	case *iface.RangerDataIntnsstamped:
		news := p.HaveGeom != 0 && v.learnRangerGeom(&p.Geom)
		return p.HaveConfig != 0 && v.learnRangerConfig(&p.Config) || news
	case *iface.RangerGeom:
		return v.learnRangerGeom(p)
	case *iface.SonarGeom:
		return v.learnElements(player.Geometry{}, p.Poses)
	}
	return false
}

func (v *device) learnRangerGeom(g *iface.RangerGeom) bool {
	return v.learnElements(player.Geometry{Pose: g.Pose.Pose(), Size: g.Size.Size()}, g.ElementPoses)
}

// learnElements takes a geometry with these elements, unless it is known.
func (v *device) learnElements(g player.Geometry, poses []iface.Pose3D) bool {
	if v.geom != nil && slices.EqualFunc(v.geom.Elements, poses, func(a player.Pose, b iface.Pose3D) bool { return a == b.Pose() }) {
		return false
	}
	for _, p := range poses {
		g.Elements = append(g.Elements, p.Pose())
	}
	v.geom = &g
	return true
}

func (v *device) learnRangerConfig(c *iface.RangerConfig) bool {
	config := player.RangerConfig(*c)
	if v.config != nil && *v.config == config {
		return false
	}
	v.config = &config
	return true
}
