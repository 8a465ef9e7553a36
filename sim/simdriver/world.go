package simdriver

import (
	"encoding/binary"
	"math"

	"callboard/player"
	"callboard/player/iface"
	"callboard/player/server"
	"callboard/sim"
)

// worldDriver serves simulation:0.
type worldDriver struct{ simulation *Simulation }

// Devices lists simulation:0.
func (d *worldDriver) Devices() []server.DeviceInfo {
	return []server.DeviceInfo{{Interf: player.InterfaceSimulation, Driver: driverName}}
}

// Attach does nothing: the simulation interface has no data.
func (d *worldDriver) Attach(server.Publisher) {}

// Open does nothing.
func (d *worldDriver) Open(player.Addr) error { return nil }

// Close does nothing.
func (d *worldDriver) Close(player.Addr) {}

// Handle hands a command or request over to be carried out before the next step.
func (d *worldDriver) Handle(c *server.Call) {
	if !d.simulation.mail.put(func() { d.simulation.handleWorld(c) }) {
		c.Nack(nil)
	}
}

// Handles tells what is answered or obeyed.
func (d *worldDriver) Handles(a player.Addr, t player.Type, subtype uint8) bool {
	switch t {
	case player.Command:
		return subtype == iface.CmdSimulationPause || subtype == iface.CmdSimulationReset
	case player.Request:
		return subtype >= iface.ReqSimulationGetPose2D && subtype <= iface.ReqSimulationSetProperty
	}
	return false
}

func (s *Simulation) handleWorld(c *server.Call) {
	if c.Header.Type == player.Command {
		switch c.Header.Subtype {
		case iface.CmdSimulationPause:
			s.paused = !s.paused
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
	colorSize = 16 // red, green, blue, alpha as float32, 0…1
	timeSize  = 8  // simulated µs
)

// property gets a model's color or the time, or sets a color.
func (s *Simulation) property(subtype uint8, req *iface.SimulationPropertyReq) (any, bool) {
	m := s.world.Find(iface.GoString(req.Name))
	if m == nil {
		return nil, false
	}
	get := subtype == iface.ReqSimulationGetProperty
	switch prop := iface.GoString(req.Prop); {
	case prop == "color" && len(req.Value) == colorSize && get:
		for i, v := range m.Tint() {
			binary.LittleEndian.PutUint32(req.Value[4*i:], math.Float32bits(v))
		}
		return req, true
	case prop == "color" && len(req.Value) == colorSize:
		var tint [4]float32
		for i := range tint {
			tint[i] = math.Float32frombits(binary.LittleEndian.Uint32(req.Value[4*i:]))
		}
		return nil, m.SetTint(tint)
	case prop == "time" && get:
		req.Value = binary.LittleEndian.AppendUint64(make([]byte, 0, timeSize), uint64(s.world.Microseconds()))
		return req, true
	}
	return nil, false
}
