package overlay

import "slices"

// leasePeriods is how many periods a route or tombstone lives without a
// refresh; three do not suffice.
const leasePeriods = 4

// route is what a broker on the way of a key knows of it.
type route struct {
	key   Key
	epoch Epoch
	down  BrokerID   // towards the client; this broker: the client's edge is here
	up    BrokerID   // towards the source; "": no way up, or this is the source
	rest  []BrokerID // the path from here to the source, of the way up
	num   uint64     // as the newest subscribe told it
	known uint64     // the highest number that subscribes told of, or that has passed here
	hash  Hash       // of the set
	lease Instant    // until when it lives without a refresh; an edge's own have none
}

func (b *step) lease() Instant { return b.now + leasePeriods*Instant(b.cfg.Heartbeat) }

// local tells whether the client's edge is here.
func (b *step) local(r *route) bool { return r.down == b.cfg.ID }

// newestEpoch gives the newest epoch that is known of a key: that of its
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
	if r := b.routes[k]; r != nil && r.epoch == m.Epoch { // S2
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

// join sends the subscription on to the next broker of a path that begins here.
func (b *network) join(r *route, path []BrokerID, set *SetChange, missing *Missing) {
	if len(path) > 1 {
		if _, up := b.topology.links[path[1]]; up {
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

// takeInFrom takes the set of a key whose edge is elsewhere into the local
// registry (S7). It tells whether the key goes on.
func (b *source) takeInFrom(from BrokerID, m *SubscribeMessage) bool {
	e := b.keys[m.Key]
	ended := e != nil && e.ended // its store was lost: it gives no more numbers
	home := b.live(m.Key)        // an edge that does not know the session's key here asks for another
	forgotten := ended || e == nil && (m.Key.Stamp != b.stamp || m.Known > 0 || home != nil)
	full := e == nil && len(b.entries) >= 2*b.cfg.Clients
	unclear := !forgotten && (full || !b.brings(e, m))
	if forgotten || unclear {
		if r := b.network.routeOf(m.Key); r != nil && r.down == from {
			b.network.dropRoute(m.Key)
		}
	}
	switch {
	case forgotten:
		b.outlive(m.Key)
		if ended {
			b.giveRest(from, e, m)
		}
		next := b.stamp
		if home != nil {
			next = home.key.Stamp
		}
		b.network.tell(from, &GoneMessage{Key: m.Key, Stamp: next})
		return false
	case unclear:
		b.stats.Unclear++
		b.network.tell(from, &BrokenMessage{Key: m.Key})
		return false
	}
	if e == nil {
		e = b.newEntry(m.Key, newSet(), m.Epoch)
		e.quiet = true
		b.recordEntry(e)
		b.changeMembers(e, nil, m.Set.Put, true)
		return true
	}
	if e.inbox != nil { // the edge was here: turn hands the inbox over
		b.edge.release(e.inbox)
	}
	e.epoch, e.seen = m.Epoch, b.now
	switch {
	case e.members.hash == m.Hash: // the same as before, and all that the client has asked for up to now
		e.sets.touch(e.epoch)
		b.recordEntry(e)
	case m.Set.Whole:
		drop, put := e.members.diff(m.Set.Put)
		b.changeMembers(e, drop, put, false)
	default:
		b.changeMembers(e, m.Set.Drop, m.Set.Put, false)
	}
	return true
}

// giveRest gives what the store has left of a sequence that has ended to an
// edge that is elsewhere, before it is told so.
func (b *source) giveRest(from BrokerID, e *entry, m *SubscribeMessage) {
	first := m.Num + 1
	if m.Missing != nil {
		first = max(first, m.Missing.From)
	}
	items := b.itemsOf(e.sequence, first, e.next-1)
	b.countResent(e, items)
	b.network.replay(from, m.Key, items)
}

// brings tells whether the message lets the source have the set that it names.
func (b *source) brings(e *entry, m *SubscribeMessage) bool {
	switch {
	case e != nil && e.members.hash == m.Hash:
		return true
	case m.Set == nil || slices.ContainsFunc(m.Set.Put, func(m Member) bool { return m.Subscription == nil }):
		return false
	case m.Set.Whole:
		return len(m.Set.Put) <= b.cfg.Subscriptions
	}
	return e != nil && e.members.hash == m.Set.From && len(e.members.subs)+len(m.Set.Put) <= 2*b.cfg.Subscriptions
}

// diff tells what makes the set the one that is given whole.
func (s *set) diff(whole []Member) (drop []string, put []Member) {
	stays := make(map[string]bool, len(whole))
	for _, m := range whole {
		stays[m.Subscription.ID] = true
		if old := s.subs[m.Subscription.ID]; old == nil || old.hash != m.Subscription.Hash() {
			put = append(put, m)
		}
	}
	for _, old := range s.sorted() {
		if !stays[old.ID] {
			drop = append(drop, old.ID)
		}
	}
	return drop, put
}

// changeMembers changes the set of an entry whose edge is elsewhere.
func (b *source) changeMembers(e *entry, drop []string, put []Member, whole bool) {
	if whole {
		e.sets = nil
	}
	b.newSetOf(e)
	for _, id := range drop {
		if old := e.members.subs[id]; old != nil {
			b.takeSub(e.members, old)
			e.members.ends++
			b.record(&EntrySubscriptionEnded{Handle: e.handle, ID: id})
		}
	}
	var added []*sub
	for _, m := range put {
		s := b.putSub(e.members, m.Subscription, m.Subscription.Hash(), e.set)
		b.record(&EntrySubscription{Handle: e.handle, Born: s.born, Subscription: m.Subscription})
		added = append(added, s)
	}
	b.recordEntry(e)
	b.forgetStates(e, drop, added)
	b.install(e, whole, drop, added, added)
}
