package overlay

// flooded is the registry of mode every: each broker has what all brokers say of
// themselves, and finds in it what it needs. What a broker says is its bulletin: its
// advertisement (D1) and whereabouts (D3). It is flooded as link states are, a
// change as the difference from the version before. Who lacks that version asks the
// neighbour that it heard of it from for the whole.
type flooded struct {
	*step
	edge    registryToEdge
	source  registryToSource
	network registryToNetwork

	directory
	bulletins map[BrokerID]*bulletin
	places    map[string]*place // of clients
	ids       map[string]*place // by client id, of tokens' clients

	own       *bulletin
	refusals  Refusals        // that its source was told last
	robotNews bool            // robots may be others than those in its own bulletin
	stateNews bool            // or what has become of them
	moved     map[string]bool // clients that have attached here or left
	movedAt   Instant         // when that is told, if clients are many

	watches map[BrokerID]uint64 // source brokers whose robots the edge asks for, since a version
}

func newFlooded(s *step) *flooded {
	b := &flooded{
		step: s, directory: newDirectory(), bulletins: map[BrokerID]*bulletin{}, places: map[string]*place{}, ids: map[string]*place{},
		moved: map[string]bool{}, watches: map[BrokerID]uint64{},
	}
	b.own = b.bulletinOf(s.cfg.ID)
	return b
}

// hear takes what is flooded.
func (b *flooded) hear(from BrokerID, m Message) {
	switch m := m.(type) {
	case *BulletinMessage:
		b.onBulletin(from, m)
	case *KnownMessage:
		b.onKnown(from, m)
	}
}

// onBulletin takes a broker's bulletin or a change of it, and passes on what is news.
func (b *flooded) onBulletin(from BrokerID, m *BulletinMessage) {
	if m.Broker == b.cfg.ID {
		b.outlive(m.Version)
		return
	}
	if m.Broker == "" || b.bulletins[m.Broker] == nil && len(b.bulletins) >= maxBrokers {
		return
	}
	e := b.bulletinOf(m.Broker)
	switch {
	case m.Version <= e.version:
		return
	case m.From != 0 && m.From != e.version:
		b.ask(e, from)
		return
	}
	before := e.statesVersion
	b.apply(e, m)
	b.flood(m, from)
	switch {
	case e.statesVersion == before:
	case b.network.reaches(e.broker):
		b.edge.onKnown(e.broker, e.robotsSince(before))
	default:
		b.askOthers(e.broker, before)
	}
}

func (b *flooded) flood(m Message, but BrokerID) {
	for _, id := range b.network.neighbours() {
		if id != but {
			b.network.tell(id, m)
		}
	}
}

// linkUp tells a neighbour what is known here: it sends what it has newer.
func (b *flooded) linkUp(neighbour BrokerID) {
	m := &KnownMessage{All: true}
	for _, id := range sortedKeys(b.bulletins) {
		if e := b.bulletins[id]; e.version > 0 {
			m.Brokers = append(m.Brokers, KnownBulletin{Broker: id, Version: e.version})
		}
	}
	b.network.tell(neighbour, m)
}

// ask asks a neighbour for the whole of a bulletin, once a period.
func (b *flooded) ask(e *bulletin, neighbour BrokerID) {
	if !e.asked {
		e.asked = true
		b.network.tell(neighbour, &KnownMessage{Brokers: []KnownBulletin{{Broker: e.broker, Version: e.version}}})
	}
}

// onKnown sends a neighbour what is newer here than what it knows.
func (b *flooded) onKnown(from BrokerID, m *KnownMessage) {
	knows := make(map[BrokerID]bool, len(m.Brokers))
	for _, k := range m.Brokers {
		knows[k.Broker] = true
		if k.Broker == b.cfg.ID {
			b.outlive(k.Version)
		}
		if e := b.bulletins[k.Broker]; e != nil && e.version > k.Version {
			b.network.tell(from, b.whole(e))
		}
	}
	if !m.All {
		return
	}
	for _, id := range sortedKeys(b.bulletins) {
		if e := b.bulletins[id]; e.version > 0 && !knows[id] {
			b.network.tell(from, b.whole(e))
		}
	}
}

// outlive sees that this broker's bulletin is newer than one of an earlier life.
func (b *flooded) outlive(version uint64) {
	if version > b.own.version {
		b.own.version, b.own.said = version+1, b.now
		b.flood(b.whole(b.own), "")
	}
}

// pass does what a period asks for.
func (b *flooded) pass() {
	b.edge.lookUpAll()
	before := b.now - Instant(b.cfg.Inbox.Keep)*5/4 // it says something in each quarter
	for _, id := range sortedKeys(b.bulletins) {
		e := b.bulletins[id]
		e.asked = false
		if e.said < before && !b.network.reaches(id) {
			b.forget(e)
		}
	}
	if b.now-b.own.said >= Instant(b.cfg.Inbox.Keep)/4 {
		b.publish(&BulletinMessage{})
	}
}

// forget forgets a broker that has been out of reach for the session time.
func (b *flooded) forget(e *bulletin) {
	touched := map[string]bool{}
	for name := range b.robots[e.broker] { // each by itself: order decides nothing
		b.withdraw(e.broker, name)
		touched[name] = true
	}
	for _, p := range e.places { // likewise
		b.unplace(p)
	}
	delete(b.bulletins, e.broker)
	b.holdAll(touched, e.broker)
}

// watch answers the edge at the end of the step. A source broker that was out of
// reach is asked itself, and for what is to be given again.
func (b *flooded) watch(id BrokerID, m *Watch, heardOf bool) {
	b.watches[id] = m.Version
	if !heardOf || len(m.Again) > 0 {
		b.network.route(id, m)
	}
}

// askOthers answers with what is known of the robots of a broker that is out of
// reach.
func (b *flooded) askOthers(of BrokerID, version uint64) {
	if e := b.bulletins[of]; e != nil && e.statesVersion > version {
		m := e.robotsSince(0)
		m.Of, m.Whole = of, true
		b.edge.onRobots(b.cfg.ID, m)
	}
}

// take takes nothing: nobody holds the registry for others.
func (b *flooded) take(BrokerID, RegistryMessage) {}

// away reports that the registry is never out of reach.
func (b *flooded) away() bool { return false }
