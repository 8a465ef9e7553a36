package robots

import (
	"context"
	"sync"
	"time"

	"callboard/subscribe/protocol"
)

const (
	stopTime  = time.Second            // a stop may take so long to be written
	stopAgain = 100 * time.Millisecond // then it is tried again, if it could not
)

// drive keeps what a velocity with an end promises: when its time is over the robot
// stops, unless another one came, and also when this broker ends. It does so beside
// the queue, where a request that is not answered would hold it up.
type drive struct {
	robot *robot

	mu      sync.Mutex // held while a velocity is sent, so that no stop comes behind a newer one
	holds   map[int]*hold
	ended   bool
	running sync.WaitGroup
}

// hold is a velocity of a device that ends.
type hold struct {
	session *session
	index   int
	timer   *time.Timer
	failed  bool // its stop could not be sent
}

// send sends a velocity, or a stop, to a device. The velocity ends at until; zero: it
// does not.
func (d *drive) send(ctx context.Context, s *session, index int, c *command, args []float64, until time.Time) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.ended {
		return errEnding(d.robot.name)
	}
	_, err := perform(ctx, s, d.robot.name, index, c, args)
	old := d.holds[index]
	if err != nil && (old != nil || until.IsZero()) {
		return err // what is not known to be replaced ends in its time
	}
	if old != nil {
		old.timer.Stop()
		delete(d.holds, index)
	}
	if !until.IsZero() {
		h := &hold{session: s, index: index}
		h.timer = time.AfterFunc(time.Until(until), func() { d.over(h) })
		if d.holds == nil {
			d.holds = map[int]*hold{}
		}
		d.holds[index] = h
	}
	return err
}

// over stops a robot whose velocity's time is over. One that is away stops when it
// is back: whether it has stopped meanwhile is its Player server's matter.
func (d *drive) over(h *hold) {
	d.mu.Lock()
	if d.ended {
		d.mu.Unlock()
		return
	}
	d.running.Add(1)
	d.mu.Unlock()
	defer d.running.Done()
	select {
	case <-h.session.stands.passed():
		d.stop(h)
	case <-d.robot.session.owner.ending:
	}
}

// stop sends a hold's stop, unless another velocity came; again if it cannot be sent.
func (d *drive) stop(h *hold) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.holds[h.index] != h {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), stopTime)
	defer cancel()
	_, err := perform(ctx, h.session, d.robot.name, h.index, halting, nil)
	if err == nil {
		delete(d.holds, h.index)
		return
	}
	if !h.failed {
		d.robot.session.owner.log.Warn("a robot whose velocity's time is over was not stopped", "robot", d.robot.name, "error", err)
	}
	if h.failed = true; !d.ended {
		h.timer.Reset(stopAgain)
	}
}

// end stops what goes on, and refuses what comes from now on.
func (d *drive) end() {
	d.mu.Lock()
	d.ended = true
	var left []*hold
	for _, h := range d.holds {
		h.timer.Stop()
		left = append(left, h)
	}
	d.mu.Unlock()
	for _, h := range left {
		d.stop(h)
	}
	d.running.Wait()
}

func errEnding(robot string) error {
	return fail(protocol.Unavailable, "%s: the broker that reads it is ending", robot)
}
