package push

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"fmt"
	"slices"
	"strings"

	"callboard/subscribe/protocol"
)

// answer tells the client what is wrong with a request: in a reply if it
// waits for one.
func (s *session) answer(req request, problem *Problem) {
	switch req.op {
	case protocol.OpUnsubscribe, protocol.OpCommand, protocol.OpList:
		if req.id != "" {
			s.reply(req.id, nil, problem)
			return
		}
	}
	s.fail(req.id, problem)
}

// reply answers a command or a list.
func (s *session) reply(id string, result any, err error) {
	r := &protocol.Reply{Op: protocol.OpReply, ID: id, OK: err == nil, Result: result}
	if err != nil {
		p := problemOf(err)
		s.server.metrics.problem(p.Code)
		r.Error = &protocol.ErrorInfo{Code: p.Code, Message: p.Message, Position: p.Position}
	}
	s.outbox.Send(r)
}

// dispatch does what a request asks for.
func (s *session) dispatch(ctx context.Context, req request) {
	if m, ok := req.message.(protocol.Hello); ok {
		s.sayHello(ctx, m)
		return
	}
	if !s.hello.Load() {
		s.answer(req, badMessage("%s before hello; expected hello first", req.op))
		return
	}
	if err := s.carryOut(ctx, req); err != nil && ctx.Err() == nil {
		s.answer(req, problemOf(err))
	}
}

func (s *session) carryOut(ctx context.Context, req request) error {
	broker := s.server.config.Broker
	switch m := req.message.(type) {
	case protocol.Subscribe:
		if !s.grant.Subscribe {
			return forbidden("subscribe")
		}
		return broker.Subscribe(ctx, s.conn, m)
	case protocol.Update:
		if !s.grant.Subscribe {
			return forbidden("subscribe")
		}
		return broker.Update(ctx, s.conn, m)
	case protocol.Unsubscribe:
		return broker.Unsubscribe(ctx, s.conn, m)
	case protocol.Ack:
		return broker.Ack(ctx, s.conn, m)
	case protocol.Command:
		return s.command(ctx, m)
	case protocol.List:
		return s.list(ctx, m)
	}
	return nil
}

func forbidden(what string) error {
	return &Problem{Code: protocol.Forbidden, Message: fmt.Sprintf("the token does not allow to %s", what)}
}

func (s *session) command(ctx context.Context, m protocol.Command) error {
	grant := *s.grant
	if !grant.Command {
		return forbidden("command")
	}
	if !grant.Allows(m.Robot) {
		return &Problem{Code: protocol.Forbidden, Message: fmt.Sprintf("the token does not allow to command robot %q", shorten(m.Robot))}
	}
	return s.later(ctx, "robot "+m.Robot, m.ID, func(ctx context.Context) (any, error) {
		return s.server.config.Broker.Command(ctx, grant, m)
	})
}

func (s *session) list(ctx context.Context, m protocol.List) error {
	if !slices.Contains(lists, m.What) {
		return badMessage("%s", unknown("list", m.What, lists))
	}
	grant := *s.grant
	return s.later(ctx, "list", m.ID, func(ctx context.Context) (any, error) {
		// A list is long: the next waits until the client has read.
		if !s.waitForRoom(ctx) {
			return nil, ctx.Err()
		}
		return s.server.config.Broker.List(ctx, m.What, grant)
	})
}

// lists are what List and /api give.
var lists = []string{"robots", "brokers", "subscriptions"}

// later runs a job in a lane and replies with its result.
func (s *session) later(ctx context.Context, lane, id string, job func(context.Context) (any, error)) error {
	ok := s.lanes.add(ctx, lane, func(ctx context.Context) {
		result, err := job(ctx)
		if ctx.Err() == nil {
			s.reply(id, result, err)
		}
	})
	if !ok {
		return &Problem{Code: protocol.Overloaded, Message: fmt.Sprintf("%d commands and lists of this client wait already; expected fewer at a time", pendingMost)}
	}
	return nil
}

// sayHello checks the token and hands hello to the broker.
func (s *session) sayHello(ctx context.Context, m protocol.Hello) {
	if s.hello.Load() {
		s.fail("", badMessage("hello for the second time; expected it once a connection"))
		return
	}
	grant := s.grant
	if m.Token != "" || grant == nil {
		g, ok := s.server.tokens.grant(m.Token)
		if !ok {
			s.server.metrics.refused.WithLabelValues("token").Inc()
			problem := &Problem{Code: protocol.Unauthorized, Message: "no token; expected one in hello or as Authorization: Bearer"}
			if m.Token != "" {
				problem.Message = "the token is not known"
				s.log.Warn("client with an unknown token", "remote", s.remoteAddr)
			}
			s.fail("", problem)
			s.outbox.Close(protocol.Unauthorized, "unauthorized")
			return
		}
		grant = &g
	}
	m.Token = ""
	if !grant.Subscribe && len(m.Subscriptions) > 0 {
		s.fail("", forbidden("subscribe"))
		return
	}
	s.anonymous.Store(m.Client == "")
	s.grant = grant
	if err := s.server.config.Broker.Hello(ctx, s.conn, m, *grant); err != nil {
		if ctx.Err() == nil {
			s.fail("", err)
		}
		return
	}
	s.hello.Store(true)
}

// tokens finds what a secret allows.
type tokens struct {
	hashes [][sha256.Size]byte
	grants []Grant
}

func newTokens(list []Token) *tokens {
	t := &tokens{}
	for _, k := range list {
		t.hashes = append(t.hashes, sha256.Sum256([]byte(k.Secret)))
		t.grants = append(t.grants, k.Grant)
	}
	return t
}

// required tells whether anything needs a token at all.
func (t *tokens) required() bool { return len(t.grants) > 0 }

// grant gives what a secret allows. It takes as long whichever it is: equal
// lengths are compared, all of them, in constant time.
func (t *tokens) grant(secret string) (Grant, bool) {
	if !t.required() {
		return everything, true
	}
	hash, found := sha256.Sum256([]byte(strings.TrimSpace(secret))), -1
	for i := range t.hashes {
		if subtle.ConstantTimeCompare(hash[:], t.hashes[i][:]) == 1 {
			found = i
		}
	}
	if found < 0 || secret == "" {
		return Grant{}, false
	}
	return t.grants[found], true
}
