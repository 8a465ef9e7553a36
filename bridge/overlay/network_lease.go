package overlay

import "slices"

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
