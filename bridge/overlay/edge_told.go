package overlay

import (
	"slices"

	"callboard/bridge/few"
	"callboard/subscribe/protocol"
)

// told is what the client of a session was told of robots: those that are away.
// All others are up, as far as it knows. It is stored with the session, and
// handed over to the client's next edge. What was written to the client's
// connection counts as told.
type told struct {
	away map[string]BrokerID // robots that it was told are away, with the broker that reads them
	// upTo tells, of source brokers, up to which version of their robots it was
	// told, when it was here last.
	upTo   few.Map[BrokerID, uint64]
	missed map[string]bool     // robots that are away by what was told, of which its hello does not know
	toldAt map[BrokerID]uint64 // the attachment under which that was, if it was handed over or may be

	// A session that comes from another edge awaits what was told there, of each
	// source broker for so many periods' ends. After those that edge is dead.
	roamed bool
	came   uint64 // under that attachment
	listed bool   // its hello has told which robots are away
	free   bool   // its attachment is not one more than the last
	awaits map[BrokerID]int
	blind  bool // which states of changes it was told is not known here
	before bool // nor where it was before, and may have been told of this broker's robots
}

// nothingAwaited is in records an attachment under which no client comes from elsewhere.
const nothingAwaited = 1

// awaitPeriods is how long a new edge waits for what was told at the old one: a
// message of the roam takes up to two periods.
const awaitPeriods = 3

func (s *session) toldAway(b *edge, v *roster, robot string) {
	if s.away == nil {
		s.away = map[string]BrokerID{}
	}
	s.away[robot] = v.broker
	delete(s.missed, robot)
	b.recordTold(s, v.broker, v.version, robot, true)
}

func (s *session) toldUp(b *edge, v *roster, robot string) {
	delete(s.away, robot)
	delete(s.missed, robot)
	b.recordTold(s, v.broker, v.version, robot, false)
}

func (b *edge) recordTold(s *session, source BrokerID, version uint64, robot string, away bool) {
	if version > 0 && source != "" {
		s.toldUpTo(source, version)
	}
	if !s.anonymous {
		b.record(&ToldRecord{Client: s.client, Source: source, Version: version, Robot: robot, Away: away})
	}
}

func (s *session) toldUpTo(source BrokerID, version uint64) {
	s.upTo.Put(source, version)
}

// unfollow forgets what was told of robots that no subscription matches any more.
func (b *edge) unfollow(s *session) {
	for _, name := range sortedKeys(s.away) {
		if robot, _ := protocol.SplitAwayName(name); !s.wants(robot) {
			source := s.away[name]
			delete(s.away, name)
			b.recordTold(s, source, 0, name, false)
		}
	}
}

// noteSeen notes up to where the client was told, for when it is not here.
func (b *edge) noteSeen(s *session) {
	for v := range b.rostersOf(s) {
		if v.known() && b.hears(s, v.broker) && s.upTo.Get(v.broker) != v.version {
			b.recordTold(s, v.broker, v.version, "", false)
		}
	}
}

// awaitTold has a session that comes from another edge, or may have been at one,
// wait for what was told there.
func (b *edge) awaitTold(s *session, free bool) {
	s.free, s.states = free, nil
	b.awaitAll(s, s.epoch.Attachment)
}

// awaitAll has a session that came under an attachment wait, also if this broker has
// begun again since.
func (b *edge) awaitAll(s *session, came uint64) {
	s.roamed, s.came, s.blind, s.awaits = true, came, true, map[BrokerID]int{}
	b.await(s, b.cfg.ID)
	for _, in := range s.inboxes {
		b.await(s, in.key.Source)
	}
}

// await has the session wait for what was told of a source broker's robots. If
// that was nothing, all that changes from now on is to be told.
func (b *edge) await(s *session, id BrokerID) {
	if len(s.awaits) == 0 {
		b.recordTold(s, "", s.came, "", false)
	}
	s.awaits[id] = awaitPeriods
	if v := b.rosters[id]; v != nil && v.known() && s.upTo.Get(id) == 0 {
		s.toldUpTo(id, v.version)
	}
}

// listAway takes the client's word for what it was told: it knows best.
func (b *edge) listAway(s *session, robots []string) {
	listed := make(map[string]bool, len(robots))
	for _, robot := range robots {
		listed[robot] = true
	}
	for _, robot := range sortedKeys(s.away) {
		if !listed[robot] {
			source := s.away[robot]
			delete(s.away, robot)
			if !s.roamed { // else it may have been told elsewhere that it is up
				s.miss(robot)
			}
			b.recordTold(s, source, 0, robot, false)
		}
	}
	for _, robot := range sortedKeys(listed) {
		if _, known := s.away[robot]; !known {
			if s.away == nil {
				s.away = map[string]BrokerID{}
			}
			s.away[robot] = ""
			b.recordTold(s, "", 0, robot, true)
		}
	}
}

func (s *session) miss(robot string) {
	if _, away := s.away[robot]; away {
		return
	}
	if s.missed == nil {
		s.missed = map[string]bool{}
	}
	s.missed[robot] = true
}

// passAwaits ends the waiting for edges that are dead. While the client is not
// here it is told nothing, and what it was told stays unknown.
func (b *edge) passAwaits(s *session) {
	if s.conn == nil {
		return
	}
	for _, id := range sortedKeys(s.awaits) {
		if s.awaits[id]--; s.awaits[id] <= 0 {
			b.settleTold(s, id)
			b.askAll(s, id)
		}
	}
}

// noteTold notes under which attachment the client was told what is known here.
func (s *session) noteTold(id BrokerID, attachment uint64) {
	if s.toldAt == nil {
		s.toldAt = map[BrokerID]uint64{}
	}
	s.toldAt[id] = max(s.toldAt[id], attachment)
}

// settleTold says that what is known here is what the client was told of a
// source broker's robots.
func (b *edge) settleTold(s *session, id BrokerID) {
	if delete(s.awaits, id); len(s.awaits) == 0 {
		b.recordTold(s, "", nothingAwaited, "", false)
	}
	if v := b.rosters[id]; v != nil {
		b.tellRoster(s, v, s.upTo.Get(id))
	}
}

// handTold hands over what the client of a session was told, to the edge where
// it is now.
func (b *edge) handTold(s *session) {
	if s.anonymous || s.newestEdge == "" || s.newestEdge == b.cfg.ID {
		return
	}
	m := &Told{Client: s.client, Session: s.birth, Attachment: s.epoch.Attachment, Whole: !s.roamed, Blind: s.blind}
	for _, id := range slices.Sorted(s.upTo.Keys()) {
		if _, awaited := s.awaits[id]; awaited {
			m.Awaited = append(m.Awaited, SeenSource{id, s.upTo.Get(id), s.toldAt[id]})
		} else {
			m.Seen = append(m.Seen, SeenSource{id, s.upTo.Get(id), s.epoch.Attachment})
		}
	}
	for _, robot := range sortedKeys(s.away) {
		m.Away = append(m.Away, AwayRobot{robot, s.away[robot]})
	}
	m.States = b.source.statesOf(Key{Client: s.client, Session: s.birth, Source: b.cfg.ID})
	for _, id := range sortedKeys(s.states) {
		for _, robot := range sortedKeys(s.states[id]) {
			if st := s.states[id][robot]; st.source != b.cfg.ID || st.over != 0 {
				m.States = append(m.States, HeldState{id, st.source, st.stamp, st.seq, st.reading, st.values, st.over, st.by})
			}
		}
	}
	if !b.registry.remembersNamed() {
		for _, in := range s.inboxes {
			if !in.ended {
				m.Named = append(m.Named, SourceBroker{in.key.Source, in.key.Stamp})
			}
		}
	}
	m.Begun = s.unheard()
	b.network.route(s.newestEdge, m)
}

// onTold takes what a client was told at an edge where it was before.
func (b *edge) onTold(m *Told) {
	s := b.sessions[m.Client]
	if s == nil || s.birth != m.Session || m.Attachment >= s.epoch.Attachment {
		return
	}
	if s.looksUp() {
		for _, source := range m.Named { // once named it stays named
			b.nameSource(s, source)
		}
	}
	b.takeBegun(s, m.Begun)
	if !s.roamed {
		return
	}
	last := s.free || m.Attachment+1 == s.came
	b.takeTold(s, m, last)
	b.takeStates(s, m)
	if !last {
		return // there may be one that knows more
	}
	s.blind = s.blind && m.Blind
	s.before = s.blind
	if m.Whole { // of others that edge has told nothing
		s.roamed = false
	}
	for _, id := range sortedKeys(s.awaits) {
		if m.covers(id) {
			b.settleTold(s, id)
		}
	}
}

// takeStates takes the states that the client was told are true. Of two words on a
// state that of the newer attachment holds.
func (b *edge) takeStates(s *session, m *Told) {
	for _, h := range m.States {
		sub := s.subs[h.ID]
		if h.Reading == nil || sub == nil || sub.since.Attachment > m.Attachment { // it was told to one that has ended
			continue
		}
		st := &farState{trueState: trueState{h.Reading, h.Values, h.Seq}, source: h.Source, stamp: h.Stamp, over: h.Over, by: h.By, at: m.Attachment}
		if old := s.states[h.ID][h.Reading.Robot]; old != nil && old.at > m.Attachment {
			if h.Over == 0 || old.over != 0 || old.again || old.at < s.epoch.Attachment || !old.alike(st) {
				continue
			}
			st.stamp, st.seq, st.at = old.stamp, old.seq, old.at // it has come here since, and the client may have dropped it
		}
		s.hadOver(st)
		s.states.put(h.ID, h.Reading.Robot, st)
	}
}

// covers reports whether all that was told of a source broker's robots is here.
func (m *Told) covers(id BrokerID) bool {
	return m.Whole || slices.ContainsFunc(m.Seen, func(x SeenSource) bool { return x.Broker == id })
}

// knownAt returns under which attachment the client was told what m says of a source
// broker's robots: an edge that awaits that itself has it from before. 0: it says
// nothing.
func (m *Told) knownAt(id BrokerID) uint64 {
	for _, x := range m.Awaited {
		if x.Broker == id {
			return x.At
		}
	}
	if m.covers(id) {
		return m.Attachment
	}
	return 0
}

// takeTold replaces what is known of the source brokers that are awaited, unless it is of
// a newer attachment.
func (b *edge) takeTold(s *session, m *Told, last bool) {
	awaited := func(id BrokerID) bool {
		_, is := s.awaits[id]
		return (is || !s.follows(b, id)) && m.knownAt(id) >= s.toldAt[id]
	}
	for _, robot := range sortedKeys(s.away) {
		if source := s.away[robot]; awaited(source) && (m.covers(source) || m.knownAt(source) > s.toldAt[source]) && !s.listed {
			delete(s.away, robot)
			b.recordTold(s, source, 0, robot, false)
		}
	}
	for _, x := range m.Seen {
		if awaited(x.Broker) {
			b.recordTold(s, x.Broker, x.Version, "", false)
		}
	}
	if s.away == nil {
		s.away = map[string]BrokerID{}
	}
	for _, x := range m.Seen {
		s.noteTold(x.Broker, m.Attachment)
	}
	for _, x := range m.Awaited {
		if before := s.upTo.Get(x.Broker); awaited(x.Broker) && (before == 0 || x.Version < before || x.At > s.toldAt[x.Broker]) {
			b.recordTold(s, x.Broker, x.Version, "", false)
			s.noteTold(x.Broker, x.At)
		}
	}
	for _, a := range m.Away {
		switch {
		case !awaited(a.Broker):
		case s.listed && last:
			s.miss(a.Robot)
		case !s.listed:
			s.away[a.Robot] = a.Broker
			b.recordTold(s, a.Broker, s.upTo.Get(a.Broker), a.Robot, true)
		}
	}
}

func (s *session) restoreTold(r *ToldRecord) {
	switch {
	case r.Version == 0:
	case r.Source != "":
		s.toldUpTo(r.Source, r.Version)
	case r.Version == nothingAwaited:
		s.came = 0
	default:
		s.came = r.Version
	}
	switch {
	case r.Robot == "":
	case r.Away:
		if s.away == nil {
			s.away = map[string]BrokerID{}
		}
		s.away[r.Robot] = r.Source
	default:
		delete(s.away, r.Robot)
	}
}
