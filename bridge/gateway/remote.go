package gateway

import (
	"fmt"
	"log/slog"
	"math"
	"path"
	"slices"

	"callboard/player"
	"callboard/player/client"
	"callboard/player/server"
)

// remote is a Player server that the broker reads, as its session's Relay. Its
// methods are called from the session's goroutine, which owns the fields behind
// the blank line.
type remote struct {
	gateway *Gateway
	address string
	log     *slog.Logger
	client  *client.Client
	robots  []*robot

	owners  map[device][]int // in robots, of the listed devices
	routes  map[device][]route
	touched []*robot // that have data in this burst
}

// device identifies a device within one connection.
type device struct {
	interf player.Interface
	index  uint16
}

func deviceOf(a player.Addr) device { return device{a.Interf, a.Index} }

// route is where a device's data goes: a robot, and the device's address there.
type route struct {
	robot *robot
	addr  player.Addr
}

// Listed hands each robot its own devices.
func (r *remote) Listed(devices []client.Device) {
	r.routes = make(map[device][]route, len(devices))
	own := make([][]client.Device, len(r.robots))
	owners := make(map[device][]int, len(devices))
	for _, d := range devices {
		key := deviceOf(d.Addr)
		all, known := r.owners[key]
		if !known && r.mayBeTwin(d) {
			continue
		}
		if !known {
			all = r.ownersOf(d)
		}
		owners[key] = all
		for _, i := range all {
			own[i] = append(own[i], d)
		}
	}
	r.owners = owners
	for i, robot := range r.robots {
		for local, d := range robot.provide(own[i]) {
			from := deviceOf(d)
			r.routes[from] = append(r.routes[from], route{robot, local})
		}
	}
}

// ownersOf are the robots that have a device: the first whose patterns match. A
// device that no robot claims, such as a simulation or a map, is there for
// all; where robots share a port, it is with the first.
func (r *remote) ownersOf(d client.Device) []int {
	for i, robot := range r.robots {
		if robot.owns(d) {
			return []int{i}
		}
	}
	var all []int
	for i := range r.robots {
		if i == 0 || len(r.robots[i].port.robots) == 1 {
			all = append(all, i)
		}
	}
	return all
}

// mayBeTwin reports whether a device may show a robot's ranger once more, and so
// belong to that robot: the name of its driver, which says so, is not known yet.
func (r *remote) mayBeTwin(d client.Device) bool {
	return d.Driver == "" && (d.Interf == player.InterfaceLaser || d.Interf == player.InterfaceSonar) &&
		!slices.ContainsFunc(r.robots, func(robot *robot) bool { return robot.claims(d.Addr) })
}

// Data passes a reading on as it came.
func (r *remote) Data(h player.Header, body []byte) {
	for _, to := range r.routes[deviceOf(h.Addr)] {
		p := to.robot.port
		p.clock.Store(math.Float64bits(h.Timestamp))
		if !to.robot.pub.Opened(to.addr) {
			continue
		}
		if !to.robot.touched {
			to.robot.touched = true
			r.touched = append(r.touched, to.robot)
			server.BeginBatch(to.robot.pub)
		}
		to.robot.pub.PublishBody(to.addr, h.Subtype, h.Timestamp, body)
	}
}

// Burst lets programs have what came together: one PULL round, few writes.
func (r *remote) Burst() {
	for _, robot := range r.touched {
		robot.touched = false
		server.EndBatch(robot.pub)
	}
	clear(r.touched)
	r.touched = r.touched[:0]
}

// Down ends a session. The devices stay listed as they were.
func (r *remote) Down() { r.Burst() }

// owns reports whether a device is the robot's own, or shows one that is.
func (r *robot) owns(d client.Device) bool {
	of, twin := player.TwinOf(d.Driver)
	return r.claims(d.Addr) || twin && r.claims(of)
}

// claims reports whether the robot's patterns name a device.
func (r *robot) claims(a player.Addr) bool {
	if len(r.patterns) == 0 {
		return true
	}
	device, kind := a.String(), a.Interf.String() // laser:0, of kind laser
	return slices.ContainsFunc(r.patterns, func(p string) bool {
		one, _ := path.Match(p, device)
		all, _ := path.Match(p, kind)
		return one || all
	})
}

func checkPatterns(r Robot) error {
	for _, p := range r.Devices {
		if _, err := path.Match(p, ""); err != nil {
			return fmt.Errorf("gateway: robot %s: %q is no pattern: %w", r.Name, p, err)
		}
	}
	return nil
}
