package overlay

import (
	"cmp"
	"maps"
	"slices"

	"callboard/subscribe/protocol"
)

// trueState is a state of a subscription to changes and a robot that was given
// as true, and not as false since: what it was given with.
type trueState struct {
	reading *Reading
	values  []byte // of a subscription that selects
	seq     uint64
}

// trueStates are those of a key, by subscription and robot.
type trueStates map[string]map[string]*trueState

// note takes what a key was given.
func (t *trueStates) note(r *Reading, names []protocol.Matched, seq uint64) {
	for i := range names {
		n := &names[i]
		switch {
		case n.State == nil:
		case *n.State:
			t.put(n.ID, r, n.Values, seq)
		default:
			t.remove(n.ID, r.Robot)
		}
	}
}

func (t *trueStates) put(id string, r *Reading, values []byte, seq uint64) {
	if *t == nil {
		*t = trueStates{}
	}
	if (*t)[id] == nil {
		(*t)[id] = map[string]*trueState{}
	}
	(*t)[id][r.Robot] = &trueState{r, values, seq}
}

func (t trueStates) remove(id, robot string) {
	if delete(t[id], robot); len(t[id]) == 0 {
		delete(t, id)
	}
}

// of lists a robot's true states by device, each list by subscription: what one
// notification can say of them.
func (t trueStates) of(robot string) (all [][]protocol.Matched, readings []*Reading) {
	type device struct {
		interf string
		index  int
	}
	no := false
	at := map[device]int{}
	for _, id := range slices.Sorted(maps.Keys(t)) {
		st := t[id][robot]
		if st == nil {
			continue
		}
		d := device{st.reading.Interface, st.reading.Index}
		i, known := at[d]
		if !known {
			i = len(all)
			at[d], all, readings = i, append(all, nil), append(readings, st.reading)
		}
		if st.reading.Time > readings[i].Time {
			readings[i] = st.reading
		}
		all[i] = append(all[i], protocol.Matched{ID: id, State: &no, Values: st.values})
	}
	return all, readings
}

// robots lists the robots that states are true of.
func (t trueStates) robots() []string {
	found := map[string]bool{}
	for _, of := range t { // a set: order decides nothing
		for robot := range of {
			found[robot] = true
		}
	}
	return slices.Sorted(maps.Keys(found))
}

// endStates gives that states which were true of a robot have ended: it is away.
// Most are told by the robot's session as it ends; not those of a session that
// ended with the broker's process.
func (b *Broker) endStates(robot string) {
	var with []*entry
	for _, e := range b.entries {
		if len(e.trues) > 0 && !e.inbox.ended {
			with = append(with, e)
		}
	}
	slices.SortFunc(with, func(e, f *entry) int { return cmp.Compare(e.handle, f.handle) })
	for _, e := range with {
		b.endStatesOf(e, robot)
	}
}

func (b *Broker) endStatesOf(e *entry, robot string) {
	all, readings := e.trues.of(robot)
	for _, names := range all {
		for i := range names {
			e.trues.remove(names[i].ID, robot)
		}
	}
	for i, names := range all {
		again := *readings[i]
		again.Arrived, again.refs = 0, 0
		if names = e.inbox.liveNames(names, e.set); len(names) == 0 {
			continue
		}
		b.giveOr(e, &again, names)
	}
}

// forgetStates forgets the states of subscriptions that end or begin anew.
func (b *Broker) forgetStates(e *entry, drop []string, put []*sub) {
	forget := func(id string) {
		if e.trues[id] == nil {
			return
		}
		delete(e.trues, id)
		if e.inbox.stored() {
			b.record(&StatesEnded{Handle: e.handle, ID: id})
		}
	}
	for _, id := range drop {
		forget(id)
	}
	for _, sub := range put {
		forget(sub.ID)
	}
}

// farState is a state of another source broker's robot that has come to a client
// as true, or was told here to be false since that broker is out of reach.
type farState struct {
	trueState
	source BrokerID
	over   bool // the client was told that it is false: the source broker, that it is true
	handed bool // it is from the client's edge before
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
func (s *session) judge(source BrokerID, seq uint64, r *Reading, names []protocol.Matched) []protocol.Matched {
	var kept []protocol.Matched
	all := true
	for i := range names {
		n := &names[i]
		if n.State == nil || s.tells(source, seq, r, n) {
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

// tells takes a state that comes, and reports whether it is news to the client.
func (s *session) tells(source BrokerID, seq uint64, r *Reading, n *protocol.Matched) bool {
	st := s.states[n.ID][r.Robot]
	if st != nil {
		st.handed = false
	}
	switch {
	case st != nil && st.source == source && seq <= st.seq: // it came before
		return true
	case *n.State:
		again := st != nil && st.source == source && !st.over && st.reading.Interface == r.Interface && st.reading.Time == r.Time
		s.states.put(n.ID, r.Robot, &farState{trueState: trueState{r, n.Values, seq}, source: source})
		return !again
	case st == nil:
		return true
	}
	s.states.remove(n.ID, r.Robot)
	return !st.over
}

// settleStates tells a client that states are false which were true of robots
// whose broker is out of reach: once all that had come of that broker is sent.
// The notification is one of this broker's own.
func (b *Broker) settleStates(s *session) {
	if len(s.states) == 0 || s.conn == nil || !s.conn.ready {
		return
	}
	no := false
	for _, id := range slices.Sorted(maps.Keys(s.states)) {
		for _, robot := range slices.Sorted(maps.Keys(s.states[id])) {
			st := s.states[id][robot]
			v := b.rosters[st.source]
			if _, away := s.away[robot]; !away || st.over || v == nil || !v.out || s.unsent(st.source) || s.subs[id] == nil {
				continue
			}
			if s.local == nil {
				b.enter(s, nil)
			}
			if s.local == nil || s.conn == nil { // L4
				return
			}
			st.over = true
			r := *st.reading
			r.Arrived, r.refs = 0, 0
			b.giveOr(s.local, &r, []protocol.Matched{{ID: id, State: &no, Values: st.values}})
		}
	}
}

// unsent reports whether something of a source broker waits to be sent.
func (s *session) unsent(source BrokerID) bool {
	return slices.ContainsFunc(s.inboxes, func(in *inbox) bool {
		return in.key.Source == source && in.buf.next < len(in.buf.items)
	})
}

// giveOr gives a notification of the newest set, or keeps it until that is in force.
func (b *Broker) giveOr(e *entry, r *Reading, names []protocol.Matched) {
	if e.set > e.installed {
		b.holdEarly(e, r, names, e.set)
	} else {
		b.give(e, r, names, e.set, nil)
	}
}

// askAgain has a source broker that is back give again what is true of a robot,
// if the client was told in its place that it is false.
func (b *Broker) askAgain(s *session, v *roster, robot string) {
	over := false
	for _, of := range s.states { // one is enough, whichever
		st := of[robot]
		over = over || st != nil && st.over && st.source == v.broker
	}
	switch {
	case !over:
	case v.broker == b.cfg.ID:
		if s.local != nil {
			b.giveAgain(s.local, robot)
		}
		for id := range s.states { // each by itself: order decides nothing
			s.states.remove(id, robot)
		}
	default:
		for _, in := range s.inboxes {
			if in.key.Source == v.broker && !in.ended {
				v.again = append(v.again, StateAgain{Key: in.key, Robot: robot})
				v.asked, v.ask = max(v.asked+1, uint64(max(b.now, 0))), true
			}
		}
	}
}

// onAgain is what a source broker does then.
func (b *Broker) onAgain(again *StateAgain) {
	e := b.keys[again.Key]
	if a := b.own.robots[again.Robot]; e != nil && !e.inbox.ended && a != nil && a.Up {
		b.giveAgain(e, again.Robot)
	}
}

func (b *Broker) giveAgain(e *entry, robot string) {
	yes := true
	all, readings := e.trues.of(robot)
	for i, names := range all {
		for j := range names {
			names[j].State = &yes
		}
		r := *readings[i]
		r.Arrived, r.refs = 0, 0
		if names = e.inbox.liveNames(names, e.set); len(names) > 0 {
			b.giveOr(e, &r, names)
		}
	}
}
