package overlay

import (
	"cmp"
	"slices"
)

// refreshKeys is what a period asks for at an edge: L1 for each of the
// client's keys whose source is elsewhere, or a renewal.
func (b *edge) refreshKeys(s *session) {
	for _, in := range slices.Clone(s.inboxes) {
		if in.far == nil || in.ended {
			continue
		}
		f, want := in.far, in.buf.last+1
		missing := want <= f.head || len(f.held) > 0
		switch {
		case !missing:
			f.open, f.ends = 0, 0
		case f.open == want:
			f.ends++
		default:
			f.open, f.ends = want, 1
		}
		r := b.network.routeOf(in.key)
		if r == nil || r.up == "" || missing && f.ends >= 3 {
			b.renew(in)
			continue
		}
		b.network.tell(r.up, &RefreshMessage{Key: in.key, Epoch: r.epoch, Num: in.buf.num, Known: max(r.known, in.known())})
	}
}

// onRefresh renews the lease of a route: L1, L2, A1, A2.
func (b *network) onRefresh(from BrokerID, m *RefreshMessage) {
	k := m.Key
	if b.isDead(k) {
		b.tell(from, &GoneMessage{Key: k})
		return
	}
	r := b.routes[k]
	if r == nil || r.down != from { // L2
		switch {
		case slices.ContainsFunc(b.fetches[k], func(f *fetch) bool { return f.to == from }): // that will settle it
		case r == nil || r.epoch.Compare(m.Epoch) <= 0:
			b.tell(from, &BrokenMessage{Key: k})
		default:
			b.fetch(from, k, r.epoch, r.num, FetchID{}, "")
		}
		return
	}
	if b.source.hearOf("", k, m.Epoch, m.Known) {
		return
	}
	r.lease = b.lease()
	if k.Source != b.cfg.ID {
		b.tell(r.up, m)
		return
	}
	b.source.refreshed(from, m)
}

// refreshed renews a key whose edge is elsewhere: A1, A2.
func (b *source) refreshed(from BrokerID, m *RefreshMessage) {
	k := m.Key
	e := b.keys[k]
	if e == nil {
		b.network.dropRoute(k)
		b.network.tell(from, &BrokenMessage{Key: k})
		return
	}
	e.seen = b.now
	b.retire(e.sequence, min(m.Num, e.next-1)) // A1
	if last := e.next - 1; last > m.Num && e.quiet {
		e.outside = last
		b.network.tell(from, &HeadMessage{Key: k, Last: last}) // A2
	}
	e.quiet = true
}

// awayEntries gives the keys of the local registry whose edge is elsewhere, in order.
func (b *source) awayEntries() []*entry {
	var away []*entry
	for _, e := range b.entries {
		if e.inbox == nil {
			away = append(away, e)
		}
	}
	slices.SortFunc(away, func(e, f *entry) int { return cmp.Compare(e.handle, f.handle) })
	return away
}

// passLeases lets routes and tombstones go that nobody refreshed.
func (b *network) passLeases() {
	for k, r := range b.routes { // silently: order decides nothing
		if !b.local(r) && r.lease < b.now { // L3
			delete(b.routes, k)
			b.stats.Expired++
		}
	}
	for k, p := range b.passed {
		if p.until < b.now {
			delete(b.passed, k)
		}
	}
	for k, until := range b.dead {
		if until < b.now {
			delete(b.dead, k)
		}
	}
}

// forgetKeys forgets the keys of other edges that nobody refreshed (L5), and what has
// waited too long for others.
func (b *source) forgetKeys() {
	before := b.now - Instant(b.cfg.Inbox.Keep)
	forgot := false
	for _, e := range b.awayEntries() {
		if e.seen < before { // L5
			b.network.dropRoute(e.key)
			b.unsubscribe(e.sequence)
			b.stats.ForgottenKeys++
			forgot = true
			continue
		}
		b.expire(e.sequence, before)
	}
	if forgot {
		b.newStamp()
	}
}
