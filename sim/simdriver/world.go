package simdriver

import (
	"encoding/binary"
	"math"

	"callboard/player"
	"callboard/player/iface"
	"callboard/player/server"
	"callboard/sim"
)

// simulationEndpoint serves the world as simulation.
type simulationEndpoint struct{ *binding }

func (e *simulationEndpoint) publish(float64) {}

func (e *simulationEndpoint) handle(c *server.Call) {
	s := e.simulation
	if c.Header.Type == player.Command {
		switch c.Header.Subtype {
		case iface.CmdSimulationPause:
			s.pause(!s.paused)
		case iface.CmdSimulationReset:
			s.world.Reset()
		}
		return
	}
	var reply any
	ok := false
	switch req := c.Payload.(type) {
	case *iface.SimulationPose2DReq:
		reply, ok = s.pose2D(c.Header.Subtype, req)
	case *iface.SimulationPose3DReq:
		reply, ok = s.pose3D(c.Header.Subtype, req)
	case *iface.SimulationPropertyReq:
		if c.Header.Subtype == iface.ReqSimulationSetProperty && iface.GoString(req.Prop) == "step" {
			s.advance(c, req.Value)
			return
		}
		reply, ok = s.property(c.Header.Subtype, req)
	}
	if ok {
		c.Ack(reply)
	} else {
		c.Nack(nil)
	}
}

// pose2D gets or sets a pose in the parent's frame, which for top-level models
// is the world's.
func (s *Simulation) pose2D(subtype uint8, req *iface.SimulationPose2DReq) (any, bool) {
	m := s.world.Find(iface.GoString(req.Name))
	if m == nil {
		return nil, false
	}
	if subtype == iface.ReqSimulationGetPose2D {
		req.Pose = pose2D(m.Pose())
		return req, true
	}
	p := m.Pose()
	p.X, p.Y, p.A = req.Pose.Px, req.Pose.Py, req.Pose.Pa
	return nil, m.SetPose(p)
}

// pose3D is pose2D with heights; its answer tells the simulated time in µs.
func (s *Simulation) pose3D(subtype uint8, req *iface.SimulationPose3DReq) (any, bool) {
	m := s.world.Find(iface.GoString(req.Name))
	if m == nil {
		return nil, false
	}
	if subtype == iface.ReqSimulationGetPose3D {
		p := m.Pose()
		req.Pose = iface.Pose3D{Px: p.X, Py: p.Y, Pz: p.Z, Pyaw: p.A}
		req.Simtime = float64(s.world.Microseconds())
		return req, true
	}
	return nil, m.SetPose(sim.Pose{X: req.Pose.Px, Y: req.Pose.Py, Z: req.Pose.Pz, A: req.Pose.Pyaw})
}

// Sizes of the properties in bytes. Values are memory of a little-endian machine.
const (
	colorSize  = 16 // red, green, blue, alpha as float32, 0…1
	timeSize   = 8  // simulated µs
	pausedSize = 4  // a uint32, 1 while paused
	stepSize   = 4  // a uint32, the number of steps
)

// property gets or sets a property: of a model its color, as in Stage; of the
// world, whatever model is named, time and paused. Stage wants a model's name
// for time too, which is not asked for here.
func (s *Simulation) property(subtype uint8, req *iface.SimulationPropertyReq) (any, bool) {
	get := subtype == iface.ReqSimulationGetProperty
	switch prop := iface.GoString(req.Prop); {
	case prop == "color" && len(req.Value) == colorSize:
		m := s.world.Find(iface.GoString(req.Name))
		if m == nil {
			return nil, false
		}
		return color(m, get, req)
	case prop == "time" && get:
		req.Value = binary.LittleEndian.AppendUint64(make([]byte, 0, timeSize), uint64(s.world.Microseconds()))
		return req, true
	case prop == "paused" && get:
		req.Value = binary.LittleEndian.AppendUint32(make([]byte, 0, pausedSize), flag(s.paused))
		return req, true
	case prop == "paused" && len(req.Value) == pausedSize:
		s.pause(binary.LittleEndian.Uint32(req.Value) != 0)
		return nil, true
	}
	return nil, false
}

// color gets or sets a model's colour.
func color(m *sim.Model, get bool, req *iface.SimulationPropertyReq) (any, bool) {
	if get {
		for i, v := range m.Tint() {
			binary.LittleEndian.PutUint32(req.Value[4*i:], math.Float32bits(v))
		}
		return req, true
	}
	var tint [4]float32
	for i := range tint {
		tint[i] = math.Float32frombits(binary.LittleEndian.Uint32(req.Value[4*i:]))
	}
	return nil, m.SetTint(tint)
}

func flag(b bool) uint32 {
	if b {
		return 1
	}
	return 0
}

// maxSteps is how many steps one request may ask for.
const maxSteps = 1 << 20

// errand is a request that is answered once its steps are made.
type errand struct {
	call  *server.Call
	steps uint32
}

// advance makes the paused world take steps as fast as it can; the request is
// answered after the last one, behind the data that they bring.
func (s *Simulation) advance(c *server.Call, value []byte) {
	if !s.paused || len(value) != stepSize {
		c.Nack(nil)
		return
	}
	switch n := binary.LittleEndian.Uint32(value); {
	case n == 0:
		c.Ack(nil)
	case n > maxSteps || len(s.errands) >= maxErrands:
		c.Nack(nil)
	default:
		s.errands = append(s.errands, errand{c, n})
	}
}

// maxErrands is how many requests for steps may wait.
const maxErrands = 1024

// pause stops the world or lets it go on; steps that are owed are not made.
func (s *Simulation) pause(paused bool) {
	if s.paused && !paused {
		for _, e := range s.errands {
			e.call.Nack(nil)
		}
		s.errands = nil
	}
	s.paused = paused
}

// advanced counts a step that was made while paused.
func (s *Simulation) advanced() {
	e := &s.errands[0]
	if e.steps--; e.steps == 0 {
		e.call.Ack(nil)
		s.errands = s.errands[1:]
	}
}
