package rosgraph

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"callboard/bridge/push/ros"
	"callboard/player"
	"callboard/subscribe/protocol"
)

// Where a simulation has a robot is asked for whenever its odometry comes, once
// for all members that want it, and one question at a time.

// truth is that of one robot.
type truth struct {
	watchers map[*Member]*watching
	asking   bool
	time     float64 // s, Player's: of the odometry that came last
	asked    bool    // some came meanwhile
	last     *Pose
}

// watching is a member that wants it. Of poses that wait for a slow client only
// the newest is kept.
type watching struct {
	newest *Pose
	asked  bool // a Moved is on its way to the member's Speaker
}

// Pose is where a simulation has a robot.
type Pose struct {
	Time         float64 // s, Player's
	At, Velocity player.Pose
}

// Moved tells a Speaker that there is a new Pose, which Member.Truth returns.
type Moved struct{ Robot string }

// Op names it for metrics.
func (*Moved) Op() string { return "moved" }

// Truth returns where the simulation has a robot, nil if that is not known.
func (m *Member) Truth(robot string) *Pose {
	g := m.graph
	g.mu.Lock()
	defer g.mu.Unlock()
	if t := g.truths[robot]; t != nil && t.watchers[m] != nil {
		t.watchers[m].asked = false
		return t.watchers[m].newest
	}
	return nil
}

// poseTime is how long a simulation may take to answer.
const poseTime = 500 * time.Millisecond

// pose asks where the simulation has a robot.
func (g *Graph) pose(ctx context.Context, robot string) (player.Pose, error) {
	ctx, cancel := context.WithTimeout(ctx, poseTime)
	defer cancel()
	answer, err := g.config.Broker.Command(ctx, everything, protocol.Command{Robot: robot, Name: "get_pose", TTL: poseTime.Seconds()})
	if err != nil {
		return player.Pose{}, err
	}
	var at struct{ X, Y, Yaw *float64 }
	if err := json.Unmarshal(protocol.AppendJSON(nil, answer), &at); err != nil || at.X == nil || at.Y == nil || at.Yaw == nil {
		return player.Pose{}, errors.New("no pose in the answer")
	}
	return player.Pose{X: *at.X, Y: *at.Y, Yaw: *at.Yaw}, nil
}

// WatchTruth has the member told where the simulation has a robot, or no longer.
func (m *Member) WatchTruth(robot string, on bool) {
	g := m.graph
	g.mu.Lock()
	defer g.mu.Unlock()
	t := g.truths[robot]
	if t == nil {
		t = &truth{watchers: map[*Member]*watching{}}
		g.truths[robot] = t
	}
	switch {
	case !on:
		delete(t.watchers, m)
	case t.watchers[m] == nil:
		t.watchers[m] = &watching{}
	}
}

// AskTruth asks where the robot is at the time of the notification. It does not
// wait.
func (m *Member) AskTruth() {
	if m.robot == nil || m.notify.Interface == player.InterfaceLocalize.String() {
		return
	}
	g, robot := m.graph, m.notify.Robot
	g.mu.Lock()
	defer g.mu.Unlock()
	t := g.truths[robot]
	if t == nil || len(t.watchers) == 0 || g.closed || t.last != nil && t.last.Time == m.notify.Time || t.asking && t.time == m.notify.Time {
		return
	}
	t.time, t.asked = m.notify.Time, true
	if !t.asking {
		t.asking = true
		g.running.Add(1)
		go g.askTruth(robot, t)
	}
}

// askTruth asks until no odometry has come meanwhile.
func (g *Graph) askTruth(robot string, t *truth) {
	defer g.running.Done()
	for {
		g.mu.Lock()
		if !t.asked || g.closed {
			t.asking = false
			g.mu.Unlock()
			return
		}
		t.asked = false
		time := t.time
		g.mu.Unlock()
		at, err := g.pose(g.context, robot)
		if err == nil {
			g.tellTruth(t, robot, &Pose{Time: time, At: at})
		}
	}
}

// tellTruth tells the members, with the velocity that the difference is, as
// stage_ros has it.
func (g *Graph) tellTruth(t *truth, robot string, p *Pose) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if last := t.last; last != nil && p.Time > last.Time {
		d := p.Time - last.Time
		p.Velocity = player.Pose{X: (p.At.X - last.At.X) / d, Y: (p.At.Y - last.At.Y) / d, Yaw: ros.Turn(p.At.Yaw-last.At.Yaw) / d}
	}
	t.last = p
	for m, w := range t.watchers {
		w.newest = p
		if !w.asked {
			w.asked = true
			m.Conn.Send(&Moved{robot})
		}
	}
}
