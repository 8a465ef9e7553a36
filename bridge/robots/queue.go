package robots

import (
	"context"
	"time"

	"callboard/subscribe/protocol"
)

const (
	commandQueue = 64              // commands that wait for one robot; more are refused
	defaultTTL   = 2 * time.Second // how long a command waits for its robot
	longestTTL   = time.Hour
)

// commands is a robot's FIFO queue of commands: one consumer, an answer for
// every command, a lifetime for those that wait.
type commands struct {
	robot   *robot
	waiting chan *task
}

// task is a command on its way.
type task struct {
	ctx     context.Context // the asker's, ends with its lifetime
	command *command
	args    []float64
	index   *int
	ttl     time.Duration
	until   time.Time   // when the velocity ends that it is; zero: it does not
	done    chan answer // holds one
}

type answer struct {
	result any
	err    error
}

func newCommands(r *robot) *commands {
	return &commands{robot: r, waiting: make(chan *task, commandQueue)}
}

// do puts a command into the queue and waits for its answer. seconds is its
// lifetime, 0 the default one.
func (q *commands) do(ctx context.Context, c *command, args []float64, index *int, seconds float64) (any, error) {
	ttl := defaultTTL
	if !(seconds >= 0 && seconds <= longestTTL.Seconds()) {
		return nil, fail(protocol.BadMessage, "ttl is %v; expected seconds from 0 to %v", seconds, longestTTL.Seconds())
	}
	if seconds > 0 {
		ttl = time.Duration(seconds * float64(time.Second))
	}
	ctx, cancel := context.WithTimeout(ctx, ttl)
	defer cancel()
	t := &task{ctx: ctx, command: c, args: args, index: index, ttl: ttl, done: make(chan answer, 1)}
	if lasts := c.lasts(args); lasts > 0 {
		t.until = time.Now().Add(time.Duration(lasts * float64(time.Second)))
	}
	select {
	case q.waiting <- t:
	default:
		return nil, fail(protocol.Overloaded, "%d commands wait for %s already", commandQueue, q.robot.name)
	}
	select {
	case a := <-t.done:
		return a.result, a.err
	case <-q.robot.session.owner.ending:
		return nil, errEnding(q.robot.name)
	case <-ctx.Done():
		return nil, q.expired(t)
	}
}

// run carries commands out, one after the other, until ctx ends.
func (q *commands) run(ctx context.Context) {
	for {
		select {
		case t := <-q.waiting:
			result, err := q.carryOut(t)
			t.done <- answer{result, err}
		case <-ctx.Done():
			return
		}
	}
}

func (q *commands) carryOut(t *task) (any, error) {
	select {
	case <-q.robot.present.passed():
	case <-t.ctx.Done():
		return nil, q.expired(t)
	}
	if t.ctx.Err() != nil { // both were so: what nobody waits for is not done
		return nil, q.expired(t)
	}
	session, index, err := q.robot.target(t.command, t.index)
	if err != nil {
		return nil, err
	}
	select {
	case <-session.stands.passed():
	case <-t.ctx.Done():
		return nil, fail(protocol.Unavailable, "%s: the Player server %s is not connected; the command %s waited %v and was dropped",
			q.robot.name, session.server.Address, t.command.name, t.ttl)
	}
	if !t.command.moves {
		return perform(t.ctx, session, q.robot.name, index, t.command, t.args)
	}
	if !t.until.IsZero() && !time.Now().Before(t.until) {
		return nil, fail(protocol.Unavailable, "%s: the velocity's time was over before it could be sent", q.robot.name)
	}
	return nil, q.robot.drive.send(t.ctx, session, index, t.command, t.args, t.until)
}

// expired words what a lifetime's end means.
func (q *commands) expired(t *task) error {
	q.robot.mu.Lock()
	defer q.robot.mu.Unlock()
	if q.robot.state != protocol.RobotUp {
		return fail(protocol.Unavailable, "%s is away; the command %s waited %v and was dropped", q.robot.name, t.command.name, t.ttl)
	}
	return fail(protocol.Unavailable, "%s did not answer %s within %v; it may have been carried out", q.robot.name, t.command.name, t.ttl)
}
