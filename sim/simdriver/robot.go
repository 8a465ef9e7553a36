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

// Serve returns a driver of devices for one port.
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
	player.InterfaceRanger, player.InterfaceLaser, player.InterfaceSonar, player.InterfaceFiducial, player.InterfaceBlobfinder,
	player.InterfaceBumper, player.InterfaceGripper, player.InterfaceActarray, player.InterfacePower,
}

// twin is the interface by which a ranger is shown a second time, to programs
// that know no rangers: laser if it has one sensor, sonar if several, as
// conditions take it. What has no sensor has none. The driver's name says so:
// brokers read rangers alone, whose ranges are not rounded.
func twin(m *worldfile.Model) (player.Interface, bool) {
	switch {
	case m.Ranger == nil || len(m.Ranger.Sensors) == 0:
		return 0, false
	case len(m.Ranger.Sensors) == 1:
		return player.InterfaceLaser, true
	}
	return player.InterfaceSonar, true
}

// isTwin reports whether an interface shows what another one shows too.
func isTwin(interf player.Interface) bool {
	return interf == player.InterfaceLaser || interf == player.InterfaceSonar
}

// parts returns the models on a robot that an interface shows: those of its
// type, for laser and sonar rangers as twin says, and for power whatever has a
// pack of its own.
func parts(robot *sim.Model, interf player.Interface) []*sim.Model {
	shows := services[interf].serves
	switch {
	case interf == player.InterfacePower:
		shows = func(m *worldfile.Model) bool { return m.Pack != nil }
	case isTwin(interf):
		shows = func(m *worldfile.Model) bool {
			t, ok := twin(m)
			return ok && t == interf
		}
	}
	var out []*sim.Model
	var walk func(m *sim.Model)
	walk = func(m *sim.Model) {
		if shows(m.Spec()) {
			out = append(out, m)
		}
		for _, c := range m.Children() {
			walk(c)
		}
	}
	walk(robot)
	return out
}

// devicesOf returns the devices of a robot: position2d:index, and of each further
// interface those from index×n on, n being the greatest number of such models
// that any robot has. Without twins rangers are shown as rangers alone.
func (s *Simulation) devicesOf(robot string, index uint16, twins bool) ([]Device, error) {
	m := s.robots[robot]
	if m == nil {
		return nil, fmt.Errorf("simdriver: no robot %q in world %s", robot, s.world.File().Name)
	}
	list := []Device{{Interf: player.InterfacePosition2D, Index: index, Model: m.Spec()}}
	rangers := map[*worldfile.Model]player.Addr{}
	for _, interf := range ofRobot {
		if !twins && isTwin(interf) {
			continue
		}
		most := s.most[interf]
		if last := (int(index)+1)*most - 1; last > maxIndex {
			return nil, fmt.Errorf("simdriver: robot %q at index %d needs %s:%d, the greatest index is %d", robot, index, interf, last, maxIndex)
		}
		for i, part := range parts(m, interf) {
			d := Device{Interf: interf, Index: uint16(int(index)*most + i), Model: part.Spec()}
			switch {
			case interf == player.InterfaceRanger:
				rangers[d.Model] = player.Addr{Interf: d.Interf, Index: d.Index}
			case isTwin(interf):
				d.Driver = player.TwinDriver(rangers[d.Model])
			}
			list = append(list, d)
		}
	}
	return list, nil
}

// PerPort is how many robots one port can serve by index, with simulation:0
// beside them.
func (s *Simulation) PerPort() int { return max(1, (player.MaxDevices-1)/s.each(false)) }

// each is how many devices a robot may have.
func (s *Simulation) each(twins bool) int {
	n := 1
	for interf, most := range s.most {
		if twins || !isTwin(interf) {
			n += most
		}
	}
	return n
}

// maxIndex is the greatest index of a device.
const maxIndex = 1<<16 - 1

// Drivers returns the drivers of robots that share a port, each at its index. A
// robot on a port of its own is at 0. Rangers are shown as laser or sonar too
// (see twin), unless that would be more devices than a port has room for.
func (s *Simulation) Drivers(robots []string) ([]server.Driver, error) {
	twins := len(robots)*s.each(true) < player.MaxDevices
	var drivers []server.Driver
	for i, name := range robots {
		d, err := s.driver(name, uint16(i), twins)
		if err != nil {
			return nil, err
		}
		drivers = append(drivers, d)
	}
	return drivers, nil
}

// driver returns the driver of a robot at an index.
func (s *Simulation) driver(robot string, index uint16, twins bool) (server.Driver, error) {
	list, err := s.devicesOf(robot, index, twins)
	if err != nil {
		return nil, err
	}
	return s.Serve(list)
}

// World returns a driver of simulation:0. It may stand beside robots on any port;
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

// Handles reports whether a message is answered or obeyed.
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
