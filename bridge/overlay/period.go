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
	if len(b.conns) > 0 {
		b.put(&Heartbeat{Message: protocol.Heartbeat{Op: protocol.OpHeartbeat, Broker: string(b.cfg.ID), Time: b.now.Seconds()}})
	}
	before := b.now - Instant(b.cfg.Inbox.Keep)
	for _, s := range slices.Clone(b.order) {
		switch {
		case s.elsewhere != 0 && s.elsewhere+leasePeriods*period < b.now: // L4
			b.forgetElsewhere(s)
			continue
		case s.conn == nil && s.seen < before:
			b.forget(s)
			continue
		}
		b.refreshKeys(s)
		b.passAwaits(s)
		b.settleStates(s)
		if s.elsewhere != 0 {
			b.handTold(s)
		}
		b.settleLate(s)
		for _, in := range s.inboxes { // L1: the edge is here, so refreshing is no message
			if in.entry != nil {
				in.entry.seen = b.now
			}
			b.expire(in, before)
		}
	}
	if b.networked {
		b.passLeases()
		b.passRosters()
		b.register(false)
		b.lookUpAll()
		b.forgetDirectory()
		b.holdRefused()
		b.nameFresh("")
		b.forgetBrokers()
		b.announce()
		b.forgetCalls()
	}
}

// forget takes away the session of a client that was absent for the session
// time (L4), and its key, which nobody unsubscribed: a new stamp (L5).
func (b *Broker) forget(s *session) {
	had := s.local != nil
	for _, in := range slices.Clone(s.inboxes) {
		b.dropKey(in)
	}
	b.dropSession(s)
	b.stats.Forgotten++
	if had {
		b.newStamp()
	}
}
