package overlay

import (
	"maps"
	"slices"
)

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
	began     Instant           // when the first period ended

	own       *bulletin
	claimed   map[string]Instant // since when this broker advertises robots (D4)
	refusals  Refusals           // that its source was told last
	robotNews bool               // robots may be others than those in its own bulletin
	stateNews bool               // or what has become of them
	moved     map[string]bool    // clients that have attached here or left
	movedAt   Instant            // when that is told, if clients are many
	announced Instant            // when the bulletin was flooded last

	watches map[BrokerID]uint64 // source brokers whose robots the edge asks for, since a version
}

// bulletin is what a broker says of itself.
type bulletin struct {
	broker  BrokerID
	stamp   Stamp
	version uint64  // 0: nothing is known yet
	asked   bool    // a neighbour was asked for it in this period
	heard   Instant // when there was a way to the broker last, as far as anybody knows who told of it

	states        map[string]*Availability // of its robots, by name
	statesVersion uint64
	statesWhole   uint64 // versions before it are not told as differences

	places map[string]*place // of the clients whose newest edge it is
}

// place is where a client is attached, or was last.
type place struct {
	client     string
	attachment uint64
	began      Instant // to be kept by an edge, for whoever has the client id
	edge       *bulletin
	next       *place // of another token's client with the same id
}

// fewClients is how many clients an edge has whose changes it tells at once; of more
// a quarter of a period's changes go together.
const fewClients = 64

func newFlooded(s *step) *flooded {
	b := &flooded{
		step: s, directory: newDirectory(), bulletins: map[BrokerID]*bulletin{}, places: map[string]*place{}, ids: map[string]*place{},
		claimed: map[string]Instant{}, moved: map[string]bool{}, watches: map[BrokerID]uint64{},
	}
	b.own = b.bulletinOf(s.cfg.ID)
	return b
}

// bulletinOf returns a broker's bulletin, an empty one if nothing is known of it.
func (b *flooded) bulletinOf(id BrokerID) *bulletin {
	e := b.bulletins[id]
	if e == nil {
		e = &bulletin{broker: id, states: map[string]*Availability{}, places: map[string]*place{}}
		b.bulletins[id] = e
	}
	return e
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
	if e.statesVersion != before && b.network.reaches(e.broker) {
		b.edge.onKnown(e.broker, e.robotsSince(before))
	}
}

func (b *flooded) flood(m Message, but BrokerID) {
	for _, id := range b.network.neighbours() {
		if id != but {
			b.network.tell(id, m)
		}
	}
}

// apply brings a bulletin up to date.
func (b *flooded) apply(e *bulletin, m *BulletinMessage) {
	e.version, e.stamp, e.asked = m.Version, max(e.stamp, m.Stamp), false
	e.heard = max(e.heard, b.since(m.Age))
	if m.From == 0 {
		m = b.difference(e, m)
	}
	touched := map[string]bool{}
	for i := range m.Robots {
		a := &m.Robots[i]
		b.advertise(e.broker, &robot{name: a.Robot, world: a.World, devices: a.Devices, bounds: a.Bounds, claimed: a.Claimed})
		touched[a.Robot] = true
	}
	for _, name := range m.Withdrawn {
		b.withdraw(e.broker, name)
		touched[name] = true
	}
	b.applyStates(e, m)
	for i := range m.Clients {
		b.place(e, &m.Clients[i])
	}
	for _, client := range m.Left {
		if p := e.places[client]; p != nil {
			b.unplace(p)
		}
	}
	b.holdAll(touched, e.broker)
}

// difference returns a whole bulletin as the difference from what is here.
func (b *flooded) difference(e *bulletin, m *BulletinMessage) *BulletinMessage {
	d := *m
	robots, states, clients := map[string]bool{}, map[string]bool{}, map[string]bool{}
	for i := range m.Robots {
		robots[m.Robots[i].Robot] = true
	}
	for i := range m.States {
		states[m.States[i].Robot] = true
	}
	for i := range m.Clients {
		clients[m.Clients[i].Client] = true
	}
	d.Withdrawn = without(b.robots[e.broker], robots)
	d.Forgotten = without(e.states, states)
	d.Left = without(e.places, clients)
	return &d
}

// without returns the keys that are not in others, in order.
func without[T any](all map[string]T, others map[string]bool) (rest []string) {
	for key := range all {
		if !others[key] {
			rest = append(rest, key)
		}
	}
	slices.Sort(rest)
	return rest
}

func (b *flooded) applyStates(e *bulletin, m *BulletinMessage) {
	for i := range m.States {
		e.states[m.States[i].Robot] = &m.States[i]
	}
	for _, name := range m.Forgotten {
		delete(e.states, name)
		e.statesWhole = m.StatesVersion
	}
	e.statesVersion = m.StatesVersion
}

// robotsSince returns what has become of a broker's robots since a version.
func (e *bulletin) robotsSince(version uint64) *Robots {
	m := &Robots{From: version, Version: e.statesVersion, Whole: version < e.statesWhole || version > e.statesVersion}
	if version == m.Version {
		return m
	}
	for _, name := range slices.Sorted(maps.Keys(e.states)) {
		if a := e.states[name]; m.Whole || a.Changed > version {
			m.Robots = append(m.Robots, *a)
		}
	}
	return m
}

// whole is a bulletin as it is told to those who lack it.
func (b *flooded) whole(e *bulletin) *BulletinMessage {
	m := &BulletinMessage{Broker: e.broker, Stamp: e.stamp, Version: e.version, Age: b.age(e), StatesVersion: e.statesVersion}
	for _, name := range slices.Sorted(maps.Keys(b.robots[e.broker])) {
		m.Robots = append(m.Robots, b.robots[e.broker][name].advertisement())
	}
	for _, name := range slices.Sorted(maps.Keys(e.states)) {
		m.States = append(m.States, *e.states[name])
	}
	for _, client := range slices.Sorted(maps.Keys(e.places)) {
		m.Clients = append(m.Clients, e.places[client].told())
	}
	return m
}

func (r *robot) advertisement() Advertisement {
	return Advertisement{Robot: r.name, World: r.world, Devices: r.devices, Bounds: r.bounds, Claimed: r.claimed}
}

func (p *place) told() ClientPlace {
	return ClientPlace{Client: p.client, Attachment: p.attachment, Began: p.began}
}

// age is for how long there has been no way to a broker.
func (b *flooded) age(e *bulletin) Duration {
	if b.network.reaches(e.broker) {
		return 0
	}
	return Duration(b.now - e.heard)
}

// since is when there was a way to a broker last, by what another tells.
func (b *flooded) since(age Duration) Instant { return b.now - Instant(max(0, age)) }

// linkUp tells a neighbour what is known here: it sends what it has newer.
func (b *flooded) linkUp(neighbour BrokerID) {
	m := &KnownMessage{All: true}
	for _, id := range slices.Sorted(maps.Keys(b.bulletins)) {
		if e := b.bulletins[id]; e.version > 0 {
			m.Brokers = append(m.Brokers, KnownBulletin{Broker: id, Version: e.version, Age: b.age(e)})
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
	younger := &KnownMessage{}
	for _, k := range m.Brokers {
		knows[k.Broker] = true
		if k.Broker == b.cfg.ID {
			b.outlive(k.Version)
		}
		switch e := b.bulletins[k.Broker]; {
		case e == nil:
		case e.version > k.Version:
			b.network.tell(from, b.whole(e))
		case e.version == k.Version && b.isYounger(e, k.Age):
			e.heard = b.since(k.Age)
			younger.Brokers = append(younger.Brokers, k)
		}
	}
	if len(younger.Brokers) > 0 {
		b.flood(younger, from)
	}
	if !m.All {
		return
	}
	for _, id := range slices.Sorted(maps.Keys(b.bulletins)) {
		if e := b.bulletins[id]; e.version > 0 && !knows[id] {
			b.network.tell(from, b.whole(e))
		}
	}
}

// isYounger reports whether a broker that is out of reach was in reach of others
// for longer than of this one: a part of a network forgets it at one time.
func (b *flooded) isYounger(e *bulletin, age Duration) bool {
	return !b.network.reaches(e.broker) && b.since(age) > e.heard+Instant(b.cfg.Heartbeat)
}

// outlive sees that this broker's bulletin is newer than one of an earlier life.
func (b *flooded) outlive(version uint64) {
	if version > b.own.version {
		b.own.version = version + 1
		b.announced = b.now
		b.flood(b.whole(b.own), "")
	}
}

// pass does what a period asks for.
func (b *flooded) pass() {
	b.edge.lookUpAll()
	if b.began == 0 {
		b.began = b.now
	}
	before := b.now - Instant(b.cfg.Inbox.Keep)
	for _, id := range slices.Sorted(maps.Keys(b.bulletins)) {
		e := b.bulletins[id]
		e.asked = false
		if b.network.reaches(id) {
			e.heard = b.now
		} else if e.heard < before {
			b.forget(e)
		}
	}
	b.forgetClaims()
	if b.now-b.announced >= Instant(b.cfg.Inbox.Keep)/4 {
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

// register and tellStates have the own bulletin brought up to date at the end of the
// step.
func (b *flooded) register() { b.robotNews = true }

func (b *flooded) tellStates() { b.stateNews = true }

// endStep answers the edge, and tells what is new here.
func (b *flooded) endStep() {
	for _, id := range slices.Sorted(maps.Keys(b.watches)) {
		if e := b.bulletins[id]; e != nil && e.statesVersion > 0 {
			b.edge.onKnown(id, e.robotsSince(b.watches[id]))
		}
	}
	clear(b.watches)
	m := &BulletinMessage{}
	if b.robotNews {
		b.robotNews = false
		b.changedRobots(m)
		b.stateNews = true
	}
	if b.stateNews {
		b.stateNews = false
		b.changedStates(m)
	}
	if len(b.moved) > 0 && b.now >= b.movedAt {
		b.changedPlaces(m)
		if len(b.own.places) > fewClients {
			b.movedAt = b.now + Instant(b.cfg.Heartbeat)/4
		}
	}
	if len(m.Robots)+len(m.Withdrawn)+len(m.States)+len(m.Forgotten)+len(m.Clients)+len(m.Left) > 0 || b.own.stamp != b.source.present() {
		b.publish(m)
	}
}

// due is when clients' moves that wait are to be told.
func (b *flooded) due() Instant {
	if len(b.moved) > 0 {
		return b.movedAt
	}
	return never
}

// publish floods a change of this broker's bulletin, or only another version.
func (b *flooded) publish(m *BulletinMessage) {
	e := b.own
	e.stamp = b.source.present()
	m.Broker, m.Stamp, m.From, m.StatesVersion = e.broker, e.stamp, e.version, e.statesVersion
	e.version = max(e.version+1, uint64(max(b.now, 0)))
	m.Version = e.version
	b.announced = b.now
	b.flood(m, "")
}

// changedRobots brings the robots of the own bulletin up to date.
func (b *flooded) changedRobots(m *BulletinMessage) {
	touched, stays := map[string]bool{}, map[string]bool{}
	all := b.source.registration(true).Robots
	for _, a := range all {
		stays[a.Robot] = true
		one := &robot{name: a.Robot, world: a.World, devices: a.Devices, bounds: a.Bounds, claimed: b.claim(a.Robot)}
		if old := b.robots[b.cfg.ID][a.Robot]; old == nil || !old.matchesAs(one) || old.claimed != one.claimed {
			b.advertise(b.cfg.ID, one)
			touched[a.Robot] = true
			m.Robots = append(m.Robots, one.advertisement())
		}
	}
	m.Withdrawn = without(b.robots[b.cfg.ID], stays)
	for _, name := range m.Withdrawn {
		b.withdraw(b.cfg.ID, name)
		b.disclaim(name)
		touched[name] = true
	}
	b.holdAll(touched, b.cfg.ID)
	if slices.ContainsFunc(all, func(a Advertisement) bool { return a.Refused != (b.holders[a.Robot] != b.cfg.ID) }) {
		b.refuse(true) // it was withdrawn meanwhile: to its source it is a new one
	}
}

// changedStates brings what has become of them up to date.
func (b *flooded) changedStates(m *BulletinMessage) {
	news := b.source.robotsSince(b.own.statesVersion)
	m.States, m.StatesVersion = news.Robots, news.Version
	if news.Whole {
		there := map[string]bool{}
		for i := range news.Robots {
			there[news.Robots[i].Robot] = true
		}
		m.Forgotten = without(b.own.states, there)
	}
	b.applyStates(b.own, m)
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
func (b *flooded) askOthers(of BrokerID) {
	if e := b.bulletins[of]; e != nil && e.statesVersion > 0 {
		m := e.robotsSince(0)
		m.Of, m.Whole = of, true
		b.edge.onRobots(b.cfg.ID, m)
	}
}

// take takes nothing: nobody holds the registry for others.
func (b *flooded) take(BrokerID, RegistryMessage) {}

// away reports that the registry is never out of reach.
func (b *flooded) away() bool { return false }
