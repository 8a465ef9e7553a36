package robots_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"callboard/bridge/robots"
	"callboard/player"
	"callboard/player/server"
	"callboard/subscribe"
	"callboard/subscribe/protocol"
)

// driven is a robot at a base, in a synctest bubble.
type driven struct {
	t     *testing.T
	base  *base
	pipe  *server.PipeListener
	conns chan net.Conn
	*robots.Robots
	stop    context.CancelFunc
	running sync.WaitGroup
	began   time.Time
}

// inBubble runs a test with a robot that is up, and ends it.
func inBubble(t *testing.T, f func(d *driven)) { inBubbleWith(t, &base{}, f) }

// inBubbleWith is inBubble with a base.
func inBubbleWith(t *testing.T, b *base, f func(d *driven)) {
	synctest.Test(t, func(t *testing.T) {
		d := &driven{t: t, base: b, conns: make(chan net.Conn, 10)}
		d.pipe = d.base.serve(t)
		matcher, err := subscribe.New(subscribe.Config{})
		if err != nil {
			t.Fatal(err)
		}
		dial := func(ctx context.Context, address string) (net.Conn, error) {
			c, err := d.pipe.Dial(ctx, address)
			d.conns <- c
			return c, err
		}
		out := &sink{events: make(chan robots.Event, 100)}
		if d.Robots, err = robots.New(robots.Config{Servers: []robots.Server{{Address: "base:1", Robot: "r0", Dial: dial}}, Matcher: matcher, Sink: out}); err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancel(context.Background())
		d.stop = stop
		d.running.Go(func() { _ = d.Run(ctx) })
		out.is(t, "r0", protocol.RobotUp)
		d.began = time.Now()
		f(d)
		stop()
		d.running.Wait()
	})
}

// goes sends a velocity of 1 m/s that ends, or does not.
func (d *driven) goes(seconds ...any) {
	d.t.Helper()
	c := protocol.Command{Robot: "r0", Name: "velocity", Args: append([]any{1.0, 0.0, 0.0}, seconds...)}
	if _, err := d.Command(context.Background(), c); err != nil {
		d.t.Error(err)
	}
}

// at lets time pass until a moment of the test, and checks what the base was told
// until then.
func (d *driven) at(seconds float64, want ...string) {
	d.t.Helper()
	time.Sleep(time.Until(d.began.Add(time.Duration(seconds * float64(time.Second)))))
	synctest.Wait()
	d.base.mu.Lock()
	defer d.base.mu.Unlock()
	if told := d.base.told; fmt.Sprint(told) != fmt.Sprint(want) {
		d.t.Errorf("until %v s the robot was told %q, expected %q", seconds, told, want)
	}
	d.base.told = nil
}

const (
	goes  = "CMD 1 of position2d:0: {1 0 0} 1"
	stops = "CMD 1 of position2d:0: {0 0 0} 1"
	asked = "REQ 5 of position2d:0: {0 0 0}"
)

// TestVelocityEnds: a velocity with an end stops its robot when its time is over.
func TestVelocityEnds(t *testing.T) {
	inBubble(t, func(d *driven) {
		d.goes(1.5)
		d.at(1.4, goes)
		d.at(1.6, stops)
		d.goes(2.0)
		d.at(3.0, goes)
		d.goes(2.0) // its own end counts
		d.at(4.9, goes)
		d.at(5.1, stops)
		d.goes(1.0)
		d.goes() // goes on
		d.at(60, goes, goes)
	})
}

// TestGoalCommands: goals go to the base or a planner, poses to a localizer. A goal of
// the base replaces a velocity, whose end does not stop it.
func TestGoalCommands(t *testing.T) {
	b := &base{has: []server.DeviceInfo{
		{Interf: player.InterfacePosition2D, Driver: "base"}, {Interf: player.InterfacePlanner, Driver: "base"}, {Interf: player.InterfaceLocalize, Driver: "base"},
	}}
	inBubbleWith(t, b, func(d *driven) {
		d.goes(1.5)
		for _, c := range []protocol.Command{
			{Name: "goto", Args: []any{1.0, 2.0, 3.0}}, {Name: "goal", Args: []any{1.0, 2.0, 3.0}},
			{Name: "localize", Args: []any{1.0, 2.0, 3.0}}, {Name: "localize", Args: []any{1.0, 2.0, 3.0, 0.1, 0.2, 0.3}},
		} {
			c.Robot = "r0"
			if _, err := d.Command(context.Background(), c); err != nil {
				d.t.Error(err)
			}
		}
		d.at(60, goes, "CMD 2 of position2d:0: {1 2 3} 1", "CMD 1 of planner:0: {1 2 3}",
			"REQ 1 of localize:0: {1 2 3} [0.25 0.25 0.07 0 0 0]", "REQ 1 of localize:0: {1 2 3} [0.1 0.2 0.3 0 0 0]")
	})
}

// TestVelocityEndsBesideRequests: a request that is not answered holds up no stop,
// and a velocity behind it whose time is over is not sent.
func TestVelocityEndsBesideRequests(t *testing.T) {
	inBubble(t, func(d *driven) {
		d.base.hold = make(chan struct{})
		d.goes(1.5)
		var asking sync.WaitGroup
		asking.Go(func() {
			set := protocol.Command{Robot: "r0", Name: "set_odometry", Args: []any{0.0, 0.0, 0.0}, TTL: 4}
			if _, err := d.Command(context.Background(), set); err != nil {
				d.t.Error(err)
			}
		})
		d.at(1, goes, asked)
		var late error
		asking.Go(func() {
			_, late = d.Command(context.Background(), protocol.Command{Robot: "r0", Name: "velocity", Args: []any{1.0, 0.0, 0.0, 1.5}, TTL: 60})
		})
		d.at(3, stops)
		close(d.base.hold)
		asking.Wait()
		if late == nil {
			d.t.Error("a velocity was carried out when its time was over")
		}
		d.at(10)
	})
}

// TestDriveEnds: when this broker ends, the robots stop whose velocity has an end,
// before their sessions close, and no command is taken any more.
func TestDriveEnds(t *testing.T) {
	inBubble(t, func(d *driven) {
		d.goes(600.0)
		d.at(1, goes)
		d.stop()
		d.running.Wait()
		d.at(1, stops)
		var p *protocol.Problem
		if _, err := d.Command(context.Background(), protocol.Command{Robot: "r0", Name: "stop"}); !errors.As(err, &p) || p.Code != protocol.Unavailable {
			d.t.Errorf("a command after the end gave %v", err)
		}
	})
	inBubble(t, func(d *driven) {
		d.goes() // asked for without an end: it has none
		d.at(1, goes)
		d.stop()
		d.running.Wait()
		d.at(2)
	})
}

// TestStopsWhenBack: a robot that was away when its velocity's time was over stops
// when it is back.
func TestStopsWhenBack(t *testing.T) {
	inBubble(t, func(d *driven) {
		d.goes(0.01)
		if err := (<-d.conns).Close(); err != nil {
			d.t.Fatal(err)
		}
		d.at(60, goes, stops)
	})
}
