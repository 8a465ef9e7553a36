package overlay

import (
	"iter"
	"slices"

	"callboard/subscribe/protocol"
)

// What a robot is to a client follows from two things: what the broker that
// reads it says of it, and whether that broker is in reach. An edge has both in
// a roster of each source broker that its clients have keys at, and tells the
// difference to what a client was told (edge_told.go) whenever one of them changes.
// Nothing is told by a message that could be lost: who lacks a version of a
// roster asks for it.

// outPeriods is how many answers in a row may be missing until a source broker
// is out of reach. Periods are counted and not time, so that a broker that
// stood still itself looks at what has come meanwhile first.
const outPeriods = 3

// use counts an inbox of a key of a source broker, whose robots are watched
// while there are such.
func (b *edge) use(id BrokerID) {
	v := b.rosters[id]
	if v == nil {
		v = newRoster(id)
		b.rosters[id] = v
	}
	if v.users++; v.users == 1 {
		v.missed, v.out, v.stale, v.again = 0, false, true, nil
		if b.started {
			b.watch(v)
		}
	}
}

func (b *edge) unuse(id BrokerID) {
	if v := b.rosters[id]; v != nil {
		v.users--
	}
}

func (b *edge) watch(v *roster) {
	if b.network.reaches(v.broker) {
		b.registry.watch(v.broker, &Watch{Version: v.version, Again: slices.Clone(v.again), Asked: v.asked}, v.heardOf())
	}
}

// passRosters asks again, once a period, and finds out who does not answer.
func (b *edge) passRosters() {
	for _, id := range sortedKeys(b.rosters) {
		v := b.rosters[id]
		switch {
		case id == b.cfg.ID:
			continue
		case v.users == 0:
			if v.version == 0 || !b.network.knows(id) {
				delete(b.rosters, id)
			}
			continue
		case v.missed < outPeriods || v.out:
		case v.version == 0:
			b.registry.askOthers(id, 0)
		default:
			v.out, v.stale = true, false
			b.tellReach(v)
			b.registry.askOthers(id, v.version)
			for _, s := range slices.Clone(b.order) {
				b.settleStates(s)
			}
		}
		v.missed++
		b.watch(v)
	}
}

// onAskOther answers with what is known of another source broker's robots, if that is
// newer than what whoever asks knows.
func (b *edge) onAskOther(from BrokerID, ask *Watch) {
	if v := b.rosters[ask.Of]; v != nil && v.version > ask.Version && ask.Of != b.cfg.ID {
		m := &Robots{Of: ask.Of, Version: v.version, Whole: true}
		for _, name := range v.names {
			m.Robots = append(m.Robots, *v.robots[name])
		}
		b.network.route(from, m)
	}
}

// onOther takes what another broker knows of the robots of a source broker that does
// not answer, if that is newer than what is known here.
func (b *edge) onOther(m *Robots) {
	v := b.rosterFor(m.Of, m)
	switch {
	case v == nil || m.Version <= v.version:
	case v.out:
		b.updateRoster(v, m)
	case v.version == 0:
		v.heard = b.now
		v.replace(m)
	}
}

// watchAgain asks at once, now that paths have changed: a source broker may have
// begun another life.
func (b *edge) watchAgain() {
	for _, id := range sortedKeys(b.rosters) {
		if v := b.rosters[id]; v.users > 0 && id != b.cfg.ID {
			b.watch(v)
		}
	}
}

// onKnown takes what a bulletin says of a source broker's robots, unless that broker
// was out of reach: then it has to say itself that it is back, since the bulletin may
// be of an earlier life.
func (b *edge) onKnown(id BrokerID, m *Robots) {
	if v := b.rosters[id]; v != nil && v.heardOf() {
		b.onRobots(id, m)
	}
}

// onRobots takes what a source broker says of its robots.
func (b *edge) onRobots(from BrokerID, m *Robots) {
	if m.Of != "" {
		b.onOther(m)
		return
	}
	v := b.rosterFor(from, m)
	if v == nil || m.Version == 0 {
		return
	}
	back := v.out
	v.missed, v.heard, v.out = 0, b.now, false
	if m.Asked == v.asked {
		v.again = nil
	}
	switch follows := m.Whole || m.From <= v.version && m.Version >= v.version; {
	case follows && v.stale:
		b.beginRoster(v, m)
	case follows:
		b.updateRoster(v, m)
	case m.From > v.version:
		b.watch(v) // something between was lost
	}
	if back {
		b.tellReach(v)
	}
	if v.ask {
		v.ask = false
		b.watch(v)
	}
}

// rosterFor returns the roster that a word of a source broker's robots belongs to; nil
// if there is none and the word is not of all of them. What is heard is kept, whether
// a client needs it now or not: this edge asked for a client that has left, or in an
// earlier life, and another edge may ask for what this one has heard.
func (b *edge) rosterFor(id BrokerID, m *Robots) *roster {
	v := b.rosters[id]
	if v == nil && (m.Whole || m.From == 0) && b.network.knows(id) {
		v = newRoster(id)
		b.rosters[id] = v
	}
	return v
}

func (b *edge) updateRoster(v *roster, m *Robots) {
	before := v.version
	v.version = m.Version
	named := map[string]bool{}
	for i := range m.Robots {
		a := &m.Robots[i]
		named[a.Robot] = true
		old := v.robots[a.Robot]
		if old != nil && (*old == *a || a.Changed < old.Changed && !m.Whole) {
			continue
		}
		v.put(a)
		b.tellChange(v, a, old, before)
	}
	for _, name := range slices.Clone(v.names) {
		if old := v.robots[name]; m.Whole && !named[name] {
			v.remove(name)
			b.tellChange(v, &Availability{Robot: name, Since: b.now}, old, before)
		}
	}
}

// beginRoster takes the first word of a source broker's robots since the roster
// came into use.
func (b *edge) beginRoster(v *roster, m *Robots) {
	v.stale = false
	v.replace(m)
	for _, s := range b.order {
		if left, awaited := s.awaits[v.broker]; awaited {
			b.await(s, v.broker)
			s.awaits[v.broker] = left
		}
		b.tellRoster(s, v, s.upTo.Get(v.broker))
	}
}

// tellReach tells all clients whose robots a source broker reads that it has
// gone out of reach, or is back.
func (b *edge) tellReach(v *roster) {
	for _, name := range v.names {
		if _, device := protocol.SplitAwayName(name); device == "" {
			b.tellChange(v, v.robots[name], v.robots[name], v.version)
		}
	}
}

// tellChange tells all clients that are here, and whose subscriptions match the
// robot, what has become of it. old is what was known of it at the version
// before.
func (b *edge) tellChange(v *roster, a, old *Availability, before uint64) {
	b.selectors.event++
	robot, _ := protocol.SplitAwayName(a.Robot)
	for _, s := range b.order {
		if !b.hears(s, v.broker) || !s.selects(&b.selectors, robot) {
			continue
		}
		var lost *uint64
		if old != nil && !a.Uncounted && a.Lost > old.Lost {
			n := a.Lost - old.Lost
			lost = &n
		}
		b.tellState(s, v, a, before, lost)
	}
}

// hears reports whether a client is to be told at once of a source broker's robots.
func (b *edge) hears(s *session, id BrokerID) bool {
	if s.conn == nil || !s.conn.ready {
		return false
	}
	_, awaited := s.awaits[id]
	return !awaited && s.follows(b, id)
}

// follows reports whether the session has a key at a source broker. This broker's
// own robots all clients here are told of.
func (s *session) follows(b *edge, id BrokerID) bool {
	return id == b.cfg.ID || slices.ContainsFunc(s.inboxes, func(in *inbox) bool { return in.key.Source == id })
}

// upAt returns the broker that reads a robot and is in reach; nil if the robot, or
// the device, is away for the session.
func (b *edge) upAt(s *session, name string) (*roster, *Availability) {
	for v := range b.rostersOf(s) {
		if a := v.find(name); a != nil && a.Up && v.known() && !v.out {
			return v, a
		}
	}
	return nil, nil
}

// rostersOf lists the rosters that a client is told by: that of the robots of this
// broker, and those of the source brokers that it has keys at.
func (b *edge) rostersOf(s *session) iter.Seq[*roster] {
	return func(yield func(*roster) bool) {
		if !yield(b.rosters[b.cfg.ID]) {
			return
		}
		for i, in := range s.inboxes {
			id := in.key.Source
			if id != b.cfg.ID && (i == 0 || s.inboxes[i-1].key.Source != id) && !yield(b.rosters[id]) {
				return
			}
		}
	}
}

// tellState tells a client the difference between what a robot is and what the
// client was told of it, up to version seen of the roster; 0: nothing.
func (b *edge) tellState(s *session, v *roster, a *Availability, seen uint64, lost *uint64) {
	robot, device := protocol.SplitAwayName(a.Robot)
	if !s.conn.rights.allow(robot) {
		return
	}
	at, up := b.upAt(s, a.Robot)
	_, away := s.away[a.Robot]
	switch {
	case up == nil && !away:
		since := a.Since
		if a.Up {
			since = v.heard // its broker is out of reach
		}
		b.tellRobot(s, v, a.Robot, protocol.RobotAway, since, nil)
		s.toldAway(b, v, a.Robot)
	case up == nil:
	case away:
		s.toldUp(b, at, a.Robot)
		b.tellRobot(s, at, a.Robot, protocol.RobotUp, up.Since, nil)
		if device == "" {
			b.askAgain(s, at, robot)
		}
	case at == v && (seen > 0 && a.Gone > seen || s.missed[a.Robot]): // it was away meanwhile
		b.tellRobot(s, v, a.Robot, protocol.RobotAway, a.Before, nil)
		b.tellRobot(s, v, a.Robot, protocol.RobotUp, a.Since, nil)
		s.toldUp(b, v, a.Robot)
	}
	if up != nil && device == "" {
		b.tellDevices(s, robot)
	}
	if at == v && seen > 0 && a.Dropped > seen {
		b.recordTold(s, v.broker, v.version, "", false)
		b.tellRobot(s, v, a.Robot, protocol.RobotOverflow, b.now, lost)
	}
}

// tellDevices tells a client of the devices of a robot that it takes for away and
// that are up, since the robot's session or its broker is another one.
func (b *edge) tellDevices(s *session, robot string) {
	for _, name := range s.awayDevices(robot) {
		if at, up := b.upAt(s, name); up != nil && at.robots[name] == nil {
			s.toldUp(b, at, name)
			b.tellRobot(s, at, name, protocol.RobotUp, up.Since, nil)
		}
	}
}

// awayDevices returns the devices of a robot that the client was told are away.
func (s *session) awayDevices(robot string) (names []string) {
	for name := range s.away {
		if of, device := protocol.SplitAwayName(name); device != "" && of == robot {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// tellRoster tells a client of all robots of a roster that are not what it was told.
func (b *edge) tellRoster(s *session, v *roster, seen uint64) {
	if v == nil || !v.known() || !b.hears(s, v.broker) {
		return
	}
	for _, name := range v.names {
		a := v.robots[name]
		robot, device := protocol.SplitAwayName(name)
		_, away := s.away[name]
		news := !a.Up || away || s.missed[name] || seen > 0 && (a.Gone > seen || a.Dropped > seen) ||
			device == "" && (v.out || len(s.away) > 0 && len(s.awayDevices(name)) > 0)
		if news && s.wants(robot) {
			b.tellState(s, v, a, seen, nil)
		}
	}
	if s.upTo.Get(v.broker) != v.version {
		b.recordTold(s, v.broker, v.version, "", false)
	}
}

// tellRosters does so for all source brokers that the session has keys at.
func (b *edge) tellRosters(s *session, seen func(BrokerID) uint64) {
	for v := range b.rostersOf(s) {
		b.tellRoster(s, v, seen(v.broker))
	}
}

func (b *edge) tellRobot(s *session, v *roster, name, state string, since Instant, lost *uint64) {
	robot, device := protocol.SplitAwayName(name)
	b.send(s.conn.id, &protocol.Robot{Op: protocol.OpRobot, Robot: robot, Device: device, Source: b.wordOf(s, v.broker), State: state, Lost: lost, Since: since.Seconds()})
}

// wordOf returns the word by which a client knows a source broker.
func (b *edge) wordOf(s *session, id BrokerID) (word string) {
	if id == b.cfg.ID {
		word = SourceWord(id, b.source.present())
	}
	for _, in := range s.inboxes {
		if in.key.Source == id && (word == "" || !in.ended) {
			word = in.word
		}
	}
	return word
}
