// Package gateway serves a broker's robots to unmodified Player programs: each
// robot on a port of its own, or all by index on one port. Programs share the
// broker's session with the robot's Player server. See DESIGN.md.
package gateway

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"net"
	"slices"
	"strconv"
	"sync/atomic"
	"syscall"
	"time"

	"callboard/bridge/attach"
	"callboard/bridge/config"
	"callboard/bridge/metric"
	"callboard/player"
	"callboard/player/client"
	"callboard/player/listener"
	"callboard/player/server"

	"golang.org/x/sync/errgroup"
)

// maxPorts is how many robots get a port each; more share one.
const maxPorts = config.MaxGatewayPorts

// Config says what a Gateway serves and where.
type Config struct {
	// Listen is HOST:PORT of the first robot; an empty host is 127.0.0.1, port 0
	// takes a free port for each. Required.
	Listen string
	// Players are the Player servers in the configuration's order. Their robots,
	// in turn, are the gateway's.
	Players []Player
	// Broker has conditions tested that programs subscribe to by blackboard:0; nil:
	// there is none.
	Broker attach.Broker
	// Limits are those of the connections of all ports together. A program that
	// has no device open may have to give way to a new one.
	Limits listener.Limits
	// Metrics gets callboard_gateway_*. Default: none.
	Metrics *metric.Set
	// Logger takes what happens to connections. Default: discarded.
	Logger *slog.Logger
}

// Player is one Player server that the broker reads.
type Player struct {
	Address string  // host:port, for logs
	Robots  []Robot // those behind it, in the order in which they are served
}

// Robot is one robot.
type Robot struct {
	Name string
	// Devices are patterns (path.Match) over "laser:0" or "laser" that say which
	// devices are its own. None: all that its Player server has.
	Devices []string
}

// Port is where robots are served.
type Port struct {
	Address string   // host:port
	Robots  []string // by index, if there are several
}

// Gateway is the Player servers of a broker's robots.
type Gateway struct {
	log     *slog.Logger
	players []*remote
	ports   []*port
	limit   *listener.Limit
	robots  map[string]*robot // by name
	stop    context.Context   // ended: devices are not waited for; set by Run
}

// port is one Player server of the gateway.
type port struct {
	server   *server.Server
	listener net.Listener
	robots   []*robot
	clock    atomic.Uint64 // of the newest message of its robots, in s (float64 bits)
}

// New listens; Run serves. Each Player server's session must be given its Relay
// and be told to Attach before it runs. A Gateway that is not run must be closed.
func New(c Config) (*Gateway, error) {
	g := &Gateway{log: c.Logger, limit: listener.New(c.Limits), robots: map[string]*robot{}, stop: context.Background()}
	if g.log == nil {
		g.log = slog.New(slog.DiscardHandler)
	}
	var all []*robot
	for _, p := range c.Players {
		r := &remote{gateway: g, address: p.Address, log: g.log.With("player", p.Address)}
		for _, one := range p.Robots {
			if err := checkPatterns(one); err != nil {
				return nil, err
			}
			r.robots = append(r.robots, &robot{name: one.Name, patterns: one.Devices, remote: r})
		}
		all = append(all, r.robots...)
		g.players = append(g.players, r)
	}
	groups := [][]*robot{all}
	if len(all) <= maxPorts {
		groups = slices.Collect(slices.Chunk(all, 1))
	}
	for i, group := range groups {
		if err := g.listen(&c, i, group); err != nil {
			return nil, errors.Join(err, g.Close())
		}
	}
	if c.Metrics != nil {
		g.measure(c.Metrics)
	}
	return g, nil
}

// listen makes the i-th port.
func (g *Gateway) listen(c *Config, i int, group []*robot) error {
	socket, err := listen(c.Listen, i)
	if err != nil {
		return err
	}
	p := &port{listener: socket, robots: group}
	drivers := make([]server.Driver, len(group))
	for n, r := range group {
		r.port = p
		g.robots[r.name] = r
		r.numbering = numbering{robots: len(group), robot: n, board: c.Broker != nil}
		drivers[n] = r
	}
	if c.Broker != nil {
		var robots []string // of a port that robots share: all
		if len(group) == 1 {
			robots = []string{group[0].name}
		}
		drivers = append(drivers, newBoard(c.Broker, robots, g.log))
	}
	p.server, err = server.New(server.Config{Listener: socket, Drivers: drivers, Clock: p.now, Limit: g.limit, Logger: g.log})
	if err != nil {
		return errors.Join(fmt.Errorf("gateway: %w", err), socket.Close())
	}
	g.ports = append(g.ports, p)
	return nil
}

// listen listens on the i-th port from an address on.
func listen(address string, i int) (net.Listener, error) {
	host, text, err := net.SplitHostPort(address)
	if err != nil {
		return nil, fmt.Errorf("gateway: %q is no address; expected HOST:PORT", address)
	}
	number, err := strconv.ParseUint(text, 10, 16)
	if err != nil {
		return nil, fmt.Errorf("gateway: %q has no port number; expected 0 to 65535", address)
	}
	if number > 0 {
		if number += uint64(i); number > math.MaxUint16 {
			return nil, fmt.Errorf("gateway: there are not enough ports from %s up for all robots; expected a lower one", address)
		}
	}
	at := net.JoinHostPort(cmp.Or(host, "127.0.0.1"), strconv.FormatUint(number, 10))
	socket, err := net.Listen("tcp", at)
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, &TakenError{Address: at}
	case err != nil:
		return nil, fmt.Errorf("gateway: cannot listen on %s: %w", at, err)
	}
	return socket, nil
}

// TakenError is the error of an address that something else listens on. It is
// a syscall.EADDRINUSE.
type TakenError struct{ Address string }

func (e *TakenError) Error() string {
	return fmt.Sprintf("gateway: port %s is taken; expected another, or 0 for free ones", e.Address)
}

// Unwrap returns the system's error.
func (e *TakenError) Unwrap() error { return syscall.EADDRINUSE }

// now is the time of what the gateway answers by itself: that of the robots'
// newest message, which is simulated or log time where the robot's is.
func (p *port) now() float64 {
	if bits := p.clock.Load(); bits != 0 {
		return math.Float64frombits(bits)
	}
	return float64(time.Now().UnixMicro()) / 1e6
}

// Relay is what the session with the i-th Player server is to be given.
func (g *Gateway) Relay(i int) client.Relay { return g.players[i] }

// Attach says which session the i-th Player server has.
func (g *Gateway) Attach(i int, c *client.Client) { g.players[i].client = c }

// Ports returns where the robots are served.
func (g *Gateway) Ports() []Port {
	out := make([]Port, len(g.ports))
	for i, p := range g.ports {
		out[i].Address = p.listener.Addr().String()
		for _, r := range p.robots {
			out[i].Robots = append(out[i].Robots, r.name)
		}
	}
	return out
}

// Where returns the port that a robot is on, and as which of those that share it. A
// robot that is not there is nowhere.
func (g *Gateway) Where(robot string) (address string, index int) {
	if r := g.robots[robot]; r != nil {
		return r.port.listener.Addr().String(), slices.Index(r.port.robots, r)
	}
	return "", 0
}

// Index returns the index here of a device of a robot's Player server; false: it
// is not served.
func (g *Gateway) Index(robot string, there player.Addr) (int, bool) {
	r := g.robots[robot]
	if r == nil {
		return 0, false
	}
	return r.here(deviceOf(there))
}

// Run serves until ctx ends. It can be called once.
func (g *Gateway) Run(ctx context.Context) error {
	group, running := errgroup.WithContext(ctx)
	g.stop = running
	for _, p := range g.ports {
		group.Go(func() error { return p.server.Run(running) })
	}
	group.Go(func() error { <-running.Done(); return nil }) // also without robots
	err := group.Wait()
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// Close lets go of the ports. Run does it by itself.
func (g *Gateway) Close() error {
	var errs []error
	for _, p := range g.ports {
		if err := p.listener.Close(); err != nil && !errors.Is(err, net.ErrClosed) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}
