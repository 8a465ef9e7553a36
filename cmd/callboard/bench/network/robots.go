package network

import (
	"context"
	"fmt"
	"net"
	"sync"
	"time"

	"callboard/bridge/benchtest"
)

// Robots are robots behind Player servers of their own. Their readings are
// numbered from 1: a reading's time is its number.
type Robots struct {
	fleet  *benchtest.Fleet
	cancel context.CancelFunc
	ended  chan error

	mu  sync.Mutex
	all [][]time.Time // when each reading of each robot was given
}

// RobotName is the name of a robot.
func RobotName(robot int) string { return fmt.Sprint("r", robot) }

func newRobots(n, beams int, mixed bool) (*Robots, error) {
	fleetOn := benchtest.NewFleetOn
	if mixed {
		fleetOn = benchtest.NewMixedFleetOn
	}
	fleet, err := fleetOn(n, beams, func(int) (net.Listener, error) { return net.Listen("tcp", "127.0.0.1:0") })
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	r := &Robots{fleet: fleet, cancel: cancel, ended: make(chan error, 1), all: make([][]time.Time, n)}
	go func() { r.ended <- fleet.Run(ctx) }()
	return r, nil
}

func (r *Robots) close() error {
	r.cancel()
	return <-r.ended
}

// Address is where a robot's Player server is.
func (r *Robots) Address(robot int) string { return r.fleet.Addresses()[robot] }

// Len is how many robots there are.
func (r *Robots) Len() int { return r.fleet.Len() }

// Publish has a robot give its next reading.
func (r *Robots) Publish(robot int) {
	r.mu.Lock()
	r.all[robot] = append(r.all[robot], time.Now())
	n := len(r.all[robot])
	r.mu.Unlock()
	r.fleet.Publish(robot, true, float64(n))
}

// Given is how many readings a robot has given.
func (r *Robots) Given(robot int) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.all[robot])
}

// When returns when a robot gave its n-th reading.
func (r *Robots) When(robot, n int) time.Time {
	r.mu.Lock()
	defer r.mu.Unlock()
	if n < 1 || n > len(r.all[robot]) {
		return time.Time{}
	}
	return r.all[robot][n-1]
}

// Stream has all robots together give so many readings a second, evenly
// spread, until ctx ends.
func (r *Robots) Stream(ctx context.Context, perSecond float64) {
	tick := time.NewTicker(max(time.Duration(float64(time.Second)/perSecond), time.Millisecond))
	defer tick.Stop()
	began, sent := time.Now(), 0
	for {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
		for due := int(time.Since(began).Seconds() * perSecond); sent < due; sent++ {
			r.Publish(sent % r.Len())
		}
	}
}
