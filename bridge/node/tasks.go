package node

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"callboard/bridge/overlay"
	"callboard/subscribe/protocol"
)

// Task does what a client says of tasks.
func (n *Node) Task(ctx context.Context, c uint64, m any) error {
	conn := overlay.Conn(c)
	var in overlay.Input
	switch m := m.(type) {
	case *protocol.Serve:
		s := &overlay.Serve{Conn: conn, ID: m.ID, Queue: m.Queue, AtOnce: 1}
		if m.AtOnce != nil {
			s.AtOnce = int(*m.AtOnce)
		}
		in = s
	case *protocol.Unserve:
		in = &overlay.Unserve{Conn: conn, ID: m.ID}
	case *protocol.Request:
		r := &overlay.RequestTask{Conn: conn, ID: m.ID, Queue: m.Queue, Key: m.Key, Body: m.Body}
		if m.TTL != nil {
			r.TTL = lifetime(*m.TTL)
		}
		in = r
	case *protocol.Command:
		key := m.Key
		bare := *m
		bare.Key = ""
		body, err := json.Marshal(&bare)
		if err != nil {
			return fmt.Errorf("wording a command: %w", err)
		}
		in = &overlay.RequestTask{Conn: conn, ID: m.ID, Robot: m.Robot, Key: key, Body: body, TTL: lifetime(m.TTL)}
	case *protocol.Cancel:
		in = &overlay.CancelTask{Conn: conn, Key: m.Key}
	case *protocol.Done:
		switch {
		case m.Progress != nil:
			in = &overlay.ProgressTask{Conn: conn, Task: m.Task, Body: m.Progress}
		case m.Error != nil:
			in = &overlay.DoneTask{Conn: conn, Task: m.Task, Failed: true, Message: m.Error.Message}
		default:
			in = &overlay.DoneTask{Conn: conn, Task: m.Task, Body: m.Body}
		}
	default:
		return fmt.Errorf("node: a %T is not about tasks", m)
	}
	return n.queue.post(ctx, item{in: in})
}

// lifetime is a time in s as the state machine has it; 0 is its default.
func lifetime(seconds float64) overlay.Duration {
	return overlay.Duration(min(seconds, protocol.MaxTTL) * float64(overlay.Second))
}

// execute carries out a command with a key, beside the broker's goroutine.
func (n *Node) execute(o *overlay.Execute) {
	n.running.Go(func() {
		ctx, cancel := context.WithTimeout(n.asking, time.Duration(o.Left)*time.Microsecond)
		defer cancel()
		done := &overlay.Executed{Task: o.Task}
		var m protocol.Command
		err := json.Unmarshal(o.Body, &m)
		if err == nil {
			var result any
			if result, err = n.robots.Command(ctx, m); err == nil {
				done.Body = protocol.AppendJSON(nil, result)
			}
		}
		if n.asking.Err() != nil {
			return // whether it has been carried out is not known: the next life says so
		}
		if err != nil {
			done.Code, done.Message = protocol.Unavailable, err.Error()
			if p := (*protocol.Problem)(nil); errors.As(err, &p) {
				done.Code, done.Message = p.Code, p.Message
			}
		}
		_ = n.queue.post(n.asking, item{in: done})
	})
}

// Queue is a queue that lives at a broker.
type Queue struct {
	Name     string  `json:"name"`
	Declared bool    `json:"declared"` // by the broker's configuration: it is there without servers
	Since    float64 `json:"since"`    // s, Unix: when it began to live there
	Waiting  int     `json:"waiting"`  // tasks
	Bytes    int     `json:"bytes"`    // of their bodies
	Count    int     `json:"count_limit"`
	Limit    int     `json:"bytes_limit"`
	Oldest   float64 `json:"oldest"`  // s that the next task has waited
	InHand   int     `json:"in_hand"` // tasks that servers have
	Servers  int     `json:"servers"`
	Away     int     `json:"away"`     // of the servers
	Accepted uint64  `json:"accepted"` // tasks, since the broker started
	Ended    uint64  `json:"ended"`    // of those
}

func queues(all []overlay.QueueInfo, allows func(string) bool) []Queue {
	out := []Queue{}
	for _, q := range all {
		if allows(q.Name) {
			out = append(out, Queue{
				Name: q.Name, Declared: q.Declared, Since: q.Since.Seconds(), Waiting: q.Waiting, Bytes: q.Bytes, Count: q.Limits.Count, Limit: q.Limits.Bytes,
				Oldest: float64(q.Oldest) / float64(overlay.Second), InHand: q.InHand, Servers: q.Servers, Away: q.Away, Accepted: q.Accepted, Ended: q.Ended,
			})
		}
	}
	return out
}
