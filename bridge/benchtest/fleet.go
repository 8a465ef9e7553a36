// Package benchtest is what benchmarks of a whole broker share: robots that
// give canned scans, a broker in this process that reads them over pipes in
// memory, and subscribers that read a real WebSocket and allocate nothing per
// notification, so that what is measured is the broker's.
package benchtest

import (
	"context"
	"fmt"
	"math"
	"net"
	"strings"

	"callboard/bridge/config"
	"callboard/player"
	"callboard/player/iface"
	"callboard/player/server"

	"golang.org/x/sync/errgroup"
)

// Near is a condition that the near scans of a Fleet match, and the far ones
// do not.
const Near = "laser.min < 1"

// Kinds are conditions for a mixed Fleet, one for each kind of robot.
var Kinds = []string{Near, "sonar.min < 1", "position.x < 1"}

// Fleet is robots with a device each, behind a Player server each.
type Fleet struct {
	robots []*robot
	pipes  map[string]*server.PipeListener // by address
}

// kind is what a robot has: a device, what it answers when asked for its geometry,
// and its readings.
type kind struct {
	device    player.Addr
	ask       uint8
	geometry  any
	data      uint8
	near, far []byte
}

// robot is one robot's server and driver.
type robot struct {
	*kind
	server    *server.Server
	publisher server.Publisher
}

// Devices implements server.Driver, as the methods below do.
func (r *robot) Devices() []server.DeviceInfo {
	return []server.DeviceInfo{{Interf: r.device.Interf, Driver: "canned"}}
}

func (r *robot) Attach(p server.Publisher) { r.publisher = p }
func (r *robot) Open(player.Addr) error    { return nil }
func (r *robot) Close(player.Addr)         {}
func (r *robot) Handle(k *server.Call) {
	if k.Header.Subtype == r.ask {
		k.Ack(r.geometry)
		return
	}
	k.Nack(nil)
}

// NewFleet makes robots r0, r1, …, served over pipes. Their scans have so many
// beams.
func NewFleet(robots, beams int) (*Fleet, error) {
	pipes := map[string]*server.PipeListener{}
	f, err := NewFleetOn(robots, beams, func(robot int) (net.Listener, error) {
		l := server.NewPipeListener(address(robot), 0)
		pipes[address(robot)] = l
		return l, nil
	})
	if err != nil {
		return nil, err
	}
	f.pipes = pipes
	return f, nil
}

// NewFleetOn makes robots that are served on listeners of the caller's.
func NewFleetOn(robots, beams int, listen func(robot int) (net.Listener, error)) (*Fleet, error) {
	scanner, err := scanning(beams)
	if err != nil {
		return nil, err
	}
	return newFleet(robots, []*kind{scanner}, listen)
}

// NewMixedFleetOn makes robots with a laser, a sonar and a position2d in turn: Kinds.
func NewMixedFleetOn(robots, beams int, listen func(robot int) (net.Listener, error)) (*Fleet, error) {
	scanner, err := scanning(beams)
	if err != nil {
		return nil, err
	}
	ringed, err := ranging()
	if err != nil {
		return nil, err
	}
	moved, err := moving()
	if err != nil {
		return nil, err
	}
	return newFleet(robots, []*kind{scanner, ringed, moved}, listen)
}

func newFleet(robots int, kinds []*kind, listen func(robot int) (net.Listener, error)) (*Fleet, error) {
	f := &Fleet{}
	for i := range robots {
		l, err := listen(i)
		if err != nil {
			return nil, err
		}
		r := &robot{kind: kinds[i%len(kinds)]}
		if r.server, err = server.New(server.Config{Listener: l, Drivers: []server.Driver{r}}); err != nil {
			return nil, err
		}
		f.robots = append(f.robots, r)
	}
	return f, nil
}

var box = iface.BBox3D{Sw: 0.1, Sl: 0.1, Sh: 0.1}

// scanning is a robot with a laser.
func scanning(beams int) (*kind, error) {
	k := &kind{device: player.Addr{Interf: player.InterfaceLaser}, ask: iface.ReqLaserGetGeom, geometry: &iface.LaserGeom{Size: box}, data: iface.DataLaserScan}
	var err error
	if k.near, err = scan(beams, 0.5); err != nil {
		return nil, err
	}
	k.far, err = scan(beams, 5)
	return k, err
}

// ranging is one with a ring of sonars.
func ranging() (*kind, error) {
	ring := make([]iface.Pose3D, 8)
	for i := range ring {
		ring[i].Pyaw = float64(i) * math.Pi / 4
	}
	k := &kind{device: player.Addr{Interf: player.InterfaceSonar}, ask: iface.ReqSonarGetGeom, geometry: &iface.SonarGeom{Poses: ring}, data: iface.DataSonarRanges}
	ranges := func(nearest float32) ([]byte, error) {
		return iface.Append(nil, &iface.SonarData{Ranges: []float32{5, 5, nearest, 5, 5, 5, 5, 5}})
	}
	var err error
	if k.near, err = ranges(0.5); err != nil {
		return nil, err
	}
	k.far, err = ranges(4)
	return k, err
}

// moving is one that knows where it is.
func moving() (*kind, error) {
	k := &kind{device: player.Addr{Interf: player.InterfacePosition2D}, ask: iface.ReqPosition2DGetGeom, geometry: &iface.Position2DGeom{Size: box}, data: iface.DataPosition2DState}
	at := func(x float64) ([]byte, error) {
		return iface.Append(nil, &iface.Position2DData{Pos: iface.Pose2D{Px: x}})
	}
	var err error
	if k.near, err = at(0.5); err != nil {
		return nil, err
	}
	k.far, err = at(5)
	return k, err
}

// scan encodes a scan with ranges from nearest to 2 m more, none of them round.
func scan(beams int, nearest float64) ([]byte, error) {
	d := iface.LaserData{MinAngle: -math.Pi / 2, MaxAngle: math.Pi / 2, Resolution: float32(math.Pi / float64(max(beams-1, 1))), MaxRange: 8}
	for i := range beams {
		d.Ranges = append(d.Ranges, float32(nearest+1+math.Sin(float64(i)/7)))
	}
	d.Ranges[beams/2] = float32(nearest)
	return iface.Append(nil, &d)
}

func address(robot int) string { return fmt.Sprintf("r%d:%d", robot, player.DefaultPort) }

// Run serves the robots until ctx ends.
func (f *Fleet) Run(ctx context.Context) error {
	group, serving := errgroup.WithContext(ctx)
	for _, r := range f.robots {
		group.Go(func() error { return r.server.Run(serving) })
	}
	return group.Wait()
}

// Len is how many robots there are.
func (f *Fleet) Len() int { return len(f.robots) }

// Robot returns a robot's name.
func (f *Fleet) Robot(robot int) string { return fmt.Sprintf("r%d", robot) }

// Dial connects to a robot's server, in memory.
func (f *Fleet) Dial(ctx context.Context, address string) (net.Conn, error) {
	l := f.pipes[address]
	if l == nil {
		return nil, fmt.Errorf("benchtest: no robot is at %s", address)
	}
	return l.Dial(ctx, address)
}

// Addresses lists the addresses of the robots' servers.
func (f *Fleet) Addresses() []string {
	out := make([]string, len(f.robots))
	for i, r := range f.robots {
		out[i] = r.server.Addr().String()
	}
	return out
}

// Players is the fleet in a broker's configuration.
func (f *Fleet) Players() []config.Player {
	var out []config.Player
	for _, a := range f.Addresses() {
		name, _, _ := strings.Cut(a, ":")
		out = append(out, config.Player{Address: a, Robot: name})
	}
	return out
}

// Publish has a robot give a reading.
func (f *Fleet) Publish(robot int, near bool, time float64) {
	r := f.robots[robot]
	body := r.far
	if near {
		body = r.near
	}
	r.publisher.PublishBody(r.device, r.data, time, body)
}

// Dropped counts the readings that a server had no room for, or nobody to send to.
func (f *Fleet) Dropped() (n uint64) {
	for _, r := range f.robots {
		stats := r.server.Stats()
		n += stats.QueueFull + stats.Closed
	}
	return n
}
