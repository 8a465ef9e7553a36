package overlay

import (
	"cmp"
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
	costs  map[BrokerID]Cost   // of those that cost something else than one
	states map[BrokerID]*heardState
	paths  map[BrokerID][]BrokerID // that have been asked for since the last change

	tree span // of the paths to all brokers

	announced Instant // when this broker flooded its own state last
}

type heardState struct {
	LinkState
	heard Instant
}

func newTopology() topology {
	return topology{links: map[BrokerID]uint64{}, costs: map[BrokerID]Cost{}, states: map[BrokerID]*heardState{}, paths: map[BrokerID][]BrokerID{}, tree: newSpan()}
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
	b.topology.setLink(in.Neighbour, in.Session, in.Cost)
	if first { // whose the clients' ids are, before anybody else claims them
		b.edge.lookUpAll()
	}
	b.ownState()
	for _, id := range sortedKeys(b.topology.states) {
		if id != b.cfg.ID {
			b.tell(in.Neighbour, &b.topology.states[id].LinkState)
		}
	}
	b.registry.linkUp(in.Neighbour)
	b.tasks.linkUp(in.Neighbour)
	if in.Foreign {
		b.source.linkForeign(in.Neighbour)
	}
}

func (t *topology) setLink(neighbour BrokerID, session uint64, cost Cost) {
	t.links[neighbour] = session
	t.setCost(neighbour, cost)
	if at, found := slices.BinarySearch(t.near, neighbour); !found {
		t.near = slices.Insert(t.near, at, neighbour)
	}
}

// setCost notes what a link costs; zero stands for the cost of one.
func (t *topology) setCost(neighbour BrokerID, cost Cost) {
	if cost == 0 {
		delete(t.costs, neighbour)
		return
	}
	t.costs[neighbour] = min(max(cost, CostOne), MaxCost)
}

// ownCosts returns what the links cost, as a link state lists it: nil if none was
// given a cost.
func (t *topology) ownCosts() []Cost {
	if len(t.costs) == 0 {
		return nil
	}
	all := make([]Cost, len(t.near))
	for i, id := range t.near {
		all[i] = cmp.Or(t.costs[id], CostOne)
	}
	return all
}

func (t *topology) dropLink(neighbour BrokerID) {
	delete(t.links, neighbour)
	delete(t.costs, neighbour)
	if at, found := slices.BinarySearch(t.near, neighbour); found {
		t.near = slices.Delete(t.near, at, at+1)
	}
}

// linkCost tells all that a link's cost has changed (H2).
func (b *network) linkCost(in *LinkCost) {
	t := &b.topology
	if session, up := t.links[in.Neighbour]; !up || session != in.Session {
		return
	}
	before := t.costs[in.Neighbour]
	if t.setCost(in.Neighbour, in.Cost); t.costs[in.Neighbour] != before {
		b.ownState()
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
	own := LinkState{Broker: b.cfg.ID, Number: number, URL: b.cfg.URL, Neighbours: slices.Clone(b.topology.near), Costs: b.topology.ownCosts()}
	b.keepState(&own)
	b.flood(&own, "")
}

func (b *network) keepState(s *LinkState) {
	old := b.topology.states[s.Broker]
	b.topology.states[s.Broker] = &heardState{LinkState: *s, heard: b.now}
	alike := old != nil && slices.Equal(old.Neighbours, s.Neighbours)
	if alike && slices.Equal(old.Costs, s.Costs) {
		return
	}
	clear(b.topology.paths)
	b.topology.tree.known = false
	b.rerouted = b.rerouted || !alike // what links cost decides of no broker whether it is in reach
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
	if s == nil || s.Broker == "" || len(s.Neighbours) > maxBrokers || !s.costsRight() {
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

// heardOf is when a broker was in reach last, or told of its links.
func (b *network) heardOf(id BrokerID) Instant {
	if s := b.topology.states[id]; s != nil {
		return s.heard
	}
	return 0
}

// others lists all other brokers that are known, in reach or not.
func (b *network) others() []BrokerID {
	all := make([]BrokerID, 0, len(b.topology.states))
	for _, id := range sortedKeys(b.topology.states) {
		if id != b.cfg.ID {
			all = append(all, id)
		}
	}
	return all
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
	for _, id := range sortedKeys(b.topology.states) {
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
