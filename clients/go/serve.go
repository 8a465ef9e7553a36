package callboard

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"callboard/subscribe/protocol"
)

// Task is a task that a server has in hand.
type Task struct {
	Name  string // a lasting word
	Queue string
	From  string // the client that asked; "": one without an id
	Body  json.RawMessage
	Again bool // somebody had it in hand before, perhaps this program

	client *Client
	cancel context.CancelFunc
}

// TaskHandler does a task and returns its answer, which is encoded as JSON, or why it
// cannot. ctx ends when the task's time is over, when it is cancelled, and with the
// client.
type TaskHandler func(ctx context.Context, t *Task) (any, error)

// Progress tells who asked how the task comes on. Of what a slow connection keeps
// waiting the newest stands.
func (t *Task) Progress(progress any) error {
	text, err := json.Marshal(progress)
	if err != nil {
		return fmt.Errorf("callboard: the progress of a task: %w", err)
	}
	m := protocol.Done{Op: protocol.OpDone, Task: t.Name, Progress: text}
	if err := checkSize(m); err != nil {
		return err
	}
	c := t.client
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.conn != nil && c.hands[t.Name] == t {
		c.conn.send(m)
	}
	return nil
}

// Server is a queue that a client serves.
type Server struct {
	client *Client
	id     string
	queue  string
	atOnce uint64
	handle TaskHandler
	inHand int
	idle   chan struct{} // closed when nothing is in hand any more, once it is stopped
	done   chan struct{} // closed when the broker has refused it, or the client has ended
	err    error
}

// Serve does the tasks of a queue, one at a time, until Stop. handle runs in a goroutine
// of its own.
func (c *Client) Serve(queue string, handle TaskHandler) (*Server, error) {
	return c.ServeMany(queue, 1, handle)
}

// ServeMany is Serve with up to so many tasks in hand at a time, at most 1,000.
func (c *Client) ServeMany(queue string, atOnce int, handle TaskHandler) (*Server, error) {
	if atOnce < 1 || atOnce > protocol.MaxAtOnce {
		return nil, fmt.Errorf("callboard: %d tasks at once; expected 1 to %d", atOnce, protocol.MaxAtOnce)
	}
	if queue == "" || handle == nil {
		return nil, errors.New("callboard: to serve takes the name of a queue and a handler")
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ended {
		return nil, c.closedError()
	}
	c.nextID++
	s := &Server{
		client: c, id: taskPrefix + "s" + strconv.FormatUint(c.nextID, 10), queue: queue, atOnce: uint64(atOnce), handle: handle,
		done: make(chan struct{}),
	}
	c.servers[s.id] = s
	for _, conn := range []*connection{c.conn, c.next} {
		if conn != nil {
			conn.send(s.message())
		}
	}
	return s, nil
}

func (s *Server) message() protocol.Serve {
	return protocol.Serve{Op: protocol.OpServe, ID: s.id, Queue: s.queue, AtOnce: &s.atOnce}
}

// Done is closed when the broker has refused the queue, or the client has ended. Err
// returns why.
func (s *Server) Done() <-chan struct{} { return s.done }

// Err returns why the server has ended; nil while it goes on.
func (s *Server) Err() error {
	s.client.mu.Lock()
	defer s.client.mu.Unlock()
	return s.err
}

// Stop takes no further tasks, and waits until those in hand are done or ctx ends. Not to
// be called from the handler.
func (s *Server) Stop(ctx context.Context) error {
	c := s.client
	c.mu.Lock()
	if c.servers[s.id] == s {
		delete(c.servers, s.id)
		for _, conn := range []*connection{c.conn, c.next} {
			if conn != nil {
				conn.send(protocol.Unserve{Op: protocol.OpUnserve, ID: s.id})
			}
		}
	}
	if s.idle == nil {
		s.idle = make(chan struct{})
		if s.inHand == 0 {
			close(s.idle)
		}
	}
	idle := s.idle
	c.mu.Unlock()
	select {
	case <-idle:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// end ends a server for good. mu is held.
func (s *Server) end(err error) {
	delete(s.client.servers, s.id)
	if s.err == nil {
		s.err = err
		close(s.done)
	}
}

// takeTask has a task done. mu is held.
func (c *Client) takeTask(m protocol.Task) {
	s := c.servers[m.ID]
	if s == nil || c.hands[m.Task] != nil || c.ended {
		return // it is given to another server, once the broker knows
	}
	ctx, cancel := context.WithTimeout(c.handling, time.Duration(m.Left*float64(time.Second)))
	t := &Task{Name: m.Task, Queue: m.Queue, From: m.From, Body: m.Body, Again: m.Again, client: c, cancel: cancel}
	c.hands[m.Task] = t
	s.inHand++
	c.working.Go(func() {
		defer cancel()
		d, text := t.do(ctx, s.handle)
		c.answerTask(s, t, d, text)
	})
}

// do does a task and words its answer, also as text.
func (t *Task) do(ctx context.Context, handle TaskHandler) (d *protocol.Done, text []byte) {
	d = &protocol.Done{Task: t.Name}
	result, err := handle(ctx, t)
	if err == nil {
		if d.Body, err = encodeBody(result); err != nil {
			err = fmt.Errorf("the answer cannot be encoded: %w", err)
		} else {
			text = protocol.AppendMessage(make([]byte, 0, len(d.Body)+128), d)
			if err = checkLength(text); err != nil {
				err = fmt.Errorf("the answer is too long: %w", err)
			}
		}
	}
	if err != nil {
		why := err.Error()
		d.Body, d.Error = nil, &protocol.TaskError{Message: why[:min(len(why), 4096)]}
		text = protocol.AppendMessage(nil, d)
	}
	return d, text
}

// answerTask sends a task's answer.
func (c *Client) answerTask(s *Server, t *Task, d *protocol.Done, text []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if s.inHand--; s.inHand == 0 && s.idle != nil {
		close(s.idle)
	}
	if c.hands[t.Name] != t {
		return // of another connection of an anonymous client
	}
	delete(c.hands, t.Name)
	c.remember(t, d)
	c.enqueue(text)
}

// answered is an answer to a task. A broker that is killed may not have passed on what came
// last: it is said again to the next one.
type answered struct {
	message *protocol.Done
	at      time.Time
}

// Answers are said again for so long, and so many.
const (
	sayAgain     = 30 * time.Second
	maxSaid      = 1000
	maxSaidBytes = 16 << 20
)

// remember notes a task's answer. The newest counts of a task that came again. mu is held.
func (c *Client) remember(t *Task, d *protocol.Done) {
	if t.Again {
		c.dones = slices.DeleteFunc(c.dones, func(a answered) bool {
			again := a.message.Task == t.Name
			if again {
				c.doneBytes -= len(a.message.Body)
			}
			return again
		})
	}
	c.dones = append(c.dones, answered{d, time.Now()})
	c.doneBytes += len(d.Body)
	c.lately()
}

// lately returns what was answered lately. mu is held.
func (c *Client) lately() []answered {
	for len(c.dones) > 0 && (time.Since(c.dones[0].at) > sayAgain || len(c.dones) > maxSaid || c.doneBytes > maxSaidBytes) {
		c.doneBytes -= len(c.dones[0].message.Body)
		c.dones = c.dones[1:]
	}
	return c.dones
}

// takeCancelled ends the context of a task whose answer is not wanted any more.
func (c *Client) takeCancelled(conn *connection, m protocol.CancelledTask) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if t := c.hands[m.Task]; t != nil {
		t.cancel()
	}
	return c.current(conn)
}

// takeTasks takes what a broker says of tasks; ok is false if it is about something else.
func (c *Client) takeTasks(conn *connection, op string, text []byte) (ok bool, err error) {
	switch op {
	case protocol.OpTask:
		var m protocol.Task
		if err = decode(text, &m, checkTask); err == nil {
			err = c.locked(conn, func() error { return c.settle(func() { c.takeTask(m) }) })
		}
	case protocol.OpCancelled:
		var m protocol.CancelledTask
		if err = decode(text, &m, func(*protocol.CancelledTask) error { return nil }); err == nil {
			err = c.takeCancelled(conn, m)
		}
	case protocol.OpAccepted:
		var m protocol.Accepted
		if err = decode(text, &m, checkAccepted); err == nil {
			err = c.takeAccepted(conn, m)
		}
	case protocol.OpProgress:
		var m protocol.Progress
		if err = decode(text, &m, func(*protocol.Progress) error { return nil }); err == nil {
			err = c.takeProgress(conn, m)
		}
	default:
		return false, nil
	}
	return true, err
}
