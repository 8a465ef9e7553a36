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
		r := b.network.routes[in.key]
		if r == nil { // it cannot be; if it is, the source makes it good
			r = &route{key: in.key, epoch: s.epoch, down: b.cfg.ID, num: in.buf.num, known: in.known(), hash: s.hash}
			b.network.routes[in.key] = r
		}
		if r.up == "" || missing && f.ends >= 3 {
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
	e := b.source.keys[k]
	if e == nil {
		delete(b.routes, k)
		b.tell(from, &BrokenMessage{Key: k})
		return
	}
	e.seen = b.now
	b.retire(e.sequence, min(m.Num, e.next-1)) // A1
	if last := e.next - 1; last > m.Num && e.quiet {
		e.outside = last
		b.tell(from, &HeadMessage{Key: k, Last: last}) // A2
	}
	e.quiet = true
}

// onHead tells the edge how many numbers there are.
func (b *network) onHead(m *HeadMessage) {
	r := b.routes[m.Key]
	if r == nil {
		return
	}
	if !b.local(r) {
		b.tell(r.down, m)
		return
	}
	if in := b.edge.inboxOf(m.Key); in != nil && in.far != nil {
		in.far.head = max(in.far.head, m.Last)
	}
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

// passLeases lets routes, tombstones and keys go that nobody refreshed.
func (b *Broker) passLeases() {
	for k, r := range b.network.routes { // silently: order decides nothing
		if !b.local(r) && r.lease < b.now { // L3
			delete(b.network.routes, k)
			b.stats.Expired++
		}
	}
	for k, until := range b.network.dead {
		if until < b.now {
			delete(b.network.dead, k)
		}
	}
	before := b.now - Instant(b.cfg.Inbox.Keep)
	forgot := false
	for _, e := range b.source.awayEntries() {
		if e.seen < before { // L5
			b.source.dropKey(e)
			b.stats.ForgottenKeys++
			forgot = true
			continue
		}
		b.expire(e.sequence, before)
	}
	if forgot {
		b.source.newStamp()
	}
}
