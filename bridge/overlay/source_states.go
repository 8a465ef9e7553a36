package overlay

import (
	"cmp"
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
	(*t)[id][r.Robot] = &trueState{r.of([]protocol.Matched{{Values: values}}), values, seq}
}

func (t trueStates) remove(id, robot string) {
	if delete(t[id], robot); len(t[id]) == 0 {
		delete(t, id)
	}
}

// of lists a robot's true states by device and by what their subscriptions get of a
// reading, each list by subscription: what one notification can say of them.
func (t trueStates) of(robot string) (all [][]protocol.Matched, readings []*Reading) {
	type device struct {
		interf            string
		index             int
		reading, messages bool
	}
	no := false
	at := map[device]int{}
	for _, id := range sortedKeys(t) {
		st := t[id][robot]
		if st == nil {
			continue
		}
		named := []protocol.Matched{{ID: id, State: &no, Values: st.values}}
		d := device{st.reading.Interface, st.reading.Index, protocol.WantsReading(named), protocol.WantsMessages(named)}
		i, known := at[d]
		if !known {
			i = len(all)
			at[d], all, readings = i, append(all, nil), append(readings, st.reading)
		}
		if st.reading.Time > readings[i].Time {
			readings[i] = st.reading
		}
		all[i] = append(all[i], named...)
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
	return sortedKeys(found)
}

// endStates gives that states which were true of a robot have ended: it is away.
// Most are told by the robot's session as it ends; not those of a session that
// ended with the broker's process.
func (b *source) endStates(robot string) {
	var with []*entry
	for _, e := range b.entries {
		if len(e.trues) > 0 && !e.ended {
			with = append(with, e)
		}
	}
	slices.SortFunc(with, func(e, f *entry) int { return cmp.Compare(e.handle, f.handle) })
	for _, e := range with {
		b.endStatesOf(e, robot)
	}
}

func (b *source) endStatesOf(e *entry, robot string) {
	all, readings := e.trues.of(robot)
	for _, names := range all {
		for i := range names {
			e.trues.remove(names[i].ID, robot)
		}
	}
	for i, names := range all {
		again := *readings[i]
		again.Arrived, again.refs, again.bare = 0, 0, nil
		if names = e.liveNames(names, e.set); len(names) == 0 {
			continue
		}
		b.giveOr(e, &again, names)
	}
}

// forgetStates forgets the states of subscriptions that end or begin anew.
func (b *source) forgetStates(e *entry, drop []string, put []*sub) {
	forget := func(id string) {
		if e.trues[id] == nil {
			return
		}
		delete(e.trues, id)
		if e.stored() {
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

// givePassing returns a notification that is stored as passed over, unless a set is not
// in force yet.
func (b *source) givePassing(q *sequence, r *Reading, names []protocol.Matched) (seq uint64, given bool) {
	e := b.entries[q.handle]
	if e.set > e.installed {
		return 0, false
	}
	seq = e.next
	if b.give(e, r, names, e.set, nil) != nil {
		b.record(&PassedRecord{Handle: e.handle, From: seq, To: seq})
	}
	return seq, true
}

// giveOr gives a notification of the newest set, or keeps it until that is in force.
func (b *source) giveOr(e *entry, r *Reading, names []protocol.Matched) {
	if e.set > e.installed {
		b.holdEarly(e, r, names, e.set)
	} else {
		b.give(e, r, names, e.set, nil)
	}
}

// onAgain is what a source broker does then.
func (b *source) onAgain(again *StateAgain) {
	e := b.keys[again.Key]
	if e == nil || e.ended {
		return
	}
	if again.Since != (Epoch{}) {
		b.beginAgain(e, again)
	} else if a := b.own.robots[again.Robot]; a != nil && a.Up {
		b.giveAgain(e, again)
	}
}

// beginAgain has a subscription begin anew that has ended and begun again, alike,
// where the client was before, if this source broker has not heard of that.
func (b *source) beginAgain(e *entry, again *StateAgain) {
	old := e.members.subs[again.ID]
	switch {
	case old == nil || old.heard.Compare(again.Since) >= 0:
	case e.inbox != nil:
		b.edge.beginAgain(e.inbox, old)
	default:
		b.changeMembers(e, []string{again.ID}, []Member{{old.Subscription, again.Since}}, false)
	}
}

// statesOf lists the states that a key of a session was given as true.
func (b *source) statesOf(k Key) (all []HeldState) {
	e := b.live(k)
	if e == nil {
		return nil
	}
	for _, id := range sortedKeys(e.trues) {
		for _, robot := range sortedKeys(e.trues[id]) {
			st := e.trues[id][robot]
			all = append(all, HeldState{id, b.cfg.ID, e.key.Stamp, st.seq, st.reading, st.values, 0, ""})
		}
	}
	return all
}

// giveAgain gives each by itself, with the reading that it was given with: an edge
// leaves out what the client has.
func (b *source) giveAgain(e *entry, again *StateAgain) {
	yes := true
	for _, id := range sortedKeys(e.trues) {
		st := e.trues[id][again.Robot]
		if st == nil || again.ID != "" && (id != again.ID || st.seq > again.Seq) { // or it is under way
			continue
		}
		r := *st.reading
		r.Arrived, r.refs, r.bare = 0, 0, nil
		if names := e.liveNames([]protocol.Matched{{ID: id, State: &yes, Values: st.values}}, e.set); len(names) > 0 {
			b.giveOr(e, &r, names)
		}
	}
}
