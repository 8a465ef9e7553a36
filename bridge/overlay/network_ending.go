package overlay

import "slices"

// isDead reports whether a tombstone of the key stands here (U3).
func (b *network) isDead(k Key) bool {
	_, dead := b.dead[k]
	return dead
}

// unsubscribeKey ends a key for good, whatever its epoch: U1, U2. The sender
// is a neighbour, or this broker for a client here.
func (b *network) unsubscribeKey(from BrokerID, k Key, path []BrokerID) {
	if b.isDead(k) {
		return
	}
	b.dead[k] = b.lease()
	r := b.routes[k]
	delete(b.routes, k)
	if r != nil && r.down != from && !b.local(r) { // U2: a roam is under way
		b.tell(r.down, &GoneMessage{Key: k})
	}
	b.edge.unsubscribed(k)
	if q := b.source.retained(k); q != nil {
		b.source.unsubscribe(q)
	}
	if r != nil && r.up != "" {
		path = r.rest
	} else if at := slices.Index(path, b.cfg.ID); at >= 0 {
		path = path[at:]
	} else {
		path = nil
	}
	if k.Source != b.cfg.ID && len(path) > 1 {
		b.tell(path[1], &UnsubscribeMessage{Key: k, Path: path[1:]})
	}
}

// onGone says that a key is over: the route goes, and it is passed on.
func (b *network) onGone(from BrokerID, m *GoneMessage) {
	r := b.routes[m.Key]
	if r == nil || r.up != from {
		return
	}
	delete(b.routes, m.Key)
	if m.Stamp == 0 {
		b.dead[m.Key] = b.lease()
	}
	b.sendDown(r, m)
}
