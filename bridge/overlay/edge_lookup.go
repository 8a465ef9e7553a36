package overlay

import "slices"

// lookUp asks the registry which source brokers a client's set can match.
func (b *edge) lookUp(s *session) {
	if b.networked && s.looksUp() {
		s.lookedUp = false
		b.registry.lookUp(s)
	}
}

// looksUp reports whether a session's set is the client's, and its client here as
// far as is known.
func (s *session) looksUp() bool { return s.elsewhere == 0 && !s.unsure }

// lookUpAll asks again for all clients, once a period.
func (b *edge) lookUpAll() {
	if !b.networked {
		return
	}
	var all []*session
	for _, s := range b.order {
		if s.looksUp() {
			all = append(all, s)
		}
	}
	b.registry.lookUpAll(all)
}

// clientLookup says of a client what the registry of mode one is told: with the
// set if it is asked for, or if that registry may not have it.
func (b *edge) clientLookup(s *session, whole bool) ClientLookup {
	whole = whole || !s.lookedUp || s.lookup != s.hash
	s.lookup = s.hash
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

// onSources takes the registry's answer: the edge subscribes at the source
// brokers that are new to it.
func (b *edge) onSources(m *Sources) {
	for i := range m.Clients {
		c := &m.Clients[i]
		s := b.sessions[c.Client]
		if s == nil || s.elsewhere != 0 || s.unsure {
			continue
		}
		if c.Newest != (Epoch{}) {
			b.attachedAt(c.Client, c.Newest)
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

// attachedAt takes the newest attachment that is known of a client (G2).
func (b *edge) attachedAt(client string, newest Epoch) {
	s := b.sessions[client]
	if s != nil && !s.unsure && newest.Compare(Epoch{Attachment: s.epoch.Attachment, Edge: s.epoch.Edge}) > 0 {
		b.attachedElsewhere(s, newest)
	}
}

// here returns the session of a client that is here as far as is known; nil if it
// has none.
func (b *edge) here(client string) *session {
	if s := b.sessions[client]; s != nil && s.looksUp() {
		return s
	}
	return nil
}

// untested returns the subscriptions of a session that no directory of robots was
// searched for yet.
func (b *edge) untested(s *session) (all []*sub) {
	if s.lookedUp && s.lookup == s.hash {
		return nil
	}
	for _, sub := range s.subs { // all are tested: order decides nothing
		if !sub.lookedUp {
			all = append(all, sub)
		}
	}
	return all
}

// tested takes note that the directory of robots here was searched for what a
// session wants. What is not settled is to be searched for again.
func (b *edge) tested(s *session, settled bool, missing func(*sub) bool) {
	s.settled, s.claims = true, true
	s.lookup, s.lookedUp = s.hash, settled
	for _, sub := range s.subs { // each by itself: order decides nothing
		sub.lookedUp = settled
	}
	for i := range s.pending {
		if p := &s.pending[i]; p.lookup {
			p.lookup, p.missing = false, s.subs[p.id] != nil && missing(s.subs[p.id])
		}
	}
	b.settlePending(s)
}

// lookAgain has all be looked up again that a session wants.
func (s *session) lookAgain() {
	s.lookedUp = false
	for _, sub := range s.subs { // each by itself: order decides nothing
		sub.lookedUp = false
	}
}

// appearedAt has those clients here subscribe at a source broker that can match a
// robot of it, which is new or has changed (6).
func (b *edge) appearedAt(source SourceBroker, r *robot) {
	b.selectors.event++
	for _, s := range b.order {
		if !s.looksUp() || !s.selects(&b.selectors, r.name) || !s.anySub(r.mayMatch) {
			continue
		}
		if !b.nameSource(s, source) {
			s.lookAgain()
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
