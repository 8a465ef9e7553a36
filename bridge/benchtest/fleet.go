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

// Fleet is robots with a laser each, behind a Player server each.
type Fleet struct {
	scanners []*scanner
	pipes    map[string]*server.PipeListener // by address
	near     []byte
	far      []byte
}

// scanner is one robot's server and driver.
type scanner struct {
	server    *server.Server
	publisher server.Publisher
}

var laser = player.Addr{Interf: player.InterfaceLaser}

// Devices implements server.Driver, as the methods below do.
func (s *scanner) Devices() []server.DeviceInfo {
	return []server.DeviceInfo{{Interf: laser.Interf, Driver: "canned"}}
}

func (s *scanner) Attach(p server.Publisher) { s.publisher = p }
func (s *scanner) Open(player.Addr) error    { return nil }
func (s *scanner) Close(player.Addr)         {}
func (s *scanner) Handle(k *server.Call) {
	if k.Header.Subtype == iface.ReqLaserGetGeom {
		k.Ack(&iface.LaserGeom{Size: iface.BBox3D{Sw: 0.1, Sl: 0.1, Sh: 0.1}})
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
	f := &Fleet{}
	var err error
	if f.near, err = scan(beams, 0.5); err != nil {
		return nil, err
	}
	if f.far, err = scan(beams, 5); err != nil {
		return nil, err
	}
	for i := range robots {
		l, err := listen(i)
		if err != nil {
			return nil, err
		}
		s := &scanner{}
		if s.server, err = server.New(server.Config{Listener: l, Drivers: []server.Driver{s}}); err != nil {
			return nil, err
		}
		f.scanners = append(f.scanners, s)
	}
	return f, nil
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
	for _, s := range f.scanners {
		group.Go(func() error { return s.server.Run(serving) })
	}
	return group.Wait()
}

// Len is how many robots there are.
func (f *Fleet) Len() int { return len(f.scanners) }

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
	out := make([]string, len(f.scanners))
	for i, s := range f.scanners {
		out[i] = s.server.Addr().String()
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

// Publish has a robot give a scan.
func (f *Fleet) Publish(robot int, near bool, time float64) {
	body := f.far
	if near {
		body = f.near
	}
	f.scanners[robot].publisher.PublishBody(laser, iface.DataLaserScan, time, body)
}

// Dropped counts the scans that a server had no room for, or nobody to send to.
func (f *Fleet) Dropped() (n uint64) {
	for _, s := range f.scanners {
		stats := s.server.Stats()
		n += stats.QueueFull + stats.Closed
	}
	return n
}
