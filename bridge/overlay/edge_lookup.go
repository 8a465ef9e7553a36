package overlay

import "slices"

// registryAway reports whether the registry is out of reach (G3).
func (b *edge) registryAway() bool {
	return !b.registryIs() && (b.heardRegistry+3*Instant(b.cfg.Heartbeat) <= b.now || b.network.path(b.cfg.Registry) == nil)
}

// lookUp asks the registry which source brokers a client's set can match.
func (b *edge) lookUp(s *session) {
	if !b.networked || s.elsewhere != 0 || s.unsure {
		return
	}
	s.lookup, s.lookedUp = s.hash, false
	b.network.route(b.cfg.Registry, &Lookup{Clients: []ClientLookup{b.clientLookup(s, true)}})
}

func (b *edge) clientLookup(s *session, whole bool) ClientLookup {
	c := ClientLookup{Client: s.client, Session: s.birth, Attachment: s.epoch.Attachment, New: s.fresh && !s.settled, Claims: s.fresh || s.claims, Began: s.began, Hash: s.hash, Version: s.answer, Whole: whole}
	if whole {
		for _, p := range s.pending {
			if p.lookup {
				c.Ask = append(c.Ask, p.id)
			}
		}
		for _, sub := range s.sorted() {
			c.Wants = append(c.Wants, Want{ID: sub.ID, Robots: sub.Robots, Allowed: sub.Allowed, Devices: sub.Devices, Needs: sub.Needs, Requires: sub.Requires})
		}
	}
	return c
}

// lookUpAll asks again for all clients, once a period.
func (b *edge) lookUpAll() {
	if !b.networked {
		return
	}
	m := &Lookup{}
	for _, s := range b.order {
		if s.elsewhere == 0 && !s.unsure {
			m.Clients = append(m.Clients, b.clientLookup(s, !s.lookedUp || s.lookup != s.hash))
			s.lookup = s.hash
		}
	}
	b.network.route(b.cfg.Registry, m)
}

// onSources takes the registry's answer: the edge subscribes at the source
// brokers that are new to it.
func (b *edge) onSources(m *Sources) {
	b.heardRegistry = b.now
	for i := range m.Clients {
		c := &m.Clients[i]
		s := b.sessions[c.Client]
		if s == nil || s.elsewhere != 0 || s.unsure {
			continue
		}
		if c.Newest != (Epoch{}) { // G2
			if c.Newest.Compare(Epoch{Attachment: s.epoch.Attachment, Edge: s.epoch.Edge}) > 0 {
				b.attachedElsewhere(s, c.Newest)
			}
			continue
		}
		if s.birth != c.Session {
			continue
		}
		if c.Forbidden {
			if s.fresh && !s.settled {
				b.expel(s)
			}
			continue
		}
		s.settled, s.claims = true, c.Claims
		if c.Again {
			if c.Hash == s.hash {
				s.lookedUp = false // whole with the next period
				b.lookUp(s)
			}
			continue
		}
		settled := true
		for _, source := range c.Sources {
			settled = b.nameSource(s, source) && settled
		}
		if settled {
			s.answer = c.Version
		} else {
			s.answer = 0 // it is to answer again
		}
		if c.Hash == s.hash {
			s.lookedUp = true
			for j := range s.pending {
				if p := &s.pending[j]; p.lookup {
					p.lookup, p.missing = false, slices.Contains(c.Missing, p.id)
				}
			}
			b.settlePending(s)
		}
	}
}

// nameSource makes a key for a source broker that has no live one in this
// session. It returns false if the registry has yet to learn what follows one that
// has ended.
func (b *edge) nameSource(s *session, source SourceBroker) bool {
	if s.follower(source.Broker) != nil {
		return true
	}
	if source.Broker == b.cfg.ID {
		if s.local == nil {
			b.enter(s, nil)
		}
		return true
	}
	if slices.ContainsFunc(s.inboxes, func(in *inbox) bool { return in.key.Source == source.Broker && in.key.Stamp >= source.Stamp }) {
		return false
	}
	k := Key{Client: s.client, Session: s.birth, Source: source.Broker, Stamp: source.Stamp}
	if b.network.isDead(k) {
		return false
	}
	if source.Stamp <= 0 || source.Broker == "" || len(s.inboxes) >= maxSources {
		return true
	}
	b.beginFar(s, k)
	return true
}
