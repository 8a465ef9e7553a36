package overlay

import (
	"maps"
	"slices"
)

// ReplayBytes is about how much a replay message carries, and a part of a frame
// with replays. Each broker on the way sends a part on while the next one comes;
// much smaller, and a part would cost more than what is in it.
const ReplayBytes = 64 << 10

// fetch is a fetch that this broker has sent or passed on, and that is not
// answered yet.
type fetch struct {
	id    FetchID
	epoch Epoch
	back  BrokerID // who asked for it; "": this broker, as junction
	to    BrokerID
	done  bool // its last mark has come, or will not come any more
}

// fetch sends a fetch down an abandoned branch, or passes one on (F3).
func (b *network) fetch(to BrokerID, k Key, epoch Epoch, num uint64, id FetchID, back BrokerID) {
	if id == (FetchID{}) {
		b.lastFetch = max(b.lastFetch+1, uint64(max(b.now, 0))) // higher than in any earlier life
		id = FetchID{Broker: b.cfg.ID, Number: b.lastFetch}
		b.stats.Fetches++
	}
	_, up := b.topology.links[to]
	b.fetches[k] = append(b.fetches[k], &fetch{id: id, epoch: epoch, back: back, to: to, done: !up})
	b.tell(to, &FetchMessage{Key: k, Epoch: epoch, Num: num, ID: id})
	b.finish(k)
}

// fetchesFrom reports whether a fetch to a neighbour is under way for a newer
// attachment than the given one.
func (b *network) fetchesFrom(neighbour BrokerID, k Key, epoch Epoch) bool {
	return slices.ContainsFunc(b.fetches[k], func(f *fetch) bool { return f.to == neighbour && !f.done && f.epoch.Compare(epoch) > 0 })
}

// onFetch takes a neighbour's fetch: F1 to F3.
func (b *network) onFetch(from BrokerID, m *FetchMessage) {
	b.source.hearOf(from, m.Key, m.Epoch, m.Num)
	r := b.routes[m.Key]
	if r == nil || r.epoch.Compare(m.Epoch) >= 0 { // F1
		b.tell(from, &ReplayMessage{Key: m.Key, Last: true, ID: m.ID})
		if r != nil && r.epoch.Compare(m.Epoch) > 0 && m.Key.Source != b.cfg.ID {
			b.joinAgain(r)
		}
		return
	}
	if !b.local(r) { // F3
		delete(b.routes, m.Key)
		b.fetch(r.down, m.Key, m.Epoch, m.Num, m.ID, from)
		return
	}
	items := b.edge.handOver(m.Key, m.Epoch, m.Num) // F2
	delete(b.routes, m.Key)
	b.replay(from, m.Key, items)
	b.fetches[m.Key] = append(b.fetches[m.Key], &fetch{id: m.ID, epoch: m.Epoch, back: from, done: true})
	b.finish(m.Key)
}

// joinAgain sends the newest subscribe up again, for upstream has turned away
// from it. An edge may choose a path anew; a broker on the way keeps its own,
// since another could lead through its own client side.
func (b *network) joinAgain(r *route) {
	if !b.local(r) {
		b.join(r, r.rest, nil, nil)
		return
	}
	if set, known := b.edge.setOf(r.key); set != nil {
		r.known = max(r.known, known)
		b.join(r, b.path(r.key.Source), set, nil)
	}
}

// replay sends items, in messages of bounded size.
func (b *network) replay(to BrokerID, k Key, items []Item) {
	first, size := 0, 0
	for i := range items {
		one := items[i].size()
		if size+one > b.cfg.ReplayBytes && i > first {
			b.tell(to, &ReplayMessage{Key: k, Items: items[first:i:i]})
			first, size = i, 0
		}
		size += one
	}
	if first < len(items) {
		b.tell(to, &ReplayMessage{Key: k, Items: items[first:]})
	}
}

// onReplay takes what an old edge or the source sends: R1 to R3.
func (b *network) onReplay(from BrokerID, m *ReplayMessage) {
	highest := uint64(0)
	for i := range m.Items {
		highest = max(highest, m.Items[i].To)
	}
	if !b.source.hearOf("", m.Key, Epoch{}, highest) {
		b.towards(m.Key, m.Items, from)
	}
	if !m.Last {
		return
	}
	// Where routes led in a circle a fetch has come by here more than once. The
	// answers come back the other way: the last one first.
	for _, f := range slices.Backward(b.fetches[m.Key]) {
		if f.id == m.ID && !f.done {
			f.done = true
			b.finish(m.Key)
			return
		}
	}
}

// towards sends items on to the client: R1 down the route; R2 without one, or
// with one that leads back to where they come from, to whoever fetched last. So
// too with one that a late subscribe of an older attachment has made to where a
// fetch is under way, which the items would come behind.
func (b *network) towards(k Key, items []Item, from BrokerID) {
	if len(items) == 0 {
		return
	}
	r := b.routes[k]
	if r != nil && b.local(r) {
		b.edge.take(&ReplayMessage{Key: k, Items: items})
		return
	}
	if r != nil {
		r.known = max(r.known, items[len(items)-1].To)
	}
	to := BrokerID("")
	if r != nil && r.down != from && !b.fetchesFrom(r.down, k, r.epoch) {
		to = r.down
	} else {
		var newest *fetch
		for _, f := range b.fetches[k] {
			if f.back != "" && (newest == nil || f.epoch.Compare(newest.epoch) > 0) {
				newest = f
			}
		}
		if newest == nil {
			b.stats.Undeliverable++
			return
		}
		to = newest.back
	}
	b.replay(to, k, items)
}

// finish is R3: the mark that ends a fetch goes back as soon as no older fetch
// of the key is still awaited here.
func (b *network) finish(k Key) {
	all := b.fetches[k]
	var awaited *Epoch
	for _, f := range all {
		if !f.done && (awaited == nil || f.epoch.Compare(*awaited) < 0) {
			awaited = &f.epoch
		}
	}
	rest := all[:0]
	for _, f := range all {
		if !f.done || awaited != nil && f.epoch.Compare(*awaited) > 0 {
			rest = append(rest, f)
			continue
		}
		if f.back != "" {
			b.tell(f.back, &ReplayMessage{Key: k, Last: true, ID: f.id})
		}
	}
	clear(all[len(rest):])
	if b.fetches[k] = rest; len(rest) == 0 {
		delete(b.fetches, k)
	}
}

// fetchedKeys returns the keys that fetches are under way for, in order.
func (b *network) fetchedKeys() []Key {
	return slices.SortedFunc(maps.Keys(b.fetches), Key.Compare)
}
