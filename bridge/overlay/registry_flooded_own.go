package overlay

import "slices"

// register and tellStates have the own bulletin brought up to date at the end of the
// step.
func (b *flooded) register() { b.robotNews = true }

func (b *flooded) tellStates() { b.stateNews = true }

// endStep answers the edge, and tells what is new here.
func (b *flooded) endStep() {
	for _, id := range sortedKeys(b.watches) {
		if e := b.bulletins[id]; e != nil && e.statesVersion > 0 {
			b.edge.onKnown(id, e.robotsSince(b.watches[id]))
		}
	}
	clear(b.watches)
	if b.robotNews || b.stateNews || len(b.moved) > 0 || b.own.stamp != b.source.present() {
		b.tellNews()
	}
}

// tellNews has the own bulletin tell of what is new here.
func (b *flooded) tellNews() {
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
	m.Version, e.said = e.version, b.now
	b.flood(m, "")
}

// changedRobots brings the robots of the own bulletin up to date.
func (b *flooded) changedRobots(m *BulletinMessage) {
	touched, stays := map[string]bool{}, map[string]bool{}
	all := b.source.registration(true).Robots
	for _, a := range all {
		stays[a.Robot] = true
		one := &robot{name: a.Robot, world: a.World, devices: a.Devices, bounds: a.Bounds, claimed: a.Claimed}
		if old := b.robots[b.cfg.ID][a.Robot]; old == nil || !old.matchesAs(one) || old.claimed != one.claimed {
			b.advertise(b.cfg.ID, one)
			touched[a.Robot] = true
			m.Robots = append(m.Robots, one.advertisement())
		}
	}
	m.Withdrawn = without(b.robots[b.cfg.ID], stays)
	for _, name := range m.Withdrawn {
		b.withdraw(b.cfg.ID, name)
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
