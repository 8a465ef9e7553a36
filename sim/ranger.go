package sim

import (
	"math"
	"math/rand/v2"

	"callboard/sim/worldfile"
)

// Ranger holds the readings of a ranger's sensors.
type Ranger struct {
	model    *Model
	sensors  []worldfile.Sensor
	bearings [][]float64 // by sensor, rad
	ranges   [][]float64 // by sensor, m
	returned [][]float64 // by sensor: the ranger_return of what was hit, 0 for nothing
	taken    bool
	random   *rand.Rand
}

func newRanger(m *Model) *Ranger {
	r := &Ranger{model: m, sensors: m.spec.Ranger.Sensors, random: m.random()}
	for i := range r.sensors {
		s := &r.sensors[i]
		r.bearings = append(r.bearings, m.world.bearings(s.Samples, s.FOV))
		r.ranges = append(r.ranges, make([]float64, s.Samples))
		r.returned = append(r.returned, make([]float64, s.Samples))
	}
	return r
}

// Sensors are the ranger's sensors: one with many samples is a scanner, many
// with one are a sonar ring. The slice must not be changed.
func (r *Ranger) Sensors() []worldfile.Sensor { return r.sensors }

// Taken tells whether there has been a reading since the start.
func (r *Ranger) Taken() bool { return r.taken }

// Ranges gives the last reading of a sensor, m, the rightmost sample first.
// Nothing hit reads as the sensor's greatest range. The slice is written anew
// by the next update.
func (r *Ranger) Ranges(sensor int) []float64 { return r.ranges[sensor] }

// Intensities gives the reflectances that belong to Ranges.
func (r *Ranger) Intensities(sensor int) []float64 { return r.returned[sensor] }

// Bearings gives the directions of a sensor's samples in its own frame, rad.
// The slice must not be changed.
func (r *Ranger) Bearings(sensor int) []float64 { return r.bearings[sensor] }

// Place gives a sensor's pose in the world: its rays start there.
func (r *Ranger) Place(sensor int) Pose {
	s := &r.sensors[sensor]
	p := r.model.global.Add(r.model.spec.Origin).Add(s.Pose)
	p.Z += s.Size.Z / 2
	return p
}

// update takes a reading of all sensors.
func (r *Ranger) update() {
	r.taken = true
	for i := range r.sensors {
		r.measure(i)
	}
}

// measure takes a sensor's reading. Stage keeps the direction as a float32
// between samples, and so do we: over a wide fan that makes micrometres.
func (r *Ranger) measure(i int) {
	s, c := &r.sensors[i], &r.model.world.caster
	ranges, returned := r.ranges[i], r.returned[i]
	if len(ranges) == 0 {
		return
	}
	step := step(s.Samples, s.FOV)
	first := s.Pose
	first.A += r.bearings[i][0]
	first.Z += s.Size.Z / 2
	at := r.model.global.Add(r.model.spec.Origin).Add(first)
	c.begin(at, r.model.root.index, nil)
	direction := at.A
	for j := range ranges {
		saved := float32(direction)
		ray := saved
		if s.NoiseAngular != 0 {
			ray = float32(direction + step*s.NoiseAngular*r.uniform()*0.5)
		}
		sin, cos := aim(float64(ray))
		distance, hit := c.cast(sin, cos, s.MaxRange)
		ranges[j], returned[j] = distance, 0
		if hit != nil {
			returned[j] = float64(hit.ret)
		}
		direction = float64(saved) + step
	}
	if s.NoiseConst != 0 || s.NoiseProp != 0 {
		r.disturb(s, ranges)
	}
	if s.Clip {
		for j, v := range ranges {
			ranges[j] = math.Max(v, s.MinRange)
		}
	}
}

// disturb adds noise to what was hit: const is a variance, and nothing is
// clipped, as in Stage.
func (r *Ranger) disturb(s *worldfile.Sensor, ranges []float64) {
	deviation := math.Sqrt(math.Abs(s.NoiseConst))
	for i, v := range ranges {
		if v < s.MaxRange {
			ranges[i] = v + v*s.NoiseProp*r.uniform() + deviation*r.random.NormFloat64()
		}
	}
}

// step is the angle between samples, rad; for a single one the whole field.
func step(samples int, fov float64) float64 { return fov / float64(max(samples-1, 1)) }

// uniform returns a number between -1 and 1.
func (r *Ranger) uniform() float64 { return r.random.Float64()*2 - 1 }

// fanKey tells which sensors share their bearings.
type fanKey struct {
	samples int
	fov     float64
}

// bearings returns the directions of the samples of such a sensor, in its own
// frame.
func (w *World) bearings(samples int, fov float64) []float64 {
	key := fanKey{samples, fov}
	all := w.fans[key]
	if all == nil {
		first := 0.0
		if samples > 1 {
			first = -fov / 2
		}
		for i := range samples {
			all = append(all, first+float64(i)*step(samples, fov))
		}
		w.fans[key] = all
	}
	return all
}
