package node

import (
	"callboard/subscribe/protocol"
)

// tellTerm tells connections in which term what a batch puts out goes out, before
// it does.
func (n *Node) tellTerm(batch uint64) {
	if n.terms == nil {
		return
	}
	if term := n.terms.Term(batch); term != n.term {
		n.term = term
		n.beat(&protocol.Heartbeat{
			Op: protocol.OpHeartbeat, Broker: string(n.config.Overlay.ID), Time: float64(n.instant()) / 1e6, Term: term,
		})
	}
}

// beat sends all connections a heartbeat.
func (n *Node) beat(m *protocol.Heartbeat) {
	n.conns.Range(func(_, c any) bool { c.(*conn).out.Send(m); return true })
}

// termed returns a message as a side of a pair sends it.
func (n *Node) termed(m any) any {
	if w, is := m.(*protocol.Welcome); is && n.terms != nil {
		w.Term = n.term
		if n.config.Sides != nil {
			w.Sides = n.config.Sides()
		}
	}
	return m
}
