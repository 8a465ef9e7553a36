package sim

import (
	"math"
	"math/rand/v2"
	"time"

	"callboard/sim/worldfile"
)

// How robots wander. Lengths in m, speeds in m/s and rad/s, times in s.
const (
	wanderSpeed  = 0.5
	wanderTurn   = 1.2
	wanderNear   = 1.6 // free way ahead below which it slows down and turns away
	wanderStop   = 0.35
	wanderFree   = 0.9  // free way ahead that ends a turn on the spot
	wanderMargin = 0.12 // kept free beside the body
	wanderBack   = 1.0  // time that it backs off after a stall
)

// Wanderers drive robots about: slowly and by chance where there is room, away
// from walls and each other by their own scans, backing off after a stall.
// They are for demonstrations and benchmarks: same seed, same way.
type Wanderers struct {
	world *World
	all   []*wanderer
	of    map[*Model]*wanderer
	beams map[mounting][]beam
}

// mounting says which sensors share their beams: what they are and where on
// the robot.
type mounting struct {
	fan *fan
	at  Pose
}

// wanderer drives one robot.
type wanderer struct {
	base   *Model
	eyes   *Model // its best ranger, nil without one
	random *rand.Rand
	views  []view
	half   float64 // m, of the way that the body needs
	nose   float64 // m, from the pose to the front
	pause  int64   // µs, until then a client drives

	drift float64 // rad/s, of the stroll
	spin  float64 // rad/s, of a turn on the spot; 0: none
	back  int64   // µs, until then it backs off
}

// view is what a sensor sees: a range for each of its beams.
type view struct {
	beams  []beam
	ranges []float64
}

// beam is a sample of a sensor in the robot's frame.
type beam struct{ x, y, cos, sin float64 }

// NewWanderers lets all robots of w wander from the next Drive on. It
// subscribes their bases and one ranger of each.
func NewWanderers(w *World, seed uint64) *Wanderers {
	ws := &Wanderers{world: w, of: map[*Model]*wanderer{}, beams: map[mounting][]beam{}}
	for i, m := range w.Robots() {
		d := &wanderer{base: m, random: rand.New(rand.NewPCG(seed, uint64(i)+1))}
		m.Subscribe()
		d.measure()
		ws.look(d)
		ws.all = append(ws.all, d)
		ws.of[m] = d
	}
	return ws
}

// Pause leaves a robot to someone else until the given simulated time.
func (ws *Wanderers) Pause(m *Model, until time.Duration) {
	if d := ws.of[m]; d != nil {
		d.pause, d.spin, d.back = until.Microseconds(), 0, 0
	}
}

// Drive hands each robot that wanders its command for the next step.
func (ws *Wanderers) Drive() {
	for _, d := range ws.all {
		if d.pause <= ws.world.now {
			d.drive(ws.world.now)
		}
	}
}

// measure finds how much room the body needs.
func (d *wanderer) measure() {
	s, o := d.base.spec.Size, d.base.spec.Origin
	d.half = math.Max(s.Y/2+math.Abs(o.Y), s.X/4) + wanderMargin
	d.nose = s.X/2 + o.X
}

// look chooses the robot's ranger with the most samples and subscribes it.
func (ws *Wanderers) look(d *wanderer) {
	most := 0
	for _, m := range d.base.Rangers() {
		n := 0
		for _, s := range m.ranger.sensors {
			n += s.Samples
		}
		if n > most {
			most, d.eyes = n, m
		}
	}
	if d.eyes == nil {
		return
	}
	d.eyes.Subscribe()
	on := d.eyes.spec.Origin
	for m := d.eyes; m != d.base; m = m.parent {
		on = m.pose.Add(on)
	}
	r := d.eyes.ranger
	for i := range r.sensors {
		d.views = append(d.views, view{ws.beamsOf(mounting{r.fans[i], on.Add(r.sensors[i].Pose)}), r.ranges[i]})
	}
}

// beamsOf returns the beams of sensors that are mounted so.
func (ws *Wanderers) beamsOf(m mounting) []beam {
	beams := ws.beams[m]
	if beams == nil {
		for _, b := range m.fan.bearings {
			sin, cos := math.Sincos(m.at.A + b)
			beams = append(beams, beam{x: m.at.X, y: m.at.Y, cos: cos, sin: sin})
		}
		ws.beams[m] = beams
	}
	return beams
}

// drive decides on one command.
func (d *wanderer) drive(now int64) {
	p := d.base.position
	if p.stall && d.back <= now {
		d.back = now + int64(wanderBack*1e6*(0.5+d.random.Float64()))
		d.spin = d.side() * wanderTurn * 0.8
	}
	if d.back > now {
		// Backing off may touch too; turning on then helps.
		if p.stall && d.random.IntN(4) == 0 {
			d.spin = -d.spin
		}
		speed := -0.2
		if p.stall && d.random.IntN(2) == 0 {
			speed = 0
		}
		d.command(speed, d.spin)
		return
	}
	ahead, left, right := d.room()
	d.drift += (d.random.Float64() - 0.5) * 0.2
	d.drift *= 0.98
	switch {
	case d.spin != 0 && ahead > wanderFree:
		d.spin = 0
	case d.spin == 0 && ahead < wanderStop:
		d.spin = wanderTurn
		if right > left*1.05 || right > left*0.95 && d.random.IntN(2) == 0 {
			d.spin = -wanderTurn
		}
	}
	if d.spin != 0 {
		d.command(0, d.spin)
		return
	}
	speed, turn := wanderSpeed, d.drift
	if ahead < wanderNear {
		speed *= math.Max(0.2, (ahead-wanderStop)/(wanderNear-wanderStop))
		// To the roomier side; when they are alike, to the right, as everyone does.
		away := (left - right) / (left + right)
		if math.Abs(away) < 0.05 {
			away = -0.3
		}
		turn += wanderTurn * 1.5 * away * (1 - ahead/wanderNear)
	} else {
		turn += 0.25 * (left - right) / (left + right)
	}
	d.command(speed, math.Max(-wanderTurn, math.Min(wanderTurn, turn)))
}

// side returns 1 or -1 by chance.
func (d *wanderer) side() float64 { return float64(2*d.random.IntN(2) - 1) }

// room measures the free way ahead, as wide as the body, and how much room
// there is on either side. Blind robots believe in free ways.
func (d *wanderer) room() (ahead, left, right float64) {
	const far = 4
	ahead, left, right = far, far, far
	if d.eyes == nil || !d.eyes.ranger.taken {
		return ahead, left, right
	}
	sumL, sumR, nL, nR := 0.0, 0.0, 0, 0
	for _, v := range d.views {
		for i := range v.beams {
			b := &v.beams[i]
			if b.cos < -0.1 {
				continue
			}
			r := min(v.ranges[i], far)
			x, y := b.x+r*b.cos, b.y+r*b.sin
			if y < d.half && y > -d.half && x > 0 && x-d.nose < ahead {
				ahead = math.Max(0, x-d.nose)
			}
			// What is near counts for more than how far the view goes elsewhere.
			if b.sin > 0.1 {
				sumL += math.Sqrt(r)
				nL++
			} else if b.sin < -0.1 {
				sumR += math.Sqrt(r)
				nR++
			}
		}
	}
	if nL > 0 {
		left = sumL / float64(nL)
	}
	if nR > 0 {
		right = sumR / float64(nR)
	}
	return ahead, left + 1e-6, right + 1e-6
}

// command passes speed and turn on as the drive takes them.
func (d *wanderer) command(speed, turn float64) {
	p := d.base.position
	if p.spec.Drive == worldfile.Car {
		if speed == 0 {
			speed, turn = -0.2, -turn // it cannot turn on the spot
		}
		turn = math.Max(-0.6, math.Min(0.6, turn))
	}
	p.SetVelocity(speed, 0, turn)
}
