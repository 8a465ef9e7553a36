package bridge

import (
	"context"
	"fmt"
	"sync"

	"callboard/bridge/attach"
	"callboard/bridge/node"
	"callboard/bridge/pair"
	"callboard/subscribe/protocol"
)

// gate is what clients of a side of a pair attach to (attach.Broker): the broker
// while the side is active, else nothing but the word of which side is.
type gate struct {
	side *side

	mu    sync.Mutex
	node  *node.Node  // nil: the side is not active
	begun *pair.Begun // of that
	term  uint64      // the newest that this side knows
	conns map[uint64]*gated
	last  uint64
}

// gated is a client's connection.
type gated struct {
	out    attach.Outbox
	remote string

	node    *node.Node // that it is attached to; nil: to none yet
	conn    uint64     // its number there
	listens bool       // it is only for being told which side is active
}

func newGate(s *side) *gate { return &gate{side: s, conns: map[uint64]*gated{}} }

// open lets clients in, and tells those who listen.
func (g *gate) open(n *node.Node, b *pair.Begun, term uint64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.node, g.begun, g.term = n, b, max(g.term, term)
	g.tellAll()
}

// shut lets nobody in, and ends the connections of those who are.
func (g *gate) shut() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.node, g.begun = nil, nil
	for _, c := range g.conns {
		if c.node != nil {
			c.out.Close(protocol.Unavailable, "this side of the pair is not active any more; the other is at "+g.side.otherURL())
		}
	}
	g.tellAll()
}

func (g *gate) isOpen() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.node != nil
}

// follow tells those who listen of new terms, until ctx ends.
func (g *gate) follow(ctx context.Context) {
	for {
		now, changed := g.side.pair.Status()
		g.mu.Lock()
		if term := uint64(now.Term); term > g.term {
			g.term = term
			g.tellAll()
		}
		g.mu.Unlock()
		select {
		case <-changed:
		case <-ctx.Done():
			return
		}
	}
}

func (g *gate) tellAll() {
	word := g.word()
	for _, c := range g.conns {
		if c.listens {
			c.out.Send(word)
		}
	}
}

// word says which side is active, as far as this one knows.
func (g *gate) word() any {
	if g.node != nil {
		return &protocol.Active{Op: protocol.OpActive, Term: g.term}
	}
	return &protocol.Standby{Op: protocol.OpStandby, Term: g.term, URL: g.side.otherURL()}
}

// Connect implements attach.Broker.
func (g *gate) Connect(out attach.Outbox, remote string) uint64 {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.last++
	g.conns[g.last] = &gated{out: out, remote: remote}
	return g.last
}

// Disconnect implements attach.Broker.
func (g *gate) Disconnect(conn uint64, how attach.Ending) {
	g.mu.Lock()
	c := g.conns[conn]
	delete(g.conns, conn)
	g.mu.Unlock()
	if c != nil && c.node != nil {
		c.node.Disconnect(c.conn, how)
	}
}

// Hello implements attach.Broker.
func (g *gate) Hello(ctx context.Context, conn uint64, m protocol.Hello, grant attach.Grant) error {
	g.mu.Lock()
	c, n, begun := g.conns[conn], g.node, g.begun
	switch {
	case c == nil:
		g.mu.Unlock()
		return unavailable("the connection has ended")
	case m.Standby:
		c.listens = true
		c.out.Send(g.word())
		g.mu.Unlock()
		return nil
	case n == nil:
		g.mu.Unlock()
		return g.refuse(c, fmt.Sprintf("this side of the pair is not active; the other is at %s", g.side.otherURL()))
	}
	c.node, c.conn = n, n.Connect(c.out, c.remote)
	g.mu.Unlock()
	if begun.Newer(m.Term) {
		return g.refuse(c, fmt.Sprintf("term %d is above all that this side knows; the other is at %s", m.Term, g.side.otherURL()))
	}
	g.side.pair.OuterLives()
	return n.Hello(ctx, c.conn, m, grant)
}

// refuse tells a client that it is to say hello elsewhere.
func (g *gate) refuse(c *gated, why string) error {
	c.out.Send(&protocol.Error{Op: protocol.OpError, Code: protocol.Unavailable, Message: why})
	c.out.Close(protocol.Unavailable, why)
	return unavailable(why)
}

func unavailable(why string) error {
	return &protocol.Problem{Code: protocol.Unavailable, Message: why}
}

// of returns the broker that a connection is attached to, and its number there.
func (g *gate) of(conn uint64) (*node.Node, uint64, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if c := g.conns[conn]; c != nil && c.node != nil {
		return c.node, c.conn, nil
	}
	return nil, 0, unavailable("the connection is only for being told which side of the pair is active")
}

// Subscribe implements attach.Broker, as do those that follow.
func (g *gate) Subscribe(ctx context.Context, conn uint64, m protocol.Subscribe) error {
	n, c, err := g.of(conn)
	if err != nil {
		return err
	}
	return n.Subscribe(ctx, c, m)
}

func (g *gate) Update(ctx context.Context, conn uint64, m protocol.Update) error {
	n, c, err := g.of(conn)
	if err != nil {
		return err
	}
	return n.Update(ctx, c, m)
}

func (g *gate) Unsubscribe(ctx context.Context, conn uint64, m protocol.Unsubscribe) error {
	n, c, err := g.of(conn)
	if err != nil {
		return err
	}
	return n.Unsubscribe(ctx, c, m)
}

func (g *gate) Task(ctx context.Context, conn uint64, m any) error {
	n, c, err := g.of(conn)
	if err != nil {
		return err
	}
	return n.Task(ctx, c, m)
}

func (g *gate) Ack(ctx context.Context, conn uint64, m protocol.Ack) error {
	n, c, err := g.of(conn)
	if err != nil {
		return err
	}
	return n.Ack(ctx, c, m)
}

// now returns the broker of a side that is active.
func (g *gate) now() (*node.Node, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.node == nil {
		return nil, unavailable("this side of the pair is not active; the other is at " + g.side.otherURL())
	}
	return g.node, nil
}

func (g *gate) Command(ctx context.Context, grant attach.Grant, m protocol.Command) (any, error) {
	n, err := g.now()
	if err != nil {
		return nil, err
	}
	return n.Command(ctx, grant, m)
}

func (g *gate) List(ctx context.Context, what string, grant attach.Grant) (any, error) {
	n, err := g.now()
	if err != nil {
		return nil, err
	}
	return n.List(ctx, what, grant)
}
