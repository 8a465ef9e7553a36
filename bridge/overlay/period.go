package overlay

import (
	"slices"

	"callboard/subscribe/protocol"
)

// passTime does what a period asks for, once in each.
func (b *Broker) passTime() {
	if b.now < b.period {
		return
	}
	period := Instant(b.cfg.Heartbeat)
	b.period += (1 + (b.now-b.period)/period) * period
	if len(b.edge.conns) > 0 {
		b.put(&Heartbeat{Message: protocol.Heartbeat{Op: protocol.OpHeartbeat, Broker: string(b.cfg.ID), Time: b.now.Seconds()}})
	}
	before := b.now - Instant(b.cfg.Inbox.Keep)
	for _, s := range slices.Clone(b.edge.order) {
		switch {
		case s.elsewhere != 0 && s.elsewhere+leasePeriods*period < b.now: // L4
			b.edge.forgetElsewhere(s)
			continue
		case s.conn == nil && s.seen < before:
			b.edge.forget(s)
			continue
		}
		b.edge.refreshKeys(s)
		b.edge.passAwaits(s)
		b.edge.settleStates(s)
		if s.elsewhere != 0 {
			b.edge.handTold(s)
		}
		b.edge.settleLate(s)
		for _, in := range s.inboxes { // L1: the edge is here, so refreshing is no message
			if in.own {
				b.source.refresh(in.sequence)
			}
			b.expire(in.sequence, before)
		}
	}
	if b.networked {
		b.network.passLeases()
		b.source.forgetKeys()
		b.edge.passRosters()
		b.source.register(false)
		b.edge.lookUpAll()
		b.registry.forgetDirectory()
		b.registry.holdRefused()
		b.registry.nameFresh("")
		b.network.forgetBrokers()
		b.network.announce()
		b.network.forgetCalls()
	}
}

// forget takes away the session of a client that was absent for the session
// time (L4), and its key, which nobody unsubscribed: a new stamp (L5).
func (b *edge) forget(s *session) {
	had := s.local != nil
	for _, in := range slices.Clone(s.inboxes) {
		b.dropKey(in)
	}
	b.dropSession(s)
	b.stats.Forgotten++
	if had {
		b.source.newStamp()
	}
}
