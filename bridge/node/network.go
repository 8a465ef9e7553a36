package node

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"callboard/bridge/attach"
	"callboard/bridge/overlay"
	"callboard/subscribe/protocol"
)

const (
	listTime     = 2 * time.Second  // how long other brokers have to tell what they know
	answerTime   = 10 * time.Second // and to carry out a command that names no lifetime
	maxAnswering = 1024             // questions of other brokers that are answered at a time
)

// question is what brokers ask each other, in JSON: a command or a list.
type question struct {
	Command *protocol.Command `json:"command,omitempty"`
	List    string            `json:"list,omitempty"`
	Robots  []string          `json:"robots"`           // what the asker's token allows; null: all
	Queues  []string          `json:"queues,omitempty"` // likewise
	Token   string            `json:"token,omitempty"`
}

// askBroker has another broker answer a question, the one that reads the robot if
// none is named, and waits for it.
func (n *Node) askBroker(ctx context.Context, to overlay.BrokerID, robot string, q question) (json.RawMessage, error) {
	body, err := json.Marshal(q)
	if err != nil {
		return nil, fmt.Errorf("wording a question to another broker: %w", err)
	}
	until := n.instant() + overlay.Instant(answerTime/time.Microsecond)
	if deadline, ok := ctx.Deadline(); ok {
		until = overlay.Instant(n.config.Clock.MicroAt(deadline))
	}
	number, answered := n.lastCall.Add(1), make(chan *overlay.Answered, 1)
	n.calls.Store(number, answered)
	defer n.calls.Delete(number)
	if err := n.queue.post(ctx, item{in: &overlay.Ask{Call: number, To: to, Robot: robot, Body: body, Until: until}}); err != nil {
		return nil, err
	}
	select {
	case a := <-answered:
		if a.Code != "" {
			return nil, &protocol.Problem{Code: a.Code, Message: a.Message}
		}
		return a.Body, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// answered hands an answer to who waits for it.
func (n *Node) answered(a *overlay.Answered) {
	if waiting, ok := n.calls.LoadAndDelete(a.Call); ok {
		waiting.(chan *overlay.Answered) <- a // holds one, and gets one
	}
}

// asked answers a question of another broker, beside the broker's goroutine.
func (n *Node) asked(a *overlay.Asked) {
	if n.answering.Add(1) > maxAnswering {
		n.answering.Add(-1)
		n.queue.must(item{in: &overlay.Answer{From: a.From, Call: a.Call, Code: protocol.Overloaded, Message: "broker " + string(n.config.Overlay.ID) + " is asked too much"}})
		return
	}
	n.running.Go(func() {
		defer n.answering.Add(-1)
		ctx, cancel := context.WithTimeout(n.asking, time.Duration(a.Left)*time.Microsecond)
		defer cancel()
		answer := &overlay.Answer{From: a.From, Call: a.Call}
		var err error
		if answer.Body, err = n.answer(ctx, a.Body); err != nil {
			answer.Body, answer.Code, answer.Message = nil, protocol.Unavailable, err.Error()
			if p := (*protocol.Problem)(nil); errors.As(err, &p) {
				answer.Code, answer.Message = p.Code, p.Message
			}
		}
		_ = n.queue.post(n.asking, item{in: answer}) // a node that ends answers nothing
	})
}

// refused takes what has become of a robot's name in the network.
func (n *Node) refused(r *overlay.RobotRefused) {
	n.names.Store(r.Robot, r)
	switch {
	case r.Refused:
		n.log.Error("robot refused: another broker reads one of the same name; give one of them another name", "robot", r.Robot, "broker", r.Holder)
	case r.Rival != "":
		n.log.Warn("another broker reads a robot of the same name, and was refused it", "robot", r.Robot, "broker", r.Rival)
	default:
		n.names.Delete(r.Robot)
		n.log.Info("robot in force: no other broker has its name now", "robot", r.Robot)
	}
}

// name returns what has become of a robot's name; nil if no other broker has it.
func (n *Node) name(robot string) *overlay.RobotRefused {
	if r, ok := n.names.Load(robot); ok {
		return r.(*overlay.RobotRefused)
	}
	return nil
}

// reads reports whether a robot of that name is one of this broker, and in force.
func (n *Node) reads(robot string) bool {
	r := n.name(robot)
	return n.robots.Reads(robot) && (r == nil || !r.Refused)
}

// answer carries out what another broker asks for. It has checked the rights
// of who asked there.
func (n *Node) answer(ctx context.Context, body []byte) ([]byte, error) {
	var q question
	if err := json.Unmarshal(body, &q); err != nil {
		return nil, &protocol.Problem{Code: protocol.BadMessage, Message: "the question of another broker: " + err.Error()}
	}
	if q.Command != nil {
		result, err := n.robots.Command(ctx, *q.Command)
		return protocol.Object(result), err
	}
	list, err := n.listHere(ctx, q.List, attach.Grant{Robots: q.Robots, Token: q.Token, Queues: q.Queues})
	return protocol.AppendJSON(nil, list), err
}

// Command carries a command to a robot of this broker, or by the broker that
// reads it. What has no lifetime of its own waits for the other broker so
// long as for one of this.
func (n *Node) Command(ctx context.Context, grant attach.Grant, m protocol.Command) (any, error) {
	if n.links == nil || n.reads(m.Robot) {
		return n.robots.Command(ctx, m)
	}
	wait := answerTime
	if m.TTL > 0 {
		wait = min(time.Duration(m.TTL*float64(time.Second)), time.Hour)
	}
	within, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	body, err := n.askBroker(within, "", m.Robot, question{Command: &m, Robots: grant.Robots, Token: grant.Token})
	switch {
	case err == nil && len(body) > 0 && string(body) != "null":
		if !json.Valid(protocol.JSON(body)) {
			return nil, fmt.Errorf("the answer of the broker that reads %s is not JSON", m.Robot)
		}
		return body, nil
	case errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil:
		return nil, &protocol.Problem{Code: protocol.Unavailable, Message: fmt.Sprintf("the broker that reads %s did not answer within %v; the command may have been carried out", m.Robot, wait)}
	}
	return nil, err
}

// listElsewhere asks all brokers in reach for a list of theirs. Of those that
// do not answer failed tells.
func listElsewhere[T any](ctx context.Context, n *Node, what string, grant attach.Grant, failed func(overlay.BrokerID, error)) ([]T, error) {
	if n.links == nil {
		return nil, nil
	}
	var others []overlay.BrokerID
	if err := n.ask(ctx, func() { others = n.broker.Reachable() }); err != nil {
		return nil, err
	}
	within, cancel := context.WithTimeout(ctx, listTime)
	defer cancel()
	type answer struct {
		from overlay.BrokerID
		list []T
		err  error
	}
	answers := make(chan answer, len(others))
	for _, id := range others {
		go func() {
			a := answer{from: id}
			var body json.RawMessage
			if body, a.err = n.askBroker(within, id, "", question{List: what, Robots: grant.Robots, Token: grant.Token, Queues: grant.Queues}); a.err == nil {
				a.err = json.Unmarshal(body, &a.list)
			}
			answers <- a
		}()
	}
	var all []answer
	for range others {
		all = append(all, <-answers)
	}
	slices.SortFunc(all, func(a, b answer) int { return cmp.Compare(a.from, b.from) })
	var list []T
	for _, a := range all {
		if a.err != nil && failed != nil {
			failed(a.from, a.err)
		}
		list = append(list, a.list...)
	}
	return list, ctx.Err()
}
