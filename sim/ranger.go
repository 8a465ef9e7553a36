package sim

import (
	"math"
	"math/rand/v2"

	"callboard/sim/worldfile"
)

// reach is the part of a sensor's greatest range within which it sees. Stage
// loses up to half a cell in every 16 cells of empty space that a ray passes,
// so its rays end up to 1/32 early, which a reading there shows as nothing hit;
// measured with real Stage 4.3 in empty worlds, and half of that on the average
// of its worlds with walls.
const reach = 1 - 1.0/64

// Ranger holds the readings of a ranger's sensors.
type Ranger struct {
	model    *Model
	sensors  []worldfile.Sensor
	fans     []*fan
	ranges   [][]float64 // by sensor, m
	returned [][]float64 // by sensor: the ranger_return of what was hit, 0 for nothing
	taken    bool
	random   *rand.Rand
}

func newRanger(m *Model) *Ranger {
	r := &Ranger{model: m, sensors: m.spec.Ranger.Sensors, random: m.random()}
	for i := range r.sensors {
		s := &r.sensors[i]
		r.fans = append(r.fans, m.world.fanOf(s.Samples, s.FOV))
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
func (r *Ranger) Bearings(sensor int) []float64 { return r.fans[sensor].bearings }

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

func (r *Ranger) measure(i int) {
	s, f, c := &r.sensors[i], r.fans[i], &r.model.world.caster
	ranges, returned := r.ranges[i], r.returned[i]
	at := r.Place(i)
	c.begin(at, r.model.root.index, s.MaxRange*reach)
	if s.NoiseAngular == 0 && f.sweeps() {
		c.sweep(f, ranges, returned)
	} else {
		for j, b := range f.bearings {
			if s.NoiseAngular != 0 {
				b += f.step() * s.NoiseAngular * (r.random.Float64()*2 - 1) / 2
			}
			sin, cos := math.Sincos(at.A + b)
			var hit *segment
			ranges[j], hit = c.ray(cos, sin)
			if returned[j] = 0; hit != nil {
				returned[j] = float64(hit.ret)
			}
		}
	}
	for j, v := range ranges {
		if v >= c.limit {
			ranges[j] = s.MaxRange
		}
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
			ranges[i] = v + v*s.NoiseProp*(r.random.Float64()*2-1) + deviation*r.random.NormFloat64()
		}
	}
}

// step is the angle between samples, rad; for a single one the whole field.
func (f *fan) step() float64 {
	if f.samples > 1 {
		return f.fieldAngle / float64(f.samples-1)
	}
	return f.fieldAngle
}

// fanKey tells which sensors share a fan.
type fanKey struct {
	samples int
	fov     float64
}

// fanOf gives the fan for sensors of that kind.
func (w *World) fanOf(samples int, fov float64) *fan {
	key := fanKey{samples, fov}
	f := w.fans[key]
	if f == nil {
		f = newFan(samples, fov)
		w.fans[key] = f
	}
	return f
}
