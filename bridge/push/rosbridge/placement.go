package rosbridge

import (
	"math"

	"callboard/bridge/push/ros"
	"callboard/player"
)

// placement is where a frame is in another one.
type placement struct {
	translation [3]float64
	rotation    [4]float64 // x, y, z, w
}

// placed returns the placement of a pose.
func placed(p player.Pose) placement {
	return placement{[3]float64{p.X, p.Y, p.Z}, ros.Quaternion(p.Roll, p.Pitch, p.Yaw)}
}

// turn returns a vector, turned.
func (p placement) turn(v [3]float64) [3]float64 {
	x, y, z, w := p.rotation[0], p.rotation[1], p.rotation[2], p.rotation[3]
	// v + 2·q × (q × v + w·v)
	cx, cy, cz := y*v[2]-z*v[1]+w*v[0], z*v[0]-x*v[2]+w*v[1], x*v[1]-y*v[0]+w*v[2]
	return [3]float64{v[0] + 2*(y*cz-z*cy), v[1] + 2*(z*cx-x*cz), v[2] + 2*(x*cy-y*cx)}
}

// then returns where something is that is at o in this frame.
func (p placement) then(o placement) placement {
	t := p.turn(o.translation)
	a, b := p.rotation, o.rotation
	return placement{
		[3]float64{p.translation[0] + t[0], p.translation[1] + t[1], p.translation[2] + t[2]},
		[4]float64{
			a[3]*b[0] + a[0]*b[3] + a[1]*b[2] - a[2]*b[1],
			a[3]*b[1] - a[0]*b[2] + a[1]*b[3] + a[2]*b[0],
			a[3]*b[2] + a[0]*b[1] - a[1]*b[0] + a[2]*b[3],
			a[3]*b[3] - a[0]*b[0] - a[1]*b[1] - a[2]*b[2],
		},
	}
}

// inverse returns where the other frame is in this one.
func (p placement) inverse() placement {
	i := placement{rotation: [4]float64{-p.rotation[0], -p.rotation[1], -p.rotation[2], p.rotation[3]}}
	t := i.turn(p.translation)
	i.translation = [3]float64{-t[0], -t[1], -t[2]}
	return i
}

func (p placement) distance(o placement) float64 {
	return math.Hypot(math.Hypot(p.translation[0]-o.translation[0], p.translation[1]-o.translation[1]), p.translation[2]-o.translation[2])
}

func (p placement) angle(o placement) float64 {
	dot := 0.0
	for i := range p.rotation {
		dot += p.rotation[i] * o.rotation[i]
	}
	return 2 * math.Acos(min(math.Abs(dot), 1))
}
