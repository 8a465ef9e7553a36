package overlay

import (
	"maps"
	"slices"
)

// maxBrokers bounds what is kept of the network's topology, maxHops how far a
// message to the registry goes.
const (
	maxBrokers = 4096
	maxHops    = 64
)

// topology is what a broker knows of the network: its own links, and what the
// others say of theirs. Paths are computed from it.
type topology struct {
	links  map[BrokerID]uint64 // neighbours whose link is up, with the link's session
	near   []BrokerID          // the same, sorted
	states map[BrokerID]*heardState
	paths  map[BrokerID][]BrokerID // that have been asked for since the last change

	before  map[BrokerID]BrokerID // of each broker in reach: the one before it on the path there; of this one: itself
	spanned bool                  // since the last change
	todo    []BrokerID            // of span, to be used again

	announced Instant // when this broker flooded its own state last
}

type heardState struct {
	LinkState
	heard Instant
}

func newTopology() topology {
	return topology{links: map[BrokerID]uint64{}, states: map[BrokerID]*heardState{}, paths: map[BrokerID][]BrokerID{}, before: map[BrokerID]BrokerID{}}
}

// linkUp begins a session with a neighbour: it is told all link states.
func (b *network) linkUp(in *LinkUp) {
	if in.Neighbour == "" || in.Neighbour == b.cfg.ID {
		return
	}
	if _, up := b.topology.links[in.Neighbour]; up {
		b.lostLink(in.Neighbour)
	}
	first := !b.networked
	b.networked = true
	b.topology.setLink(in.Neighbour, in.Session)
	if first { // whose the clients' ids are, before anybody else claims them
		b.edge.lookUpAll()
	}
	b.ownState()
	for _, id := range slices.Sorted(maps.Keys(b.topology.states)) {
		if id != b.cfg.ID {
			b.tell(in.Neighbour, &b.topology.states[id].LinkState)
		}
	}
	b.registry.linkUp(in.Neighbour)
	if in.Foreign {
		b.source.linkForeign(in.Neighbour)
	}
}

func (t *topology) setLink(neighbour BrokerID, session uint64) {
	t.links[neighbour] = session
	if at, found := slices.BinarySearch(t.near, neighbour); !found {
		t.near = slices.Insert(t.near, at, neighbour)
	}
}

func (t *topology) dropLink(neighbour BrokerID) {
	delete(t.links, neighbour)
	if at, found := slices.BinarySearch(t.near, neighbour); found {
		t.near = slices.Delete(t.near, at, at+1)
	}
}

// linkDown ends it.
func (b *network) linkDown(in *LinkDown) {
	if session, up := b.topology.links[in.Neighbour]; up && session == in.Session {
		b.lostLink(in.Neighbour)
	}
}

// lostLink applies B1, B2 and F to what the link carried.
func (b *network) lostLink(neighbour BrokerID) {
	b.topology.dropLink(neighbour)
	delete(b.frames, neighbour)
	b.ownState()
	var lost []*route
	for _, r := range b.routes {
		if r.up == neighbour {
			lost = append(lost, r)
		}
	}
	slices.SortFunc(lost, func(r, s *route) int { return r.key.Compare(s.key) })
	state := b.topology.states[b.cfg.ID].LinkState
	for _, r := range lost {
		b.broken(r, &state)
	}
	for _, k := range b.fetchedKeys() {
		for _, f := range b.fetches[k] {
			if f.to == neighbour {
				f.done = true
			}
		}
		b.finish(k)
	}
}

// ownState tells all neighbours which links are up.
func (b *network) ownState() {
	number := uint64(max(b.now, 1))
	if old := b.topology.states[b.cfg.ID]; old != nil {
		number = max(number, old.Number+1)
	}
	b.numberOwnState(number)
}

func (b *network) numberOwnState(number uint64) {
	b.topology.announced = b.now
	own := LinkState{Broker: b.cfg.ID, Number: number, URL: b.cfg.URL, Neighbours: slices.Clone(b.topology.near)}
	b.keepState(&own)
	b.flood(&own, "")
}

func (b *network) keepState(s *LinkState) {
	old := b.topology.states[s.Broker]
	b.topology.states[s.Broker] = &heardState{LinkState: *s, heard: b.now}
	if old != nil && slices.Equal(old.Neighbours, s.Neighbours) {
		return
	}
	clear(b.topology.paths)
	b.topology.spanned = false
	b.rerouted = true
}

func (b *network) flood(s *LinkState, but BrokerID) {
	for _, id := range b.topology.near {
		if id != but {
			b.tell(id, s)
		}
	}
}

// learn takes a link state in, and passes it on if it is news.
func (b *network) learn(s *LinkState, from BrokerID) {
	if s == nil || s.Broker == "" || len(s.Neighbours) > maxBrokers {
		return
	}
	old := b.topology.states[s.Broker]
	switch {
	case s.Broker == b.cfg.ID:
		if old == nil || s.Number > old.Number { // of an earlier life
			b.numberOwnState(s.Number + 1)
		}
		return
	case old != nil && old.Number >= s.Number:
		if old.Number == s.Number {
			old.heard = b.now
		}
		return
	case old == nil && len(b.topology.states) >= maxBrokers:
		return
	}
	b.keepState(s)
	b.flood(s, from)
	b.edge.renewStranded()
}

// announce floods this broker's state again a few times in a session time, so
// that those who have forgotten it, for whatever reason, learn of it again.
func (b *network) announce() {
	if b.now-b.topology.announced >= Instant(b.cfg.Inbox.Keep)/4 {
		b.ownState()
	}
}

// knows reports whether something is known of a broker's links.
func (b *network) knows(id BrokerID) bool { return b.topology.states[id] != nil }

// usable reports whether both ends say that the link is up.
func (t *topology) usable(x, y BrokerID) bool {
	a, c := t.states[x], t.states[y]
	if a == nil || c == nil {
		return false
	}
	_, there := slices.BinarySearch(a.Neighbours, y)
	_, back := slices.BinarySearch(c.Neighbours, x)
	return there && back
}

// path returns the shortest path to a broker, both ends in it: of several the
// one whose next broker has the lowest id, at every step; so that paths to one
// broker form a tree. Nil if there is none.
func (b *network) path(to BrokerID) []BrokerID {
	t := &b.topology
	if p, known := t.paths[to]; known {
		return p
	}
	if !b.reaches(to) {
		return nil
	}
	path := []BrokerID{to}
	for x := to; x != b.cfg.ID; {
		x = t.before[x]
		path = append(path, x)
	}
	slices.Reverse(path)
	t.paths[to] = path
	return path
}

// reaches reports whether there is a path to a broker.
func (b *network) reaches(to BrokerID) bool {
	if to == b.cfg.ID {
		return true
	}
	b.span()
	_, reached := b.topology.before[to]
	return reached
}

// span finds the paths to all brokers. Brokers are visited in the order of their
// paths, so the first one that leads to another is on its path.
func (b *network) span() {
	t := &b.topology
	if t.spanned {
		return
	}
	t.spanned = true
	clear(t.before)
	t.before[b.cfg.ID] = b.cfg.ID
	todo := append(t.todo[:0], b.cfg.ID)
	for i := 0; i < len(todo); i++ {
		x := todo[i]
		state := t.states[x]
		if state == nil {
			continue
		}
		for _, y := range state.Neighbours { // sorted: the lowest first
			if _, seen := t.before[y]; !seen && t.usable(x, y) {
				t.before[y] = x
				todo = append(todo, y)
			}
		}
	}
	t.todo = todo
}

// forgetBrokers forgets brokers that have been out of reach for the session time.
func (b *network) forgetBrokers() {
	before := b.now - Instant(b.cfg.Inbox.Keep)
	for id, s := range b.topology.states {
		switch {
		case id == b.cfg.ID:
		case b.reaches(id):
			s.heard = b.now
		case s.heard < before:
			delete(b.topology.states, id)
		}
	}
}

// neighbours returns those whose link is up, sorted.
func (b *network) neighbours() []BrokerID { return b.topology.near }

// LinkStates returns the network as this broker knows it, by broker.
func (b *Broker) LinkStates() []LinkState { return b.network.linkStates() }

func (b *network) linkStates() []LinkState {
	all := make([]LinkState, 0, len(b.topology.states))
	for _, id := range slices.Sorted(maps.Keys(b.topology.states)) {
		all = append(all, b.topology.states[id].LinkState)
	}
	return all
}

// sameFrame returns the one of a flush's frames that has the very messages; nil
// if none has.
func sameFrame(frames []Output, messages []Message) *Frame {
	for _, out := range frames {
		if f := out.(*Frame); slices.Equal(f.Messages, messages) {
			return f
		}
	}
	return nil
}
