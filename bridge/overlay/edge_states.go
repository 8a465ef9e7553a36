package overlay

import (
	"cmp"
	"slices"

	"callboard/subscribe/protocol"
)

// farState is a state of another source broker's robot that has come to a client
// as true, or was told here to be false since that broker is out of reach.
type farState struct {
	trueState
	source BrokerID
	stamp  Stamp  // of the key whose number it has
	over   uint64 // the number by which the client was told that it is false, while it is true for the source broker; 0: it was not
	by     string // the source word of the edge's key that has this number
	unsure bool   // whether the client has had that number is not known
	again  bool   // it was given again, and told so
	at     uint64 // the attachment under which the client was told so
}

// due reports whether the client is to be told more of a state: that it is false, or
// that it is true again.
func (st *farState) due(away, out bool) bool {
	if away && out {
		return st.over == 0 || st.unsure
	}
	return !away && !out && st.over != 0
}

// alike reports whether a state is the same as another one, given again.
func (st *farState) alike(other *farState) bool {
	return st != nil && st.source == other.source && st.reading.Interface == other.reading.Interface && st.reading.Time == other.reading.Time
}

// farStates are those of a session, by subscription and robot.
type farStates map[string]map[string]*farState

func (t *farStates) put(id, robot string, st *farState) {
	if *t == nil {
		*t = farStates{}
	}
	if (*t)[id] == nil {
		(*t)[id] = map[string]*farState{}
	}
	(*t)[id][robot] = st
}

func (t farStates) remove(id, robot string) {
	if delete(t[id], robot); len(t[id]) == 0 {
		delete(t, id)
	}
}

// judge leaves out states that are what the client was told already: false, told
// here in its source broker's place; and true, given again by that broker.
func (s *session) judge(k Key, seq uint64, r *Reading, names []protocol.Matched) []protocol.Matched {
	var kept []protocol.Matched
	all := true
	for i := range names {
		n := &names[i]
		if n.State == nil || s.tells(k, seq, r, n) {
			if !all {
				kept = append(kept, *n)
			}
			continue
		}
		if all {
			all, kept = false, append(kept, names[:i]...)
		}
	}
	if all {
		return names
	}
	return kept
}

// tells takes a state that comes in its turn, and reports whether it is news to the
// client. One that has come to an edge before the client may have had, and drops it
// then: if it was told since that it is false, what is given again tells it.
func (s *session) tells(k Key, seq uint64, r *Reading, n *protocol.Matched) bool {
	st := s.states[n.ID][r.Robot]
	fresh := st == nil || st.source != k.Source || st.stamp != k.Stamp || seq > st.seq
	if !fresh && st.over != 0 {
		return false
	}
	if *n.State {
		now := &farState{trueState: trueState{r, n.Values, seq}, source: k.Source, stamp: k.Stamp, at: s.epoch.Attachment}
		now.again = fresh && st.alike(now)
		had := now.again && (st.over == 0 || st.unsure) && !s.mayBeOver(st)
		if had {
			now.over, now.by, now.unsure = st.over, st.by, st.unsure
		}
		s.states.put(n.ID, r.Robot, now)
		return !had
	}
	if st == nil {
		return true
	}
	s.states.remove(n.ID, r.Robot)
	in := s.inboxOf(st.by)
	return st.over == 0 || in == nil || in.buf.num < st.over // the client may not have had it
}

// mayBeOver reports whether the client may have been told that a true state is false
// by an edge that does not know it: one that has begun again since, or is dead. What has
// come here since the hello it may have had before, and dropped. Only what was given
// again counts.
func (s *session) mayBeOver(st *farState) bool { return s.blind && !st.again }

// settleStates sees that a client is told what its source broker cannot tell:
// that states are false which were true of robots whose broker is out of reach,
// once all that had come of that broker is sent. And that true ones are given
// again, once it is back. If it is not known then whether the client was told that
// they are false, it is told so first.
func (b *edge) settleStates(s *session) {
	if len(s.states) == 0 || s.conn == nil || !s.conn.ready {
		return
	}
	var due [][2]string
	for id, of := range s.states { // a list to be sorted: order decides nothing
		for robot, st := range of {
			_, away := s.away[robot]
			v := b.rosters[st.source]
			if v != nil && s.subs[id] != nil && st.due(away, v.out) {
				due = append(due, [2]string{id, robot})
			}
		}
	}
	slices.SortFunc(due, func(x, y [2]string) int { return cmp.Or(cmp.Compare(x[0], y[0]), cmp.Compare(x[1], y[1])) })
	for _, d := range due {
		id, robot := d[0], d[1]
		st := s.states[id][robot]
		if st == nil { // given again for one before it
			continue
		}
		v := b.rosters[st.source]
		if st.source == b.cfg.ID && !b.stillTrue(s, st, id) { // what has come since has told it
			s.states.remove(id, robot)
			continue
		}
		if (st.over == 0 || st.unsure) && !s.unsent(st.source) {
			b.tellInPlace(s, st, id)
		}
		if s.conn == nil { // L4
			return
		}
		if !v.out && !st.unsure {
			b.askAgain(s, v, robot)
		}
	}
}

// stillTrue reports whether the source here has given nothing since that a state of its
// own follows from.
func (b *edge) stillTrue(s *session, st *farState, id string) bool {
	return s.local != nil && slices.ContainsFunc(b.source.statesOf(s.local.key), func(h HeldState) bool {
		return h.ID == id && h.Reading.Robot == st.reading.Robot && h.Stamp == st.stamp && h.Seq == st.seq
	})
}

// tellInPlace tells a client in the place of a source broker that a state is
// false: by a notification of its key here, which goes out at once or not at all.
// One that came later could come behind what that broker gives when it is back.
// So it is stored as passed over, and passed over when the connection ends.
func (b *edge) tellInPlace(s *session, st *farState, id string) {
	if s.local == nil {
		b.enter(s, nil)
	}
	in := s.local
	if in == nil || s.conn == nil {
		return
	}
	no := false
	r := *st.reading
	r.Arrived, r.refs, r.bare = 0, 0, nil
	seq, given := b.source.givePassing(in.sequence, &r, []protocol.Matched{{ID: id, State: &no, Values: st.values}})
	if !given {
		return
	}
	if i, found := in.buf.find(seq); found && i >= in.buf.next { // something waits before it, or the window has no room
		b.pass(in.sequence, i)
		in.buf.trim()
		return
	}
	st.over, st.by, st.unsure, st.at = seq, in.word, false, s.epoch.Attachment
}

// passInPlace passes over what was told in the place of source brokers and not
// acknowledged: the connection is gone. Its hello shows what the client has had.
func (b *edge) passInPlace(s *session) {
	for _, of := range s.states { // each by itself: order decides nothing
		for _, st := range of {
			if in := s.inboxOf(st.by); in != nil && in.own {
				if i, found := in.buf.find(st.over); found && st.over > in.buf.num {
					in.buf.kill(i)
				}
			}
		}
	}
}

// hadInPlace takes from the numbers of a hello which of what was told in the place
// of source brokers the client has had.
func (s *session) hadInPlace() {
	for _, of := range s.states { // each by itself: order decides nothing
		for _, st := range of {
			s.hadOver(st)
		}
	}
}

// hadOver does so for one. What the hello does not tell the client may have had all the
// same: a connection before may have gone on until the welcome. If it has had that it is
// false, but not that it is true, it is told that now.
func (s *session) hadOver(st *farState) {
	if st.over == 0 {
		return
	}
	by, in := s.inboxOf(st.by), s.follower(st.source)
	st.unsure = by == nil || by.resumed < st.over
	if !st.unsure && in != nil && in.key.Stamp == st.stamp && in.resumed < st.seq && st.seq <= in.buf.last {
		st.over, st.by = 0, ""
	}
}

// unsent reports whether something of a source broker waits to be sent.
func (s *session) unsent(source BrokerID) bool {
	return slices.ContainsFunc(s.inboxes, func(in *inbox) bool {
		return in.key.Source == source && in.buf.next < len(in.buf.items)
	})
}

// askAgain has a source broker that is back give again what is true of a robot,
// if the client was told in its place that it is false, or may have been: what
// it was told at an edge that is dead nobody knows.
func (b *edge) askAgain(s *session, v *roster, robot string) {
	in := s.follower(v.broker)
	if in == nil {
		return
	}
	var all []StateAgain
	for id, of := range s.states { // a list to be sorted: order decides nothing
		if st := of[robot]; st != nil && st.over != 0 && st.source == v.broker {
			again := StateAgain{Key: in.key, Robot: robot, ID: id, Seq: st.seq}
			if in.far != nil {
				again.Seq = in.buf.last // an edge before may have passed it over in what has come
			}
			all = append(all, again)
		}
	}
	slices.SortFunc(all, func(x, y StateAgain) int { return cmp.Compare(x.ID, y.ID) })
	doubt := s.blind && (s.roamed || s.before || v.broker != b.cfg.ID) // nobody else tells in the place of the broker where a client is
	if doubt && s.anySub(func(sub *sub) bool { return sub.Trigger == protocol.TriggerChange }) {
		b.stats.Doubted++
		all = []StateAgain{{Key: in.key, Robot: robot}}
	}
	if len(all) == 0 {
		return
	}
	for _, again := range all {
		if v.broker == b.cfg.ID {
			b.source.onAgain(&again)
		} else {
			b.askFor(v, again)
		}
	}
	for id := range s.states { // each by itself: order decides nothing
		if v.broker == b.cfg.ID {
			s.states.remove(id, robot)
		}
	}
}

// askFor asks until there is an answer.
func (b *edge) askFor(v *roster, again StateAgain) {
	at := slices.IndexFunc(v.again, func(a StateAgain) bool {
		seq := a.Seq
		a.Seq = again.Seq
		return a == again && seq <= again.Seq
	})
	switch {
	case at < 0:
		v.again = append(v.again, again)
	case v.again[at] == again:
		return
	default:
		v.again[at] = again
	}
	v.asked, v.ask = max(v.asked+1, uint64(max(b.now, 0))), true
}

// askAll does so for all of a source broker's robots that are up, if the client's
// edge before is dead and the client has not said which it takes for away.
func (b *edge) askAll(s *session, id BrokerID) {
	v := b.rosters[id]
	if v == nil || !v.known() || v.out || s.listed || !b.hears(s, id) {
		return
	}
	for _, name := range v.names {
		if robot, device := protocol.SplitAwayName(name); device == "" && v.robots[name].Up && s.wants(robot) {
			b.askAgain(s, v, robot)
		}
	}
}
