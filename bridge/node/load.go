package node

import (
	"callboard/bridge/overlay"
	"callboard/bridge/push"
	"callboard/subscribe"
)

// loads is what the subscriptions of one connection take of each reading. It
// belongs to the connection's goroutine.
type loads struct {
	by  map[string]int // by subscription
	sum int
}

func (l *loads) put(id string, load int) {
	l.drop(id)
	if l.by == nil {
		l.by = map[string]int{}
	}
	l.by[id] = load
	l.sum += load
}

func (l *loads) drop(id string) {
	l.sum -= l.by[id]
	delete(l.by, id)
}

// admit refuses a subscription, or its new form, that would be too much
// together with the client's others.
func (n *Node) admit(c uint64, id string, program *subscribe.Subscription) *push.Problem {
	found := n.conn(overlay.Conn(c))
	if found == nil {
		return nil
	}
	if p := n.config.Matcher.Admit(found.loads.sum-found.loads.by[id], program); p != nil {
		return &push.Problem{Code: p.Code, Message: p.Message, Position: p.Position}
	}
	found.loads.put(id, program.Load())
	return nil
}
