package node

import (
	"context"
	"fmt"
	"math"

	"callboard/bridge/attach"
	"callboard/bridge/overlay"
	"callboard/subscribe"
	"callboard/subscribe/protocol"
)

// Connect makes a client's connection known.
func (n *Node) Connect(out attach.Outbox, remote string) uint64 {
	c := overlay.Conn(n.lastConn.Add(1))
	n.conns.Store(c, &conn{out: out, remote: remote})
	return uint64(c)
}

// Disconnect says that the connection has ended.
func (n *Node) Disconnect(c uint64, how attach.Ending) {
	n.queue.must(item{in: &overlay.Disconnected{Conn: overlay.Conn(c), Closed: how.Closed, Goodbye: how.Goodbye}})
	n.conns.Delete(overlay.Conn(c))
}

// Hello takes a client in, with all subscriptions that are to go on.
func (n *Node) Hello(ctx context.Context, c uint64, m protocol.Hello, grant attach.Grant) error {
	if found := n.conn(overlay.Conn(c)); found != nil {
		found.grant = grant
	}
	in := &overlay.Hello{
		Conn: overlay.Conn(c), Client: m.Client, Owner: grant.Token, Allowed: seen(grant), Attachment: m.Attachment, Session: m.Session, Num: m.Num, Window: m.Window, Away: m.Away, Tasks: m.Tasks,
	}
	if n.terms != nil {
		in.Foreign = !n.terms.Served(m.Term)
	}
	var compiled []*subscribe.Subscription
	for _, s := range m.Subscriptions {
		sub, program, err := n.compile(s, grant)
		if err == nil {
			err = n.admit(ctx, c, sub, program)
		}
		if err != nil {
			in.Refused = append(in.Refused, protocol.Error{
				Op: protocol.OpError, ID: s.ID, Code: err.Code, Message: err.Message, Position: err.Position,
			})
			continue
		}
		in.Subscriptions = append(in.Subscriptions, sub)
		compiled = append(compiled, program)
	}
	return n.queue.post(ctx, item{in: in, compiled: compiled})
}

// seen returns the patterns of the robots that a grant lets be seen: nil means
// all, and one that may not subscribe sees none.
func seen(grant attach.Grant) []string {
	if !grant.Subscribe {
		return []string{}
	}
	return grant.Robots
}

// Subscribe adds a subscription.
func (n *Node) Subscribe(ctx context.Context, c uint64, m protocol.Subscribe) error {
	sub, program, err := n.compile(m.Subscription, n.grant(c))
	if err != nil {
		return err
	}
	if !n.inUse(ctx, c, m.ID) { // else it is refused: what there is stays, and what it counts
		if err := n.admit(ctx, c, sub, program); err != nil {
			return err
		}
	}
	return n.queue.post(ctx, item{
		in:       &overlay.Subscribe{Conn: overlay.Conn(c), Subscription: sub},
		compiled: []*subscribe.Subscription{program},
	})
}

// Update changes one. A connection's messages are handled one after the other,
// so that what it merges with is what its earlier messages made.
func (n *Node) Update(ctx context.Context, c uint64, m protocol.Update) error {
	var old *overlay.Subscription
	var found bool
	if err := n.ask(ctx, func() { old, found = n.broker.Subscription(overlay.Conn(c), m.ID) }); err != nil {
		return err
	}
	if !found {
		return &protocol.Problem{Code: protocol.NotFound, Message: fmt.Sprintf("no subscription has the id %q", m.ID)}
	}
	sub, program, err := n.compile(m.Apply(old.Subscription), n.grant(c))
	if err != nil {
		return err
	}
	if err := n.admit(ctx, c, sub, program); err != nil {
		return err
	}
	return n.queue.post(ctx, item{
		in:       &overlay.Update{Conn: overlay.Conn(c), Subscription: sub},
		compiled: []*subscribe.Subscription{program},
	})
}

// Unsubscribe ends a subscription.
func (n *Node) Unsubscribe(ctx context.Context, c uint64, m protocol.Unsubscribe) error {
	if found := n.conn(overlay.Conn(c)); found != nil {
		found.loads.drop(m.ID)
	}
	return n.queue.post(ctx, item{in: &overlay.Unsubscribe{Conn: overlay.Conn(c), ID: m.ID}})
}

// Ack takes an acknowledgement.
func (n *Node) Ack(ctx context.Context, c uint64, m protocol.Ack) error {
	if m.Key != "" {
		return n.queue.post(ctx, item{in: &overlay.AckTask{Conn: overlay.Conn(c), Key: m.Key}})
	}
	return n.queue.post(ctx, item{in: &overlay.Ack{Conn: overlay.Conn(c), Source: m.Source, Num: m.Num}})
}

func (n *Node) grant(c uint64) attach.Grant {
	if found := n.conn(overlay.Conn(c)); found != nil {
		return found.grant
	}
	return attach.Grant{}
}

// compile checks a subscription and what its client may see. It runs in the
// connection's goroutine, so that a costly condition delays nobody else.
func (n *Node) compile(s protocol.Subscription, grant attach.Grant) (*overlay.Subscription, *subscribe.Subscription, *protocol.Problem) {
	if p := permitted(s, grant); p != nil {
		return nil, nil, p
	}
	program, bad := n.config.Matcher.Compile(s)
	if bad != nil {
		return nil, nil, bad
	}
	program.Allowed = grant.Robots
	sub := &overlay.Subscription{Subscription: s, Allowed: grant.Robots, Needs: program.Needs(), Requires: requirements(program)}
	sub.Seal()
	return sub, program, nil
}

// requirements words what must hold for the overlay.
func requirements(program *subscribe.Subscription) []overlay.Requirement {
	var all []overlay.Requirement
	for _, q := range program.Requires() {
		all = append(all, overlay.Requirement{Name: q.Name, Lo: finite(q.Lo), Hi: finite(q.Hi), Texts: q.Texts})
	}
	return all
}

// finite returns the greatest number there is for infinity, which a store's JSON
// has no word for. Of intervals that meet both still do.
func finite(v float64) float64 { return max(-math.MaxFloat64, min(math.MaxFloat64, v)) }

// permitted refuses robots that are named and not granted. Patterns are
// narrowed to what is granted instead.
func permitted(s protocol.Subscription, grant attach.Grant) *protocol.Problem {
	if !grant.Subscribe {
		return &protocol.Problem{Code: protocol.Forbidden, Message: "the token may not subscribe"}
	}
	for _, robot := range s.Robots {
		if plain(robot) && !grant.Allows(robot) {
			return &protocol.Problem{Code: protocol.Forbidden, Message: fmt.Sprintf("the token does not allow robot %q", robot)}
		}
	}
	return nil
}

// plain reports whether a robot is meant by name and not by a pattern.
func plain(robot string) bool {
	for _, c := range robot {
		switch c {
		case '*', '?', '[', '\\':
			return false
		}
	}
	return true
}
