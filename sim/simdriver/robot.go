package simdriver

import (
	"fmt"

	"callboard/player"
	"callboard/player/iface"
	"callboard/player/server"
	"callboard/sim"
)

// driverName is what clients are told, as by Stage's plug-in.
const driverName = "stage"

// device is the interface and index of one device on its port.
type device struct {
	interf player.Interface
	index  uint16
}

func deviceOf(a player.Addr) device { return device{a.Interf, a.Index} }

// robot serves one robot: its base as position2d, each of its rangers as
// ranger.
type robot struct {
	simulation *Simulation
	infos      []server.DeviceInfo
	bindings   map[device]*binding
}

func newRobot(s *Simulation, m *sim.Model, index uint16) *robot {
	r := &robot{simulation: s, bindings: map[device]*binding{}}
	r.bind(m, device{player.InterfacePosition2D, index})
	for i, ranger := range m.Rangers() {
		r.bind(ranger, device{player.InterfaceRanger, index*s.most + uint16(i)})
	}
	return r
}

// bind makes a model a device.
func (r *robot) bind(m *sim.Model, d device) {
	b := &binding{simulation: r.simulation, model: m, addr: player.Addr{Interf: d.interf, Index: d.index}}
	r.infos = append(r.infos, server.DeviceInfo{Interf: d.interf, Index: d.index, Driver: driverName})
	r.bindings[d] = b
}

// Devices lists position2d, then the rangers in the order of the file.
func (r *robot) Devices() []server.DeviceInfo { return r.infos }

// Attach takes the way to publish.
func (r *robot) Attach(pub server.Publisher) {
	for _, info := range r.infos {
		b := r.bindings[device{info.Interf, info.Index}]
		b.pub = pub
		r.simulation.mail.put(func() {
			i := b.model.Index()
			r.simulation.served[i] = append(r.simulation.served[i], b)
		})
	}
}

// Open subscribes the model; its first data come one update interval later.
func (r *robot) Open(a player.Addr) error {
	b := r.bindings[deviceOf(a)]
	if b == nil {
		return fmt.Errorf("simdriver: no device %s", a)
	}
	if !r.simulation.mail.put(b.model.Subscribe) {
		return errFull
	}
	return nil
}

// Close takes the subscription back: a base that nobody has open stands still.
func (r *robot) Close(a player.Addr) {
	if b := r.bindings[deviceOf(a)]; b != nil {
		r.simulation.mail.put(b.model.Unsubscribe)
	}
}

// Handle hands a command or request over to be carried out before the next step.
func (r *robot) Handle(c *server.Call) {
	b := r.bindings[deviceOf(c.Header.Addr)]
	if b == nil || !r.simulation.mail.put(func() { b.handle(c) }) {
		c.Nack(nil)
	}
}

// Handles tells what is answered or obeyed.
func (r *robot) Handles(a player.Addr, t player.Type, subtype uint8) bool {
	switch {
	case a.Interf == player.InterfacePosition2D && t == player.Command:
		return subtype == iface.CmdPosition2DVel || subtype == iface.CmdPosition2DPos || subtype == iface.CmdPosition2DCar
	case a.Interf == player.InterfacePosition2D && t == player.Request:
		switch subtype {
		case iface.ReqPosition2DGetGeom, iface.ReqPosition2DMotorPower, iface.ReqPosition2DPositionMode,
			iface.ReqPosition2DSetOdom, iface.ReqPosition2DResetOdom:
			return true
		}
	case a.Interf == player.InterfaceRanger && t == player.Request:
		return subtype == iface.ReqRangerGetGeom || subtype == iface.ReqRangerGetConfig
	}
	return false
}

// binding is a model that is served as a device. All its methods are called by
// the goroutine that owns the world.
type binding struct {
	simulation *Simulation
	model      *sim.Model
	addr       player.Addr
	pub        server.Publisher

	state  iface.Position2DData
	ranges iface.RangerDataRange
	intns  iface.RangerDataIntns
	many   [2][]float64 // ranges and intensities of a ring
}

// publish sends what the model's update has brought.
func (b *binding) publish(now float64) {
	if !b.pub.Opened(b.addr) {
		return
	}
	switch b.addr.Interf {
	case player.InterfacePosition2D:
		b.publishPosition(now)
	case player.InterfaceRanger:
		b.publishRanger(now)
	}
}

func (b *binding) handle(c *server.Call) {
	switch b.addr.Interf {
	case player.InterfacePosition2D:
		b.handlePosition(c)
	case player.InterfaceRanger:
		b.handleRanger(c)
	}
}
