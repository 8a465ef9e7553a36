package rosgraph

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"callboard/bridge/attach"
	"callboard/bridge/push/ros"
	"callboard/subscribe/protocol"
)

// DriveTime is how long a robot goes on after a velocity: then it stops, unless
// another one came. Programs that steer by hand send one a second. The broker that
// reads the robot keeps this, whatever becomes of the client and of this broker.
const DriveTime = 1500 * time.Millisecond

// drive is a robot that a member has set going.
type drive struct {
	by    *Member
	until time.Time // by then it has stopped by itself
}

// wheels are the robots that a member drives: of the velocities that wait for a
// robot only the newest counts.
type wheels struct {
	mu      sync.Mutex
	waiting map[string]*velocity // by robot; an entry: a command is under way
}

type velocity struct {
	args []any
	done attach.Answer
}

// Drive has a robot go, and answers once it was told. The error says that it was
// not asked at all.
func (m *Member) Drive(ctx context.Context, r *Robot, twist ros.Message, done attach.Answer) error {
	x, y, yaw := twist.Float("linear", "x"), twist.Float("linear", "y"), twist.Float("angular", "z")
	if !ros.Finite(x, y, yaw) {
		return &protocol.Problem{Code: protocol.BadMessage, Message: fmt.Sprintf("a velocity of %v, %v m/s, %v rad/s; expected finite numbers", x, y, yaw)}
	}
	moving := x != 0 || y != 0 || yaw != 0
	v := &velocity{[]any{x, y, yaw}, done}
	if moving {
		v.args = append(v.args, DriveTime.Seconds())
	}
	m.wheels.mu.Lock()
	if _, busy := m.wheels.waiting[r.Name]; busy {
		m.wheels.waiting[r.Name] = v
		m.wheels.mu.Unlock()
		m.graph.driven(r.Name, m, moving)
		return nil
	}
	if m.wheels.waiting == nil {
		m.wheels.waiting = map[string]*velocity{}
	}
	m.wheels.waiting[r.Name] = nil
	m.wheels.mu.Unlock()
	err := m.send(ctx, r.Name, v)
	if err == nil {
		m.graph.driven(r.Name, m, moving)
	}
	return err
}

// send sends a velocity, and when it was answered the one that waits by then.
func (m *Member) send(ctx context.Context, robot string, v *velocity) error {
	command := protocol.Command{Robot: robot, Name: "velocity", Args: v.args, TTL: DriveTime.Seconds()}
	err := m.Conn.Command(ctx, command, func(result any, err error) {
		v.done(result, err)
		if next := m.next(robot); next != nil {
			if err := m.send(ctx, robot, next); err != nil {
				next.done(nil, err)
			}
		}
	})
	if err != nil {
		m.wheels.mu.Lock()
		delete(m.wheels.waiting, robot)
		m.wheels.mu.Unlock()
	}
	return err
}

// next returns the velocity that waits for a robot, nil if none does.
func (m *Member) next(robot string) *velocity {
	m.wheels.mu.Lock()
	defer m.wheels.mu.Unlock()
	v := m.wheels.waiting[robot]
	if v == nil {
		delete(m.wheels.waiting, robot)
	} else {
		m.wheels.waiting[robot] = nil
	}
	return v
}

// driven notes that a member drives a robot, or has stopped it.
func (g *Graph) driven(robot string, by *Member, moving bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if moving {
		g.drives[robot] = drive{by, time.Now().Add(DriveTime)}
	} else {
		delete(g.drives, robot)
	}
}

// Halt stops a robot, if the member drives it: behind the velocities that it has
// sent.
func (m *Member) Halt(ctx context.Context, r *Robot) {
	m.graph.mu.Lock()
	by := m.graph.drives[r.Name].by
	m.graph.mu.Unlock()
	if by == m {
		_ = m.Drive(ctx, r, nil, func(any, error) {}) // if it cannot be sent, the robot stops as when nothing is heard
	}
}

// stopAll stops all robots that the member drives. All its commands are done.
func (m *Member) stopAll() {
	g := m.graph
	g.mu.Lock()
	defer g.mu.Unlock()
	now := time.Now()
	for name, d := range g.drives {
		if d.by != m {
			continue
		}
		delete(g.drives, name)
		if !g.closed && now.Before(d.until) {
			g.running.Add(1)
			go g.stop(name, m.Grant)
		}
	}
}

// stopTime is how long a robot that is to stop is tried to reach.
const stopTime = time.Second

// stop stops a robot whose driver has gone. If it cannot, the robot stops when its
// velocity's time is over.
func (g *Graph) stop(robot string, grant attach.Grant) {
	defer g.running.Done()
	ctx, cancel := context.WithTimeout(context.Background(), stopTime)
	defer cancel()
	if _, err := g.config.Broker.Command(ctx, grant, protocol.Command{Robot: robot, Name: "stop", TTL: stopTime.Seconds()}); err != nil {
		g.log.Info("a robot whose driver has gone was not stopped at once", slog.String("robot", robot), slog.Any("error", err))
	}
}
