package overlay

// central is the registry of mode one, as each broker has it: what edge and source
// say goes to the broker that holds it.
type central struct {
	*step
	edge    registryToEdge
	source  registryToSource
	network registryToNetwork

	held   *registry           // which hears of nothing where another broker holds it
	heard  Instant             // when it answered last
	places map[string]BrokerID // where robots answered from
}

func newCentral(s *step) *central {
	return &central{step: s, held: newRegistry(s), places: map[string]BrokerID{}}
}

// isHere reports whether this broker holds the registry.
func (b *central) isHere() bool { return b.cfg.Registry == b.cfg.ID }

// away reports whether the registry is out of reach (G3).
func (b *central) away() bool {
	return !b.isHere() && (b.heard+3*Instant(b.cfg.Heartbeat) <= b.now || !b.network.reaches(b.cfg.Registry))
}

// lookUp asks for one client, with what it wants (G1).
func (b *central) lookUp(s *session) {
	b.network.route(b.cfg.Registry, &Lookup{Clients: []ClientLookup{b.edge.clientLookup(s, true)}})
}

// lookUpAll asks for all, once a period.
func (b *central) lookUpAll(sessions []*session) {
	m := &Lookup{}
	for _, s := range sessions {
		m.Clients = append(m.Clients, b.edge.clientLookup(s, false))
	}
	b.network.route(b.cfg.Registry, m)
}

// attached and left tell nobody: each period's Lookup does (G2).
func (b *central) attached(*session) {}

func (b *central) left(*session) {}

func (b *central) newestAttachment(string) (uint64, bool) { return 0, false }

func (b *central) clientWith(id string) string { return b.held.clientWith(id) }

// remembersNamed reports that the registry does: its answers name them.
func (b *central) remembersNamed() bool { return true }

// watch asks the source broker itself.
func (b *central) watch(id BrokerID, m *Watch, _ bool) { b.network.route(id, m) }

// askOthers asks all brokers in reach.
func (b *central) askOthers(of BrokerID, version uint64) {
	for _, id := range b.network.reachable() {
		b.network.route(id, &Watch{Of: of, Version: version})
	}
}

func (b *central) register() {
	if b.networked {
		b.network.route(b.cfg.Registry, b.source.registration(true))
	}
}

func (b *central) tellStates() { b.source.tellWatchers() }

// take takes what is said to the registry, if it is here, and what it answers.
func (b *central) take(from BrokerID, body RegistryMessage) {
	switch m := body.(type) {
	case *Register:
		if b.isHere() {
			b.held.onRegister(from, m)
		}
		return
	case *Lookup:
		if b.isHere() {
			b.held.onLookup(from, m)
		}
		return
	}
	if from != b.cfg.Registry {
		return
	}
	switch m := body.(type) {
	case *Refusals:
		b.source.onRefusals(m)
	case *RegisterAgain:
		b.register()
	case *Sources:
		b.heard = b.now
		b.edge.onSources(m)
	}
}

// hear takes nothing: nothing is flooded.
func (b *central) hear(BrokerID, Message) {}

func (b *central) linkUp(BrokerID) { b.source.hastenRegister() }

// whereIs returns the broker that a question about a robot goes to: one that
// answered such before, or the registry.
func (b *central) whereIs(robot string) (to BrokerID, passesOn bool) {
	if at := b.places[robot]; at != "" {
		return at, false
	}
	return b.cfg.Registry, true
}

// answeredFrom takes note of where a robot is, or is not any more; it reports
// whether another broker may read it now.
func (b *central) answeredFrom(robot string, from BrokerID, found bool) (elsewhere bool) {
	switch {
	case !found && b.places[robot] == from:
		delete(b.places, robot)
		return true
	case found:
		if len(b.places) >= maxCalls {
			clear(b.places)
		}
		b.places[robot] = from
	}
	return false
}

// readerOf returns the broker that has a robot's name, "" if none has; if the
// registry is here.
func (b *central) readerOf(robot string) (at BrokerID, known bool) {
	return b.held.holders[robot], b.isHere()
}

// pass does what a period asks for.
func (b *central) pass() {
	b.network.route(b.cfg.Registry, b.source.registration(false))
	b.edge.lookUpAll()
	b.held.forgetDirectory()
	b.held.holdRefused()
	b.held.nameFresh("")
}

func (b *central) endStep() {}

func (b *central) due() Instant { return never }
