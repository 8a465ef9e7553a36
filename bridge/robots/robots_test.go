package robots_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"callboard/bridge/robots"
	"callboard/player"
	"callboard/player/iface"
	"callboard/player/server"
	"callboard/subscribe"
	"callboard/subscribe/protocol"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const patience = 20 * time.Second

// base is a robot with a position2d:0, a position2d:1 and a simulation:0 that
// notes what it is told.
type base struct {
	mu   sync.Mutex
	told []string
	hold chan struct{}       // if set, requests are answered when it is closed
	has  []server.DeviceInfo // instead
}

func (b *base) Devices() []server.DeviceInfo {
	if b.has != nil {
		return b.has
	}
	return []server.DeviceInfo{
		{Interf: player.InterfacePosition2D, Driver: "base"},
		{Interf: player.InterfacePosition2D, Index: 1, Driver: "base"},
		{Interf: player.InterfaceSimulation, Driver: "base"},
	}
}
func (b *base) Attach(server.Publisher) {}
func (b *base) Open(player.Addr) error  { return nil }
func (b *base) Close(player.Addr)       {}

func (b *base) Handle(c *server.Call) {
	switch p := c.Payload.(type) {
	case *iface.Position2DCmdVel:
		b.note(c, fmt.Sprint(p.Vel, p.State))
	case *iface.Position2DCmdPos:
		b.note(c, fmt.Sprint(p.Pos, p.State))
	case *iface.PlannerCmd:
		b.note(c, fmt.Sprint(p.Goal))
	case *iface.LocalizeSetPose:
		b.note(c, fmt.Sprint(p.Mean, p.Cov))
		c.Ack(nil)
	case *iface.Position2DPowerConfig:
		b.note(c, fmt.Sprint(p.State))
		c.Ack(nil)
	case *iface.Position2DSetOdomReq:
		b.note(c, fmt.Sprint(p.Pose))
		if b.hold == nil {
			c.Ack(nil)
			return
		}
		go func() { <-b.hold; c.Ack(nil) }()
	case *iface.SimulationPose2DReq:
		b.note(c, iface.GoString(p.Name), fmt.Sprint(p.Pose))
		if c.Header.Subtype == iface.ReqSimulationGetPose2D {
			p.Pose = iface.Pose2D{Px: 1, Py: 2, Pa: 3}
		}
		c.Ack(p)
	default:
		c.Nack(nil)
	}
}

func (b *base) note(c *server.Call, what ...string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.told = append(b.told, fmt.Sprintf("%s %d of %s: %s", c.Header.Type, c.Header.Subtype, c.Header.Addr, strings.Join(what, " ")))
}

// heard returns and forgets what the base was told, once it is n messages.
func (b *base) heard(t *testing.T, n int) []string {
	t.Helper()
	for deadline := time.Now().Add(patience); ; {
		b.mu.Lock()
		told := b.told
		if len(told) >= n || time.Now().After(deadline) {
			b.told = nil
			b.mu.Unlock()
			return told
		}
		b.mu.Unlock()
	}
}

// sink notes the robots' states.
type sink struct{ events chan robots.Event }

func (s *sink) Matched(string, *subscribe.Matched, time.Time) {}
func (s *sink) Robot(e robots.Event)                          { s.events <- e }
func (s *sink) Failed(subscribe.Failure)                      {}

// serve runs a Player server with the base until the test ends.
func (b *base) serve(t *testing.T) *server.PipeListener {
	t.Helper()
	pipe := server.NewPipeListener("base", 0)
	s, err := server.New(server.Config{Listener: pipe, Drivers: []server.Driver{b}})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() {
		if err := s.Run(ctx); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(func() { cancel(); running.Wait() })
	return pipe
}

// start runs Robots over in-memory pipes to the base until the test ends.
func start(t *testing.T, b *base, servers ...robots.Server) (*robots.Robots, *sink) {
	t.Helper()
	pipe := b.serve(t)
	matcher, err := subscribe.New(subscribe.Config{})
	if err != nil {
		t.Fatal(err)
	}
	for i := range servers {
		if servers[i].Dial == nil {
			servers[i].Dial = pipe.Dial
		}
	}
	out := &sink{events: make(chan robots.Event, 100)}
	r, err := robots.New(robots.Config{Servers: servers, Matcher: matcher, Sink: out})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() {
		if err := r.Run(ctx); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(func() { cancel(); running.Wait() })
	return r, out
}

// is waits until a robot is in a state.
func (s *sink) is(t *testing.T, robot, state string) robots.Event {
	t.Helper()
	for deadline := time.After(patience); ; {
		select {
		case e := <-s.events:
			if e.Robot == robot && e.State == state {
				return e
			}
		case <-deadline:
			t.Fatalf("%s did not come to be %s", robot, state)
		}
	}
}

func TestCommands(t *testing.T) {
	b := &base{}
	r, out := start(t, b, robots.Server{Address: "base:1", Robot: "r0"})
	if e := out.is(t, "r0", protocol.RobotUp); !cmp.Equal(e.Devices, []string{"position2d:0", "position2d:1"}) {
		t.Errorf("opened %v", e.Devices)
	}
	one := 1
	for _, tt := range []struct {
		command protocol.Command
		told    string
		result  any
		fails   string
	}{
		{command: protocol.Command{Name: "velocity", Args: []any{0.5, 0.0, -0.2}}, told: "CMD 1 of position2d:0: {0.5 0 -0.2} 1"},
		{command: protocol.Command{Name: "velocity", Args: []any{0.5}, Index: &one}, told: "CMD 1 of position2d:1: {0.5 0 0} 1"},
		{command: protocol.Command{Name: "stop"}, told: "CMD 1 of position2d:0: {0 0 0} 1"},
		{command: protocol.Command{Name: "motor_power", Args: []any{"on"}}, told: "REQ 2 of position2d:0: 1"},
		{command: protocol.Command{Name: "motor_power", Args: []any{false}}, told: "REQ 2 of position2d:0: 0"},
		{command: protocol.Command{Name: "set_odometry", Args: []any{1.0, 2.0, 3.0}}, told: "REQ 5 of position2d:0: {1 2 3}"},
		{command: protocol.Command{Name: "set_pose", Args: []any{1.0, 2.0, 3.0}}, told: "REQ 2 of simulation:0: r0 {1 2 3}"},
		{command: protocol.Command{Name: "get_pose"}, told: "REQ 1 of simulation:0: r0 {0 0 0}", result: map[string]float64{"x": 1, "y": 2, "yaw": 3}},
		{command: protocol.Command{Name: "reset_odometry"}, fails: "unavailable: r0: the Player server refused reset_odometry"},
		{command: protocol.Command{Name: "velocity"}, fails: "bad_message: command velocity got 0 arguments"},
		{command: protocol.Command{Name: "velocity", Args: []any{"fast"}}, fails: `bad_message: command velocity: argument 1 is "fast"`},
		{command: protocol.Command{Name: "velocity", Args: []any{nil}}, fails: "bad_message: command velocity: argument 1 is not a number"},
		{command: protocol.Command{Name: "motor_power", Args: []any{7.0}}, fails: "bad_message: command motor_power: argument 1 is 7"},
		{command: protocol.Command{Name: "velocity", Args: []any{1.0, 0.0, 0.0, 0.0}}, fails: "bad_message: command velocity: argument 4 is 0"},
		{command: protocol.Command{Name: "velocity", Args: []any{1.0, 0.0, 0.0, 1.0, 0.0}}, fails: "bad_message: command velocity got 5 arguments"},
		{command: protocol.Command{Name: "fly"}, fails: `bad_message: unknown command "fly"; known are velocity`},
		{command: protocol.Command{Name: "stop", Interface: "laser"}, fails: "bad_message: command stop is for position2d, not for laser"},
		{command: protocol.Command{Name: "stop", TTL: -1}, fails: "bad_message: ttl is -1"},
		{command: protocol.Command{Name: "stop", Robot: "r9"}, fails: `not_found: no robot is named "r9" here`},
	} {
		if tt.command.Robot == "" {
			tt.command.Robot = "r0"
		}
		result, err := r.Command(context.Background(), tt.command)
		if tt.fails != "" {
			var p *protocol.Problem
			if !errors.As(err, &p) || !strings.HasPrefix(string(p.Code)+": "+p.Message, tt.fails) {
				t.Errorf("%v gave %v, expected %s", tt.command, err, tt.fails)
			}
			continue
		}
		if err != nil || !cmp.Equal(result, tt.result) {
			t.Errorf("%v gave %v, %v; expected %v", tt.command, result, err, tt.result)
		}
		if told := b.heard(t, 1); !cmp.Equal(told, []string{tt.told}) {
			t.Errorf("%v told the robot %q, expected %q", tt.command, told, tt.told)
		}
	}
}

// TestCommandsInOrder: a robot's commands are carried out one after the other;
// one whose lifetime ends while it waits is not carried out any more.
func TestCommandsInOrder(t *testing.T) {
	b := &base{hold: make(chan struct{})}
	r, out := start(t, b, robots.Server{Address: "base:1", Robot: "r0"})
	out.is(t, "r0", protocol.RobotUp)
	done := make(chan error, 1)
	go func() {
		_, err := r.Command(context.Background(), protocol.Command{Robot: "r0", Name: "set_odometry", Args: []any{1.0, 0.0, 0.0}, TTL: 60})
		done <- err
	}()
	if told := b.heard(t, 1); len(told) != 1 {
		t.Fatal("the first command did not come")
	}
	_, err := r.Command(context.Background(), protocol.Command{Robot: "r0", Name: "stop", TTL: 0.01})
	var p *protocol.Problem
	if !errors.As(err, &p) || p.Code != protocol.Unavailable {
		t.Errorf("a command that waits behind another gave %v after its lifetime, expected unavailable", err)
	}
	close(b.hold)
	if err := <-done; err != nil {
		t.Error(err)
	}
	if _, err := r.Command(context.Background(), protocol.Command{Robot: "r0", Name: "velocity", Args: []any{1.0}}); err != nil {
		t.Error(err)
	}
	if told := b.heard(t, 1); !cmp.Equal(told, []string{"CMD 1 of position2d:0: {1 0 0} 1"}) {
		t.Errorf("the robot was told %q: the outlived stop should not have come", told)
	}
}

func TestAwayRobot(t *testing.T) {
	refused := errors.New("nobody listens")
	r, _ := start(t, &base{}, robots.Server{Address: "base:1", Robot: "r0", World: "cave", Dial: func(context.Context, string) (net.Conn, error) {
		return nil, refused
	}})
	_, err := r.Command(context.Background(), protocol.Command{Robot: "r0", Name: "stop", TTL: 0.01})
	if err == nil || !strings.Contains(err.Error(), "r0 is away; the command stop waited 10ms and was dropped") {
		t.Errorf("got %v", err)
	}
	for deadline := time.Now().Add(patience); ; {
		l := r.List()[0]
		if l.Robot == "r0" && l.World == "cave" && l.State == protocol.RobotAway && strings.Contains(l.Error, refused.Error()) {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("the list tells %+v", l)
		}
	}
}

// TestSeveralRobots: one connection carries several robots, each with the
// devices that the configuration says.
func TestSeveralRobots(t *testing.T) {
	b := &base{}
	r, out := start(t, b, robots.Server{Address: "base:1", Robots: map[string][]string{
		"r1": {"position2d:0"}, "r2": {"position2d:1"}, "r3": {"laser:0"},
	}})
	for _, name := range []string{"r1", "r2"} {
		out.is(t, name, protocol.RobotUp)
	}
	if _, err := r.Command(context.Background(), protocol.Command{Robot: "r2", Name: "stop"}); err != nil {
		t.Error(err)
	}
	if told := b.heard(t, 1); !cmp.Equal(told, []string{"CMD 1 of position2d:1: {0 0 0} 1"}) {
		t.Errorf("r2's stop came as %q", told)
	}
	for _, l := range r.List() {
		if l.Robot == "r3" && (l.State != protocol.RobotAway || !strings.Contains(l.Error, "has no device of it")) {
			t.Errorf("r3 has no device there, but the list tells %+v", l)
		}
	}
	if _, err := robots.New(robots.Config{
		Servers: []robots.Server{{Address: "a:1", Robot: "r1"}, {Address: "b:1", Robot: "r1"}}, Matcher: &subscribe.Matcher{}, Sink: out,
	}); err == nil || !strings.Contains(err.Error(), "r1") {
		t.Errorf("two robots of one name gave %v", err)
	}
}

// TestSimulationElsewhere: a robot whose own Player server has no simulation is
// in the one that the configuration names, whether robots are there or not; a
// robot without any is told so at once.
func TestSimulationElsewhere(t *testing.T) {
	robot := []server.DeviceInfo{{Interf: player.InterfacePosition2D, Driver: "base"}}
	world := &base{has: []server.DeviceInfo{{Interf: player.InterfaceSimulation, Index: 2, Driver: "base"}}}
	far, worldPipe := &base{has: robot}, world.serve(t)
	farPipe := far.serve(t)
	dial := func(ctx context.Context, address string) (net.Conn, error) {
		if address == "world:1" {
			return worldPipe.Dial(ctx, address)
		}
		return farPipe.Dial(ctx, address)
	}
	there := &robots.Simulation{Address: "world:1", Index: 2}
	r, _ := start(t, &base{},
		robots.Server{Address: "far:1", Robot: "r1", Simulation: there, Dial: dial},
		robots.Server{Address: "base:1", Robot: "own", Simulation: there},
		robots.Server{Address: "far:1", Robot: "none", Dial: dial})
	zero, two := 0, 2
	for _, tt := range []struct {
		robot, name string
		index       *int
		args        []any
		told, fails string
	}{
		{robot: "r1", name: "get_pose", told: "REQ 1 of simulation:2: r1 {0 0 0}"},
		{robot: "r1", name: "get_pose", index: &two, told: "REQ 1 of simulation:2: r1 {0 0 0}"},
		{robot: "r1", name: "set_pose", args: []any{1.0, 2.0, 3.0}, told: "REQ 2 of simulation:2: r1 {1 2 3}"},
		{robot: "r1", name: "get_pose", index: &zero, fails: "not_found: r1 has no device simulation:0"},
		{robot: "none", name: "get_pose", fails: "not_found: get_pose needs a simulation, and the Player server far:1 of none has none"},
		{robot: "none", name: "set_pose", args: []any{1.0, 2.0, 3.0}, fails: "not_found: set_pose needs a simulation"},
		{robot: "own", name: "get_pose"},
	} {
		_, err := r.Command(context.Background(), protocol.Command{Robot: tt.robot, Name: tt.name, Index: tt.index, Args: tt.args, TTL: patience.Seconds()})
		var p *protocol.Problem
		switch {
		case tt.fails != "":
			if !errors.As(err, &p) || !strings.HasPrefix(string(p.Code)+": "+p.Message, tt.fails) {
				t.Errorf("%s of %s gave %v, expected %s", tt.name, tt.robot, err, tt.fails)
			}
		case err != nil:
			t.Errorf("%s of %s: %v", tt.name, tt.robot, err)
		case tt.told != "":
			if told := world.heard(t, 1); !cmp.Equal(told, []string{tt.told}) {
				t.Errorf("%s of %s told the simulation %q, expected %q", tt.name, tt.robot, told, tt.told)
			}
		}
	}
	if told := world.told; len(told) != 0 {
		t.Errorf("a simulation was asked of a robot that has one of its own: %q", told)
	}
	for _, l := range r.List() {
		if l.Robot == "" {
			t.Errorf("a robot without a name is listed: %+v", l)
		}
	}
}
