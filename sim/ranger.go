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
	fans     []*fan
	aimed    []aimed
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
		n := s.Samples + lanes
		r.aimed = append(r.aimed, aimed{first: math.NaN(), sin: make([]float64, n), cos: make([]float64, n)})
		r.ranges = append(r.ranges, make([]float64, s.Samples, n))
		r.returned = append(r.returned, make([]float64, s.Samples, n))
	}
	return r
}

// aimed is the directions of a sensor's last scan.
type aimed struct {
	first    float64   // rad; NaN: there are none to use again
	sin, cos []float64 // with room for a bundle more
}

// Sensors are the ranger's sensors: one with many samples is a scanner, many
// with one are a sonar ring. The slice must not be changed.
func (r *Ranger) Sensors() []worldfile.Sensor { return r.sensors }

// Taken reports whether there has been a reading since the start.
func (r *Ranger) Taken() bool { return r.taken }

// Ranges returns the last reading of a sensor, m, the rightmost sample first.
// Nothing hit reads as the sensor's greatest range. The slice is written anew
// by the next update.
func (r *Ranger) Ranges(sensor int) []float64 { return r.ranges[sensor] }

// Intensities returns the reflectances that belong to Ranges.
func (r *Ranger) Intensities(sensor int) []float64 { return r.returned[sensor] }

// Bearings returns the directions of a sensor's samples in its own frame, rad.
// The slice must not be changed.
func (r *Ranger) Bearings(sensor int) []float64 { return r.fans[sensor].bearings }

// Place returns a sensor's pose in the world: its rays start there.
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

// measure takes a sensor's reading.
func (r *Ranger) measure(i int) {
	s, c := &r.sensors[i], &r.model.world.caster
	ranges, returned := r.ranges[i], r.returned[i]
	if len(ranges) == 0 {
		return
	}
	r.aim(i, len(ranges))
	if !c.together(r.model.root, ranges, returned) {
		c.singly(ranges, returned)
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

// aim sets where the n rays of a sensor start, and their directions. Stage keeps
// the direction as a float32 between samples, and so do we: over a wide fan that
// makes micrometres.
func (r *Ranger) aim(i, n int) {
	s, f, c := &r.sensors[i], r.fans[i], &r.model.world.caster
	first := s.Pose
	first.A += f.bearings[0]
	first.Z += s.Size.Z / 2
	at := r.model.global.Add(r.model.spec.Origin).Add(first)
	c.begin(at, s.MaxRange, r.model.root.index, nil)
	c.open()
	to := &r.aimed[i]
	if c.sin, c.cos = to.sin, to.cos; to.first == at.A {
		return // it drives straight on
	}
	if to.first = at.A; s.NoiseAngular != 0 {
		to.first = math.NaN()
	}
	sin, cos := math.Sincos(at.A)
	direction := at.A
	for j := range n {
		exact := float32(direction)
		raySin, rayCos := f.turn(j, sin, cos, float64(exact)-at.A)
		if s.NoiseAngular != 0 {
			raySin, rayCos = aim(float64(float32(direction + f.step*s.NoiseAngular*r.uniform()*0.5)))
		} else if math.Abs(raySin*rayCos) < 1e-5 {
			raySin, rayCos = aim(float64(exact)) // along an axis the last bit makes a cell
		}
		to.sin[j], to.cos[j] = raySin, rayCos
		direction = float64(exact) + f.step
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

// uniform returns one of a thousand numbers from -1 on below 1, as Stage does.
func (r *Ranger) uniform() float64 { return float64(r.random.IntN(1000))/500 - 1 }

// fan is what sensors of as many samples over as wide a field have in common.
type fan struct {
	step     float64   // between samples, rad; for a single one the whole field
	bearings []float64 // of the samples, in the sensor's frame, rad
	sin, cos []float64 // of the angle from the first sample
}

// fanKey says which sensors share a fan.
type fanKey struct {
	samples int
	fov     float64
}

// fanOf returns the fan for sensors of that kind.
func (w *World) fanOf(samples int, fov float64) *fan {
	key := fanKey{samples, fov}
	f := w.fans[key]
	if f == nil {
		f = newFan(samples, fov)
		w.fans[key] = f
	}
	return f
}

func newFan(samples int, fov float64) *fan {
	f := &fan{step: fov / float64(max(samples-1, 1))}
	first := 0.0
	if samples > 1 {
		first = -fov / 2
	}
	for i := range samples {
		turn := float64(i) * f.step
		sin, cos := math.Sincos(turn)
		f.bearings, f.sin, f.cos = append(f.bearings, first+turn), append(f.sin, sin), append(f.cos, cos)
	}
	return f
}

// turn returns the sine and cosine of a direction that is nearly that of a
// sample: sin and cos are those of the first, and angle is from there. What it
// is off by rounding is small enough for two terms, and this costs a quarter of
// what aim does.
func (f *fan) turn(sample int, sin, cos, angle float64) (float64, float64) {
	s, c := f.sin[sample], f.cos[sample]
	s, c = sin*c+cos*s, cos*c-sin*s
	off := angle - float64(sample)*f.step
	half := off * off / 2
	return s + off*c - half*s, c - off*s - half*c
}
