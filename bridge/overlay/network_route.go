package overlay

import "slices"

// onNotify delivers a reading to the keys whose edge is here, and passes it on
// for the others: once over each link.
func (b *network) onNotify(m *NotifyMessage) {
	if m.Reading == nil {
		return
	}
	for _, h := range m.Hits {
		r := b.routes[h.Key]
		switch {
		case r == nil:
			b.stats.Stray++
		case !b.local(r):
			r.known = max(r.known, h.Seq)
			b.tell(r.down, &NotifyMessage{Reading: m.Reading, Hits: []KeyHit{h}})
		default:
			b.edge.notified(m.Reading, &h)
		}
	}
}

// route is what a broker on the way of a key knows of it.
type route struct {
	key   Key
	epoch Epoch
	down  BrokerID   // towards the client; this broker: the client's edge is here
	up    BrokerID   // towards the source; "": no way up, or this is the source
	rest  []BrokerID // the path from here to the source, of the way up
	exact bool       // the way up is that path: no junction on it has kept a way of its own
	num   uint64     // as the newest subscribe told it
	known uint64     // the highest number that subscribes told of, or that has passed here
	hash  Hash       // of the set
	lease Instant    // until when it lives without a refresh; an edge's own have none
}

// newestEpoch returns the newest epoch that is known of a key: that of its
// route; a source broker that lost the route in a crash has it in its store.
func (b *network) newestEpoch(k Key) (epoch Epoch, num uint64, known bool) {
	if r := b.routes[k]; r != nil {
		return r.epoch, r.num, true
	}
	return b.source.epochOf(k)
}

// onSubscribe takes a neighbour's subscribe: S1 to S7.
func (b *network) onSubscribe(from BrokerID, m *SubscribeMessage) {
	k := m.Key
	if b.isDead(k) { // U3
		b.tell(from, &GoneMessage{Key: k})
		return
	}
	b.source.hearOf(from, k, m.Epoch, m.Known)
	if newest, num, known := b.newestEpoch(k); known && newest.Compare(m.Epoch) > 0 { // S1
		b.fetch(from, k, newest, num, FetchID{}, "")
		return
	}
	if r := b.routes[k]; r != nil && r.epoch == m.Epoch && m.Missing == nil { // S2
		return
	}
	source := k.Source == b.cfg.ID
	if source && !b.source.takeInFrom(from, m) { // S7
		return
	}
	path := m.Path
	if len(path) == 0 || path[0] != b.cfg.ID {
		path = nil
	}
	made := b.turn(from, m, path)
	if source && (made || m.Missing != nil) { // S6
		missing := Missing{From: m.Num + 1}
		if m.Missing != nil && (m.Missing.From > 0 || !made) {
			missing = *m.Missing
		}
		b.source.fill(k, missing)
	}
}

// subscribe takes the subscribe of the edge here.
func (b *network) subscribe(m *SubscribeMessage) { b.turn(b.cfg.ID, m, b.path(m.Key.Source)) }

// turn has a key's route lead to whoever subscribes: a neighbour, or the edge here.
// It makes one if there is none (S4), and reports that; else this broker is the
// junction (S5), or the edge again (S3).
func (b *network) turn(from BrokerID, m *SubscribeMessage, path []BrokerID) (made bool) {
	source := m.Key.Source == b.cfg.ID
	r := b.routes[m.Key]
	if r == nil {
		r = &route{key: m.Key, epoch: m.Epoch, down: from, num: m.Num, known: max(m.Known, b.passed[m.Key].number), hash: m.Hash, lease: b.lease()}
		b.routes[m.Key] = r
		if !source {
			b.join(r, path, m.Set, m.Missing)
		}
		return true
	}
	old, changed := r.down, r.hash != m.Hash
	r.epoch, r.down, r.num, r.hash, r.lease = m.Epoch, from, m.Num, m.Hash, b.lease()
	r.known = max(r.known, m.Known, b.edge.knownOf(r.key))
	switch {
	case old == from:
	case old == b.cfg.ID:
		b.towards(r.key, b.edge.handOver(r.key, m.Epoch, m.Num), "")
	default:
		b.fetch(old, r.key, m.Epoch, m.Num, FetchID{}, "")
	}
	switch {
	case source:
	case m.Missing != nil || r.up == "":
		b.join(r, path, m.Set, m.Missing)
	case changed:
		b.join(r, r.rest, m.Set, nil)
	}
	return false
}

// begin makes the route of a key whose edge is here one without a way up: its source
// is here, too, or the way is yet to be found. What another branch holds is fetched.
func (b *network) begin(k Key, epoch Epoch, num uint64, hash Hash) {
	r := b.routes[k]
	if r == nil {
		r = &route{key: k, num: num}
		b.routes[k] = r
	}
	old := r.down
	r.epoch, r.down, r.up, r.rest, r.hash = epoch, b.cfg.ID, "", nil, hash
	if old != "" && old != b.cfg.ID {
		b.fetch(old, k, epoch, num, FetchID{}, "")
	}
}

// routeOf returns a key's route, which is the network's; nil if there is none.
func (b *network) routeOf(k Key) *route { return b.routes[k] }

func (b *network) dropRoute(k Key) { delete(b.routes, k) }

// join sends the subscription on to the next broker of a path that begins here. Only
// one that goes all the way to the source, as a renewal does, is sure to lead the key
// along that path.
func (b *network) join(r *route, path []BrokerID, set *SetChange, missing *Missing) {
	if len(path) > 1 {
		if _, up := b.topology.links[path[1]]; up {
			r.exact = missing != nil || r.exact && r.up != "" && slices.Equal(r.rest, path)
			r.up, r.rest = path[1], path
			b.tell(r.up, &SubscribeMessage{
				Key: r.key, Epoch: r.epoch, Num: r.num, Known: r.known, Path: path[1:], Hash: r.hash, Set: set, Missing: missing,
			})
			return
		}
	}
	var state *LinkState
	if own := b.topology.states[b.cfg.ID]; own != nil {
		state = &own.LinkState
	}
	b.broken(r, state)
}

// broken takes note that the way up is lost. B1: an edge renews by another
// path. B2: others take the route away and tell the broker below.
func (b *network) broken(r *route, state *LinkState) {
	r.up = ""
	if !b.local(r) {
		if r.known > 0 {
			b.passed[r.key] = passed{r.known, b.lease()}
		}
		delete(b.routes, r.key)
	}
	b.sendDown(r, &BrokenMessage{Key: r.key, Link: state})
}

// passed is the highest number of a key that a broker on its way knew of when it
// took the route away: it may still be under way to the edge, which says nothing
// of it in a subscribe that crosses it. So it goes into the next route.
type passed struct {
	number uint64
	until  Instant
}

// down sends a message towards a key's client.
func (b *network) down(k Key, m Message) {
	if r := b.routes[k]; r != nil {
		b.sendDown(r, m)
	}
}

// sendDown sends it on the way that a route leads, or to the edge here.
func (b *network) sendDown(r *route, m Message) {
	if b.local(r) {
		b.edge.take(m)
		return
	}
	b.tell(r.down, m)
}
