package sim

import "math"

// Power that models draw while they are subscribed, W, and the time for which
// Stage reckons it in each step, whatever the step's length, s.
const (
	basePower    = 1.0
	drivePower   = 10.0 // for each kg and each m/s or rad/s
	sensorPower  = 0.2  // of each sensor of a ranger
	blobPower    = 2.0
	bumperPower  = 0.1
	motorPower   = 2.0 // of an actuator
	energyPeriod = 0.1
)

// Pack is a power pack. An empty one stops nothing.
type Pack struct {
	model             *Model
	stored, capacity  float64 // J; stored below 0: endless
	dissipated, drawn float64 // J in all and in the last step
	receiving, giving bool
}

func newPack(m *Model) *Pack {
	p := &Pack{model: m}
	p.start()
	return p
}

// start fills the pack as at the start of the world.
func (p *Pack) start() {
	*p = Pack{model: p.model, stored: p.model.spec.Pack.Joules, capacity: p.model.spec.Pack.Capacity}
}

// Model is what the pack is on.
func (p *Pack) Model() *Model { return p.model }

// Stored is the charge, J; below 0 it is endless.
func (p *Pack) Stored() float64 { return p.stored }

// Capacity is how much the pack can hold, J.
func (p *Pack) Capacity() float64 { return p.capacity }

// Dissipated is what has been drawn from the pack since the start, J.
func (p *Pack) Dissipated() float64 { return p.dissipated }

// Watts is the power drawn in the last step.
func (p *Pack) Watts() float64 { return p.drawn / energyPeriod }

// Receiving reports whether the pack was being charged in the last step.
func (p *Pack) Receiving() bool { return p.receiving }

// Giving reports whether the pack charged another in the last step.
func (p *Pack) Giving() bool { return p.giving }

// Pack is the power pack that the model draws from: its own, or the nearest one
// below it; nil without one.
func (m *Model) Pack() *Pack {
	for p := m; p != nil; p = p.parent {
		if p.pack != nil {
			return p.pack
		}
	}
	return nil
}

// power is what the model's sensors draw once it is subscribed, W.
func (m *Model) power() float64 {
	switch {
	case m.ranger != nil:
		return sensorPower * float64(len(m.ranger.sensors))
	case m.blobfinder != nil:
		return blobPower
	case m.bumper != nil:
		return bumperPower
	case m.spec.Actuator != nil && m.spec.Watts == 0:
		return motorPower
	}
	return m.spec.Watts
}

// supply lets every subscribed model draw its power, and chargers give theirs
// to what touches them.
func (w *World) supply() {
	for _, p := range w.packs {
		p.receiving, p.giving, p.drawn = false, false, 0
	}
	for _, m := range w.active {
		p := m.Pack()
		if p == nil {
			continue
		}
		if m.watts > 0 {
			p.draw(m.watts * energyPeriod)
		}
		if m.spec.GiveWatts > 0 {
			w.charge(m, p)
		}
	}
}

// draw takes energy that is used up.
func (p *Pack) draw(joules float64) {
	if p.stored >= 0 {
		joules = math.Min(p.stored, joules)
		p.stored -= joules
	}
	p.dissipated += joules
	p.drawn += joules
}

// charge moves energy of p to the packs of what touches m.
func (w *World) charge(m *Model, p *Pack) {
	for _, other := range w.touching(m) {
		to := other.Pack()
		if to == nil || to == p || other.spec.TakeWatts <= 0 {
			continue
		}
		joules := math.Min(m.spec.GiveWatts, other.spec.TakeWatts) * energyPeriod
		if p.stored >= 0 {
			joules = math.Min(p.stored, joules)
		}
		joules = math.Max(0, math.Min(joules, to.capacity-to.stored))
		if p.stored >= 0 {
			p.stored -= joules
		}
		to.stored += joules
		to.receiving, p.giving = true, true
	}
}
