package overlay

import "slices"

// bulletin is what a broker says of itself.
type bulletin struct {
	broker  BrokerID
	stamp   Stamp
	version uint64  // 0: nothing is known yet
	asked   bool    // a neighbour was asked for it in this period
	said    Instant // when the broker said this version of it

	states        map[string]*Availability // of its robots, by name
	statesVersion uint64
	statesWhole   uint64 // versions before it are not told as differences

	places map[string]*place // of the clients whose newest edge it is
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

// apply brings a bulletin up to date.
func (b *flooded) apply(e *bulletin, m *BulletinMessage) {
	e.version, e.stamp, e.asked = m.Version, max(e.stamp, m.Stamp), false
	e.said = max(e.said, b.now-Instant(max(0, m.Age)))
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
	for _, name := range sortedKeys(e.states) {
		if a := e.states[name]; m.Whole || a.Changed > version {
			m.Robots = append(m.Robots, *a)
		}
	}
	return m
}

// whole is a bulletin as it is told to those who lack it.
func (b *flooded) whole(e *bulletin) *BulletinMessage {
	m := &BulletinMessage{Broker: e.broker, Stamp: e.stamp, Version: e.version, Age: Duration(b.now - e.said), StatesVersion: e.statesVersion}
	for _, name := range sortedKeys(b.robots[e.broker]) {
		m.Robots = append(m.Robots, b.robots[e.broker][name].advertisement())
	}
	for _, name := range sortedKeys(e.states) {
		m.States = append(m.States, *e.states[name])
	}
	for _, client := range sortedKeys(e.places) {
		m.Clients = append(m.Clients, e.places[client].told())
	}
	return m
}

func (r *robot) advertisement() Advertisement {
	return Advertisement{Robot: r.name, World: r.world, Devices: r.devices, Bounds: r.bounds, Claimed: r.claimed}
}
