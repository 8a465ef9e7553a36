package push

import (
	"context"
	"fmt"

	"callboard/bridge/attach"
	"callboard/subscribe/protocol"
)

// What a client's dialect has its connection do: session is its attach.Conn. All
// rights are checked here.

// Hello checks the token and hands hello to the broker.
func (s *session) Hello(ctx context.Context, m protocol.Hello) {
	s.said(protocol.OpHello)
	if s.hello.Load() {
		s.fail(badMessage("hello for the second time; expected it once a connection"))
		return
	}
	grant := s.grant
	if m.Token != "" || grant == nil {
		g, ok := s.server.tokens.grant(m.Token)
		if !ok {
			s.unknownToken(m.Token != "")
			return
		}
		grant = &g
	}
	m.Token = ""
	if !grant.Subscribe && len(m.Subscriptions) > 0 {
		s.fail(&protocol.Problem{Code: protocol.Forbidden, Message: "the token does not allow subscribe; expected hello without subscriptions"})
		return
	}
	s.grant = grant
	if !s.place.Keep() {
		s.server.metrics.refused.Of("full").Inc()
		s.fail(&protocol.Problem{Code: protocol.Overloaded, Message: noRoom})
		s.outbox.Close(protocol.Overloaded, "no more connections are taken now")
		return
	}
	s.anonymous.Store(m.Client == "")
	if err := s.server.config.Broker.Hello(ctx, s.conn, m, *grant); err != nil {
		if ctx.Err() == nil {
			s.fail(err)
		}
		return
	}
	s.hello.Store(true)
	s.identity = []any{"session", s.conn, "remote", s.remoteAddr}
	if m.Client != "" {
		s.identity = append(s.identity, "client", m.Client)
	}
	if grant.Token != "" {
		s.identity = append(s.identity, "token", grant.Token)
	}
	s.server.log.Info("client attached", s.identity...)
}

// Known reports whether the client has shown a token, or needs none.
func (s *session) Known() bool { return s.grant != nil }

// Grant returns what the client may do.
func (s *session) Grant() attach.Grant {
	if !s.hello.Load() {
		return attach.Grant{Robots: []string{}}
	}
	return *s.grant
}

// unknownToken refuses a client without a token that is known.
func (s *session) unknownToken(given bool) {
	s.server.metrics.refused.Of("token").Inc()
	problem := &protocol.Problem{Code: protocol.Unauthorized, Message: "no token; expected one in hello or as Authorization: Bearer"}
	if given {
		problem.Message = "the token is not known"
		s.server.log.Warn("client with an unknown token", "remote", s.remoteAddr)
	}
	s.fail(problem)
	s.outbox.Close(protocol.Unauthorized, "unauthorized")
}

// said counts a message of the client.
func (s *session) said(op string) { s.server.metrics.received.Of(op).Inc() }

// may counts a message and returns why the client may not say it, nil if it may:
// hello comes first, and its token must allow it.
func (s *session) may(op string, allows func(*attach.Grant) bool) error {
	s.said(op)
	if !s.hello.Load() {
		return badMessage("%s before hello; expected hello first", op)
	}
	if allows != nil && !allows(s.grant) {
		return &protocol.Problem{Code: protocol.Forbidden, Message: fmt.Sprintf("the token does not allow %s", op)}
	}
	return nil
}

func subscribes(g *attach.Grant) bool { return g.Subscribe }
func commands(g *attach.Grant) bool   { return g.Command }

// Subscribe adds a subscription.
func (s *session) Subscribe(ctx context.Context, m protocol.Subscribe) error {
	if err := s.may(protocol.OpSubscribe, subscribes); err != nil {
		return err
	}
	return s.server.config.Broker.Subscribe(ctx, s.conn, m)
}

// Update changes one.
func (s *session) Update(ctx context.Context, m protocol.Update) error {
	if err := s.may(protocol.OpUpdate, subscribes); err != nil {
		return err
	}
	return s.server.config.Broker.Update(ctx, s.conn, m)
}

// Unsubscribe ends one.
func (s *session) Unsubscribe(ctx context.Context, m protocol.Unsubscribe) error {
	if err := s.may(protocol.OpUnsubscribe, nil); err != nil {
		return err
	}
	return s.server.config.Broker.Unsubscribe(ctx, s.conn, m)
}

// Ack acknowledges notifications.
func (s *session) Ack(ctx context.Context, m protocol.Ack) error {
	if err := s.may(protocol.OpAck, nil); err != nil {
		return err
	}
	return s.server.config.Broker.Ack(ctx, s.conn, m)
}

// Task does what the client says of tasks.
func (s *session) Task(ctx context.Context, m any) error {
	var problem error
	switch m := m.(type) {
	case *protocol.Serve:
		problem = s.mayUse(protocol.OpServe, m.Queue, func(g *attach.Grant) bool { return g.Serve })
	case *protocol.Unserve:
		problem = s.may(protocol.OpUnserve, nil)
	case *protocol.Request:
		problem = s.mayUse(protocol.OpRequest, m.Queue, func(g *attach.Grant) bool { return g.Request })
	case *protocol.Cancel:
		problem = s.may(protocol.OpCancel, nil)
	case *protocol.Done:
		problem = s.may(protocol.OpDone, func(g *attach.Grant) bool { return g.Serve })
	}
	if problem != nil {
		return problem
	}
	return s.server.config.Broker.Task(ctx, s.conn, m)
}

// mayUse is may of what is about a queue.
func (s *session) mayUse(op, queue string, allows func(*attach.Grant) bool) error {
	if err := s.may(op, allows); err != nil {
		return err
	}
	if !s.grant.AllowsQueue(queue) {
		return &protocol.Problem{Code: protocol.Forbidden, Message: fmt.Sprintf("the token does not allow queue %q", queue[:min(len(queue), 64)])}
	}
	return nil
}

// Command has a command carried out in its robot's lane.
func (s *session) Command(ctx context.Context, m protocol.Command, answer attach.Answer) error {
	if err := s.may(protocol.OpCommand, commands); err != nil {
		return err
	}
	grant := *s.grant
	if !grant.Allows(m.Robot) {
		return &protocol.Problem{Code: protocol.Forbidden, Message: fmt.Sprintf("the token does not allow to command robot %q", m.Robot[:min(len(m.Robot), 64)])}
	}
	if m.Key != "" { // the broker that reads the robot keeps its clients' commands in order
		return s.server.config.Broker.Task(ctx, s.conn, &m)
	}
	return s.later(ctx, "robot "+m.Robot, answer, func(ctx context.Context) (any, error) {
		return s.server.config.Broker.Command(ctx, grant, m)
	})
}

// List has a list made, in a lane of its own.
func (s *session) List(ctx context.Context, m protocol.List, answer attach.Answer) error {
	if err := s.may(protocol.OpList, nil); err != nil {
		return err
	}
	grant := *s.grant
	return s.later(ctx, "list", answer, func(ctx context.Context) (any, error) {
		// A list is long: the next waits until the client has read.
		if !s.waitForRoom(ctx) {
			return nil, ctx.Err()
		}
		return s.server.config.Broker.List(ctx, m.What, grant)
	})
}

// later runs a job in a lane and answers with what comes of it.
func (s *session) later(ctx context.Context, lane string, answer attach.Answer, job func(context.Context) (any, error)) error {
	ok := s.lanes.add(ctx, lane, func(ctx context.Context) {
		result, err := job(ctx)
		if ctx.Err() == nil {
			answer(result, err)
		}
	})
	if !ok {
		return &protocol.Problem{Code: protocol.Overloaded, Message: fmt.Sprintf("%d commands and lists of this client wait already; expected fewer at a time", maxPending)}
	}
	return nil
}

// Send sends a message behind what waits.
func (s *session) Send(m any) { s.outbox.Send(m) }

// Close ends the connection behind what waits.
func (s *session) Close(code protocol.Code, reason string) { s.outbox.Close(code, reason) }

// fail tells the client what is wrong with a message of its.
func (s *session) fail(err error) {
	p := protocol.ProblemOf(err)
	s.outbox.Send(&protocol.Error{ID: p.ID, Code: p.Code, Message: p.Message, Position: p.Position, Attachment: p.Attachment})
}

func badMessage(format string, args ...any) *protocol.Problem {
	return &protocol.Problem{Code: protocol.BadMessage, Message: fmt.Sprintf(format, args...)}
}
