package push

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"fmt"
	"strings"

	"callboard/subscribe/protocol"
)

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

// dispatch does what a message asks for.
func (s *session) dispatch(ctx context.Context, m any) {
	s.server.metrics.received.Of(op(m)).Inc()
	broker := s.server.config.Broker
	var err error
	switch m := m.(type) {
	case *protocol.Hello:
		s.sayHello(ctx, *m)
	case *protocol.Subscribe:
		if err = s.may(m.Op, (*Grant).subscribes); err == nil {
			err = broker.Subscribe(ctx, s.conn, *m)
		}
		s.failed(ctx, m.ID, err)
	case *protocol.Update:
		if err = s.may(m.Op, (*Grant).subscribes); err == nil {
			err = broker.Update(ctx, s.conn, *m)
		}
		s.failed(ctx, m.ID, err)
	case *protocol.Unsubscribe:
		if err = s.may(m.Op, nil); err == nil {
			err = broker.Unsubscribe(ctx, s.conn, *m)
		}
		s.refused(ctx, m.ID, err)
	case *protocol.Ack:
		if err = s.may(m.Op, nil); err == nil {
			err = broker.Ack(ctx, s.conn, *m)
		}
		s.failed(ctx, "", err)
	case *protocol.Command:
		if err = s.may(m.Op, (*Grant).commands); err == nil {
			err = s.command(ctx, *m)
		}
		s.refused(ctx, m.ID, err)
	case *protocol.List:
		if err = s.may(m.Op, nil); err == nil {
			err = s.list(ctx, *m)
		}
		s.refused(ctx, m.ID, err)
	}
}

// may says why a client may not do something, nil if it may: hello comes
// first, and its token must allow it.
func (s *session) may(op string, allows func(*Grant) bool) error {
	if !s.hello.Load() {
		return badMessage("%s before hello; expected hello first", op)
	}
	if allows != nil && !allows(s.grant) {
		return &Problem{Code: protocol.Forbidden, Message: fmt.Sprintf("the token does not allow %s", op)}
	}
	return nil
}

func (g *Grant) subscribes() bool { return g.Subscribe }
func (g *Grant) commands() bool   { return g.Command }

// failed tells the client of an error.
func (s *session) failed(ctx context.Context, id string, err error) {
	if err != nil && ctx.Err() == nil {
		s.fail(id, err)
	}
}

// refused tells it to a client that waits for a reply.
func (s *session) refused(ctx context.Context, id string, err error) {
	if err != nil && ctx.Err() == nil {
		s.reply(id, nil, err)
	}
}

func (s *session) command(ctx context.Context, m protocol.Command) error {
	grant := *s.grant
	if !grant.Allows(m.Robot) {
		return &Problem{Code: protocol.Forbidden, Message: fmt.Sprintf("the token does not allow to command robot %q", m.Robot[:min(len(m.Robot), 64)])}
	}
	return s.later(ctx, "robot "+m.Robot, m.ID, func(ctx context.Context) (any, error) {
		return s.server.config.Broker.Command(ctx, grant, m)
	})
}

func (s *session) list(ctx context.Context, m protocol.List) error {
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
			s.server.metrics.refused.Of("token").Inc()
			problem := &Problem{Code: protocol.Unauthorized, Message: "no token; expected one in hello or as Authorization: Bearer"}
			if m.Token != "" {
				problem.Message = "the token is not known"
				s.server.log.Warn("client with an unknown token", "remote", s.remoteAddr)
			}
			s.fail("", problem)
			s.outbox.Close(protocol.Unauthorized, "unauthorized")
			return
		}
		grant = &g
	}
	m.Token = ""
	if !grant.Subscribe && len(m.Subscriptions) > 0 {
		s.fail("", &Problem{Code: protocol.Forbidden, Message: "the token does not allow subscribe; expected hello without subscriptions"})
		return
	}
	s.grant = grant
	if !s.place.Keep() {
		s.server.metrics.refused.Of("full").Inc()
		s.fail("", &Problem{Code: protocol.Overloaded, Message: noRoom})
		s.outbox.Close(protocol.Overloaded, "no more connections are taken now")
		return
	}
	s.anonymous.Store(m.Client == "")
	if err := s.server.config.Broker.Hello(ctx, s.conn, m, *grant); err != nil {
		s.failed(ctx, "", err)
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
