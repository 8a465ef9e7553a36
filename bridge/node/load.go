package node

import (
	"context"
	"slices"

	"callboard/bridge/few"
	"callboard/bridge/overlay"
	"callboard/subscribe"
	"callboard/subscribe/protocol"
)

// loads is what the subscriptions of one connection take of each reading. It
// belongs to the connection's goroutine, and so may be ahead of the state
// machine, which may yet refuse what is counted here: recount makes it good.
type loads struct {
	by  few.Map[string, load] // by subscription
	sum int                   // of what they count
}

// load is what one subscription takes. Until its newest form is known to be in
// force it counts as the costliest that may be.
type load struct {
	newest overlay.Hash // the newest form
	own    int          // what it takes
	counts int
}

// maxSpare is how many ids beside as many as a client may have are counted
// before those go that the state machine has refused.
const maxSpare = 1000

func (l *loads) put(id string, to load) {
	l.drop(id)
	l.by.Put(id, to)
	l.sum += to.counts
}

func (l *loads) drop(id string) {
	l.sum -= l.by.Get(id).counts
	l.by.Delete(id)
}

// admit refuses a subscription, or its new form, that would be too much
// together with the client's others.
func (n *Node) admit(ctx context.Context, c uint64, sub *overlay.Subscription, program *subscribe.Subscription) *protocol.Problem {
	found := n.conn(overlay.Conn(c))
	if found == nil {
		return nil
	}
	l := &found.loads
	if l.by.Len() >= max(n.config.Overlay.Subscriptions, 10_000)+maxSpare {
		n.recount(ctx, c, l, slices.Collect(l.by.Keys()))
	}
	p := n.config.Matcher.Admit(l.sum-l.by.Get(sub.ID).counts, program)
	if p != nil && l.by.Len() > 0 {
		n.recount(ctx, c, l, slices.Collect(l.by.Keys()))
		p = n.config.Matcher.Admit(l.sum-l.by.Get(sub.ID).counts, program)
	}
	if p != nil {
		return p
	}
	own := program.Load()
	l.put(sub.ID, load{newest: sub.Hash(), own: own, counts: max(own, l.by.Get(sub.ID).counts)})
	return nil
}

// inUse reports whether the client has a subscription of that id.
func (n *Node) inUse(ctx context.Context, c uint64, id string) bool {
	found := n.conn(overlay.Conn(c))
	if found == nil {
		return false
	}
	if found.loads.by.Has(id) {
		n.recount(ctx, c, &found.loads, []string{id})
	}
	return found.loads.by.Has(id)
}

// recount asks the state machine which of the subscriptions are in force, and
// in which form.
func (n *Node) recount(ctx context.Context, c uint64, l *loads, ids []string) {
	inForce := make([]*overlay.Subscription, len(ids))
	err := n.ask(ctx, func() {
		for i, id := range ids {
			inForce[i], _ = n.broker.Subscription(overlay.Conn(c), id)
		}
	})
	if err != nil {
		return
	}
	for i, id := range ids {
		switch was := l.by.Get(id); {
		case inForce[i] == nil:
			l.drop(id)
		case inForce[i].Hash() == was.newest:
			l.put(id, load{newest: was.newest, own: was.own, counts: was.own})
		}
	}
}
