package sim

import (
	"math"

	"callboard/sim/worldfile"
)

// Fiducial holds what a fiducial finder sees.
type Fiducial struct {
	model *Model
	found []Found
}

// Found is a fiducial that is seen: how far and in which direction, m and rad
// from the finder's heading, its heading relative to the finder's, its size,
// and its number, 0 if it is too far to be read.
type Found struct {
	Model               *Model
	ID                  int
	Range, Bearing, Yaw float64
	Size                worldfile.Size
}

// Found returns what was seen at the last update, in the order of the file. The
// slice is written anew by the next update.
func (f *Fiducial) Found() []Found { return f.found }

// FiducialReturn is the number that finders see on the model, 0 for none.
func (m *Model) FiducialReturn() int { return m.fiducialReturn }

// SetFiducialReturn changes the number that finders see on the model.
func (m *Model) SetFiducialReturn(n int) {
	if (m.fiducialReturn != 0) != (n != 0) {
		m.world.targets = dropped(m.world.targets, m)
		if n != 0 {
			m.world.targets = insert(m.world.targets, m)
		}
	}
	m.fiducialReturn = n
}

// update looks for targets: near enough, within the field of view, and the
// first thing that a ray at the finder's height meets.
func (f *Fiducial) update() {
	f.found = f.found[:0]
	m, spec := f.model, f.model.spec.Fiducial
	at := m.global
	for _, target := range m.world.targets {
		if target.root == m.root || target.spec.FiducialKey != m.spec.FiducialKey {
			continue
		}
		seen := at.Sub(target.global)
		distance := math.Hypot(seen.X, seen.Y)
		bearing := math.Atan2(seen.Y, seen.X)
		if distance >= spec.MaxRange || math.Abs(bearing) > spec.FOV/2 || !f.clear(target, bearing) {
			continue
		}
		id := target.fiducialReturn
		if distance >= spec.MaxRangeID {
			id = 0
		}
		f.found = append(f.found, Found{Model: target, ID: id, Range: distance, Bearing: bearing, Yaw: seen.A, Size: target.spec.Size})
	}
}

// clear reports whether nothing else stands in the way. A ray that meets nothing
// passes above or below the target, which counts only if heights are ignored.
func (f *Fiducial) clear(target *Model, bearing float64) bool {
	m := f.model
	at := m.global.Add(m.spec.Origin).Add(Pose{A: bearing})
	c := &m.world.caster
	c.begin(at, m.spec.Fiducial.MaxRange, m.root.index, func(t *tile) bool { return t.root != m.root.index && at.Z >= t.low && at.Z <= t.high })
	sin, cos := aim(at.A)
	_, hit := c.cast(sin, cos)
	if hit == nil {
		return m.spec.Fiducial.IgnoreZ
	}
	return int(hit.model) == target.index
}
