package playercfg

import (
	"net"
	"slices"
	"strconv"
)

// Robot is a robot that the configuration serves: the devices of one Stage
// model with its children, and what drivers make of them; without Stage, the
// devices of one port.
type Robot struct {
	Name    string // the model's up to the first ".", or "port-6665"
	Port    int    // TCP
	Devices []Address
}

// Address returns host:port, to dial the robot's server.
func (r Robot) Address(host string) string { return net.JoinHostPort(host, strconv.Itoa(r.Port)) }

// world are the interfaces that belong to no robot: a server has one for all.
var world = []string{"simulation", "map", "vectormap", "log"}

// Simulation returns the device by which the server's simulation is asked and
// told, the first if there are several; false: there is none on a known port.
func (f *File) Simulation() (Address, bool) {
	for _, d := range f.Drivers {
		for _, a := range d.Provides {
			if a.Interface == "simulation" && a.Port != 0 {
				return a, true
			}
		}
	}
	return Address{}, false
}

// Robots returns the robots in the order of the file. A device that a driver
// makes of others (a laser of a ranger) belongs to the robot whose devices it
// requires, else to the one robot on its port. Ports whose devices belong to
// no Stage model are robots of their own; devices on port 0, which nobody
// knows before the server runs, are left out.
func (f *File) Robots() []Robot {
	b := &robots{byName: map[string]int{}, owner: map[device]int{}}
	for _, d := range f.Drivers {
		if name := robotOf(d.Text("model", 0, "")); d.Name == "stage" && name != "" {
			for _, a := range d.Provides {
				b.give(b.robot(name, a.Port), a)
			}
		}
	}
	// Drivers may stand before those that they require: again until none finds
	// its robot.
	for range maxDepth {
		given := false
		for _, d := range f.Drivers {
			if i := b.requiredBy(d); i >= 0 && b.giveAll(d, i) {
				given = true
			}
		}
		if !given {
			break
		}
	}
	only := b.onlyOn()
	for _, d := range f.Drivers {
		for _, a := range d.Provides {
			if _, owned := b.owner[of(a)]; owned || a.Port == 0 || slices.Contains(world, a.Interface) {
				continue
			}
			i, ok := only[a.Port]
			if !ok || i < 0 {
				i = b.robot("port-"+strconv.Itoa(a.Port), a.Port)
			}
			b.give(i, a)
		}
	}
	return b.all
}

// device is an address without what does not tell devices apart.
type device struct {
	port  int
	name  string
	index uint16
}

func of(a Address) device { return device{a.Port, a.Interface, a.Index} }

// robots is the robots found so far.
type robots struct {
	all    []Robot
	byName map[string]int
	owner  map[device]int // the robot's number
}

// robot returns the number of a robot; one on several ports is several, told
// apart by port.
func (b *robots) robot(name string, port int) int {
	i, ok := b.byName[name]
	if ok && b.all[i].Port != port {
		name += "-" + strconv.Itoa(port)
		i, ok = b.byName[name]
	}
	if !ok {
		i = len(b.all)
		b.byName[name] = i
		b.all = append(b.all, Robot{Name: name, Port: port})
	}
	return i
}

// give gives a device to a robot, once.
func (b *robots) give(i int, a Address) bool {
	if _, owned := b.owner[of(a)]; owned || a.Port == 0 || slices.Contains(world, a.Interface) {
		return false
	}
	b.owner[of(a)] = i
	b.all[i].Devices = append(b.all[i].Devices, a)
	return true
}

// giveAll gives a robot what a driver provides on its port.
func (b *robots) giveAll(d *Driver, i int) bool {
	given := false
	for _, a := range d.Provides {
		if a.Port == b.all[i].Port && b.give(i, a) {
			given = true
		}
	}
	return given
}

// requiredBy returns the robot whose device a driver requires first, or -1.
func (b *robots) requiredBy(d *Driver) int {
	for _, a := range d.Requires {
		if i, ok := b.owner[of(a)]; ok && a.Local() {
			return i
		}
	}
	return -1
}

// onlyOn returns the only robot of each port, -1 where there are several.
func (b *robots) onlyOn() map[int]int {
	only := map[int]int{}
	for i, r := range b.all {
		if _, ok := only[r.Port]; ok {
			i = -1
		}
		only[r.Port] = i
	}
	return only
}
