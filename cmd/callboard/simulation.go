package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"slices"
	"strconv"
	"syscall"
	"time"

	"callboard/player"
	"callboard/player/listener"
	"callboard/player/server"
	"callboard/sim"
	"callboard/sim/simdriver"
	"callboard/sim/worldfile"

	"golang.org/x/sync/errgroup"
)

// portsOfTheirOwn is how many robots get a port each; more share one.
const portsOfTheirOwn = 256

// simulation is a simulated world behind Player servers.
type simulation struct {
	file   *worldfile.World
	world  *sim.World
	driver *simdriver.Simulation
	ports  playerServers
	limit  *listener.Limit // of the connections of all ports
	speed  float64         // times real time; 0: as fast as it goes
	lasts  time.Duration   // simulated; 0: for ever
}

// robotPort is a Player server and the robots behind it.
type robotPort struct {
	server  *server.Server
	address string // host:port
	robots  []string
	devices map[string][]string // that a broker needs to read, by robot: "position2d:0"
}

// simulationConfig says what is simulated and where it is served.
type simulationConfig struct {
	file   *worldfile.World
	player *playerPlan // what a Player configuration serves of it; nil: all robots
	seed   uint64
	driver simdriver.Config // its World is made here
	listen string           // HOST:PORT of the first robot
	other  bool             // a taken port: take a free one
	plan   bool             // each port of robots has the floor plan, too
	logger *slog.Logger
}

// newSimulation makes the world and listens for each robot.
func newSimulation(c simulationConfig) (*simulation, error) {
	world, err := sim.New(sim.Config{World: c.file, Seed: c.seed})
	if err != nil {
		return nil, err
	}
	c.driver.World, c.driver.Logger = world, c.logger
	driver, err := simdriver.New(c.driver)
	if err != nil {
		return nil, err
	}
	s := &simulation{file: c.file, world: world, driver: driver, limit: listener.New(listener.Limits{}), speed: c.driver.Speed, lasts: c.driver.Duration}
	listen := s.listenRobots
	if c.player != nil {
		listen = s.listenPlanned
	}
	if err := listen(c); err != nil {
		return nil, errors.Join(err, s.ports.close())
	}
	return s, nil
}

// listenRobots listens for each robot of the world, or where they are many for
// as many as a port can serve.
func (s *simulation) listenRobots(c simulationConfig) error {
	robots := s.driver.Robots()
	if len(robots) == 0 {
		return fmt.Errorf("%s has no robot: expected a position model at the top level", c.file.File)
	}
	beside := []server.Driver{s.driver.World()}
	if c.plan {
		plan, err := worldMap(worldName(c.file.File), s.world)
		if err != nil {
			c.logger.Warn("the world is served without its floor plan", slog.Any("error", err))
		} else {
			beside = append(beside, plan)
		}
	}
	perPort := 1
	if len(robots) > portsOfTheirOwn {
		perPort = s.driver.PerPort()
	}
	for i := 0; len(robots) > 0; i++ {
		group := robots[:min(perPort, len(robots))]
		robots = robots[len(group):]
		listener, err := listenNext(c.listen, i, c.other)
		if err != nil {
			return err
		}
		if err := s.serveRobots(c, listener, group, beside); err != nil {
			return errors.Join(err, listener.Close())
		}
	}
	return nil
}

// serveRobots makes the Player server of a group of robots, and of what is beside
// them.
func (s *simulation) serveRobots(c simulationConfig, socket net.Listener, robots []string, beside []server.Driver) error {
	drivers, err := s.driver.Drivers(robots)
	if err != nil {
		return err
	}
	devices := map[string][]string{}
	for n, d := range drivers {
		devices[robots[n]] = readOf(d.Devices())
	}
	return s.serve(c, socket, slices.Concat(drivers, beside), robotPort{robots: robots, devices: devices})
}

// readOf returns the devices of a robot that a broker needs to read: all but
// those that show others once more.
func readOf(all []server.DeviceInfo) []string {
	var out []string
	for _, d := range all {
		if _, twin := player.TwinOf(d.Driver); !twin {
			out = append(out, player.Addr{Interf: d.Interf, Index: d.Index}.String())
		}
	}
	return out
}

// serve makes the Player server of a port.
func (s *simulation) serve(c simulationConfig, socket net.Listener, drivers []server.Driver, port robotPort) error {
	made, err := server.New(server.Config{Listener: socket, Drivers: drivers, Clock: s.driver.Clock, Limit: s.limit, Logger: c.logger})
	if err != nil {
		return err
	}
	port.server, port.address = made, socket.Addr().String()
	s.ports = append(s.ports, port)
	return nil
}

// run steps the world and serves it until ctx or the simulation's duration
// ends.
func (s *simulation) run(ctx context.Context) error {
	group, ctx := errgroup.WithContext(ctx)
	ctx, over := context.WithCancel(ctx)
	for _, port := range s.ports {
		group.Go(func() error { return port.server.Run(ctx) })
	}
	group.Go(func() error {
		defer over() // the duration
		return s.driver.Run(ctx)
	})
	err := group.Wait()
	over()
	return err
}

// listenNext listens on the i-th port from an address on; port 0 takes free
// ones. A taken port is an error that names it, or, with other, replaced by a
// free one.
func listenNext(address string, i int, other bool) (net.Listener, error) {
	host, text, err := net.SplitHostPort(address)
	if err != nil {
		return nil, usagef("--listen %q: expected HOST:PORT", address)
	}
	port, err := strconv.ParseUint(text, 10, 16)
	if err != nil {
		return nil, usagef("--listen %q: port %q, expected a number up to 65535", address, text)
	}
	if port != 0 {
		if port += uint64(i); port > 65535 {
			return nil, usagef("--listen %q: there are not enough ports above it for all robots", address)
		}
	}
	at := net.JoinHostPort(host, strconv.FormatUint(port, 10))
	listener, err := net.Listen("tcp", at)
	if err == nil {
		return listener, nil
	}
	if other && errors.Is(err, errInUse) {
		return net.Listen("tcp", net.JoinHostPort(host, "0"))
	}
	return nil, listenError(at, err)
}

// listenError names the address that cannot be listened on.
func listenError(address string, err error) error {
	if errors.Is(err, errInUse) {
		return fmt.Errorf("port %s is taken; choose another with --listen, or 0 for a free one", address)
	}
	return fmt.Errorf("cannot listen on %s: %w", address, err)
}

// errInUse is the system's error for a taken address.
var errInUse error = syscall.EADDRINUSE
