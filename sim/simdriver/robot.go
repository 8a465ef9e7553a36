package simdriver

import (
	"fmt"

	"callboard/player"
	"callboard/player/server"
	"callboard/sim"
	"callboard/sim/worldfile"
)

// driverName is what clients are told, as by Stage's plug-in.
const driverName = "stage"

// Device is a device that a Simulation serves.
type Device struct {
	Interf player.Interface
	Index  uint16
	// Model is what the device shows, one of the world's file. It is nil for the
	// simulation itself.
	Model *worldfile.Model
	// Driver is the name that clients are told. Default stage, as with Stage's
	// plug-in.
	Driver string
}

// address is what tells devices on a port apart.
type address struct {
	interf player.Interface
	index  uint16
}

func addressOf(a player.Addr) address { return address{a.Interf, a.Index} }

// devices serves models of a world as the devices of one port.
type devices struct {
	simulation *Simulation
	infos      []server.DeviceInfo
	bindings   map[address]*binding
}

// Serve gives a driver of devices for one port.
func (s *Simulation) Serve(list []Device) (server.Driver, error) {
	d := &devices{simulation: s, bindings: map[address]*binding{}}
	for _, device := range list {
		at := address{device.Interf, device.Index}
		b := &binding{simulation: s, addr: player.Addr{Interf: device.Interf, Index: device.Index}}
		if device.Interf != player.InterfaceSimulation {
			if b.model = s.models[device.Model]; b.model == nil {
				return nil, fmt.Errorf("simdriver: %s shows a model that is not in world %s", b.addr, s.world.File().Name)
			}
		}
		service, ok := services[device.Interf]
		if !ok {
			return nil, fmt.Errorf("simdriver: %s is not served", b.addr)
		}
		if service.serves != nil && !service.serves(b.model.Spec()) {
			return nil, fmt.Errorf("simdriver: %s cannot show %s, which is a %s", b.addr, b.model.Name(), b.model.Type())
		}
		if d.bindings[at] != nil {
			return nil, fmt.Errorf("simdriver: %s is given twice", b.addr)
		}
		b.endpoint = service.make(b)
		d.bindings[at] = b
		name := device.Driver
		if name == "" {
			name = driverName
		}
		d.infos = append(d.infos, server.DeviceInfo{Interf: device.Interf, Index: device.Index, Driver: name})
	}
	return d, nil
}

// ofRobot are the interfaces by which a robot without a configuration is
// served, besides position2d, in the order in which clients are shown them.
var ofRobot = []player.Interface{
	player.InterfaceRanger, player.InterfaceFiducial, player.InterfaceBlobfinder, player.InterfaceBumper,
	player.InterfaceGripper, player.InterfaceActarray, player.InterfacePower,
}

// parts gives the models on a robot that an interface shows: those of its
// type, and for power whatever has a pack of its own.
func parts(robot *sim.Model, interf player.Interface) []*sim.Model {
	var out []*sim.Model
	var walk func(m *sim.Model)
	walk = func(m *sim.Model) {
		spec := m.Spec()
		if interf == player.InterfacePower && spec.Pack != nil || interf != player.InterfacePower && services[interf].serves(spec) {
			out = append(out, m)
		}
		for _, c := range m.Children() {
			walk(c)
		}
	}
	walk(robot)
	return out
}

// Devices gives the devices of a robot: position2d:index, and of each further
// interface those from index×n on, n being the greatest number of such models
// that any robot has. A robot with a port of its own has index 0; on a common
// port give each its own.
func (s *Simulation) Devices(robot string, index uint16) ([]Device, error) {
	m := s.robots[robot]
	if m == nil {
		return nil, fmt.Errorf("simdriver: no robot %q in world %s", robot, s.world.File().Name)
	}
	list := []Device{{Interf: player.InterfacePosition2D, Index: index, Model: m.Spec()}}
	for _, interf := range ofRobot {
		most := s.most[interf]
		if last := (int(index)+1)*most - 1; last > maxIndex {
			return nil, fmt.Errorf("simdriver: robot %q at index %d needs %s:%d, the greatest index is %d", robot, index, interf, last, maxIndex)
		}
		for i, part := range parts(m, interf) {
			list = append(list, Device{Interf: interf, Index: uint16(int(index)*most + i), Model: part.Spec()})
		}
	}
	return list, nil
}

// PerPort is how many robots one port can serve by index, with simulation:0
// beside them.
func (s *Simulation) PerPort() int {
	each := 1
	for _, n := range s.most {
		each += n
	}
	return max(1, (player.MaxDevices-1)/each)
}

// maxIndex is the greatest index of a device.
const maxIndex = 1<<16 - 1

// Driver gives a driver that serves one robot with its Devices.
func (s *Simulation) Driver(robot string, index uint16) (server.Driver, error) {
	list, err := s.Devices(robot, index)
	if err != nil {
		return nil, err
	}
	return s.Serve(list)
}

// World gives a driver of simulation:0. It may stand beside robots on any port;
// each port needs its own.
func (s *Simulation) World() server.Driver {
	d, _ := s.Serve([]Device{{Interf: player.InterfaceSimulation}}) // which cannot fail
	return d
}

// Devices lists what is served, in the order in which it was given.
func (d *devices) Devices() []server.DeviceInfo { return d.infos }

// Attach takes the way to publish.
func (d *devices) Attach(pub server.Publisher) {
	for _, info := range d.infos {
		b := d.bindings[address{info.Interf, info.Index}]
		b.pub = pub
		if b.model == nil {
			continue
		}
		d.simulation.mail.attach(func() {
			i := b.model.Index()
			d.simulation.served[i] = append(d.simulation.served[i], b)
		})
	}
}

// Open subscribes the model; its first data come one update interval later.
func (d *devices) Open(a player.Addr) error {
	b := d.bindings[addressOf(a)]
	switch {
	case b == nil:
		return fmt.Errorf("simdriver: no device %s", a)
	case b.model != nil:
		return d.simulation.mail.opened(b, true)
	}
	return nil
}

// Close takes the subscription back: a base that nobody has open stands still.
func (d *devices) Close(a player.Addr) {
	if b := d.bindings[addressOf(a)]; b != nil && b.model != nil {
		_ = d.simulation.mail.opened(b, false) // after the end nothing is subscribed
	}
}

// Handle hands a command or request over to be carried out before the next step.
func (d *devices) Handle(c *server.Call) {
	b := d.bindings[addressOf(c.Header.Addr)]
	if b == nil || !d.Handles(c.Header.Addr, c.Header.Type, c.Header.Subtype) || !d.simulation.mail.command(b, func() { b.endpoint.handle(c) }) {
		c.Nack(nil)
	}
}

// Handles tells what is answered or obeyed.
func (d *devices) Handles(a player.Addr, t player.Type, subtype uint8) bool {
	service := services[a.Interf]
	known := service.requests
	if t == player.Command {
		known = service.commands
	} else if t != player.Request {
		return false
	}
	for _, k := range known {
		if k == subtype {
			return true
		}
	}
	return false
}
