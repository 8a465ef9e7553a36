package standbytest

import (
	"slices"

	"callboard/bridge/overlay"
	"callboard/bridge/standby"
)

// check is what must hold, and what is known for it.
type check struct {
	promised map[standby.Position]standby.Stands // batches that led to what went out, and how their side stood
	batches  []standby.Position                  // of them, in order
	lossy    bool                                // something promised is lost, for a cause
	forked   bool                                // two may have been active, for a cause
	ordered  bool                                // a lost start
	finale   bool
	marks    map[string]int

	powerCuts int
	resumed   [2]overlay.Instant // when each side last stood still
}

func newCheck() check {
	return check{promised: map[standby.Position]standby.Stands{}, marks: map[string]int{}}
}

// most: the outputs of no more batches wait than may, but for those that one input
// leads to.
func (w *world) most(s *side) {
	if behind := s.m.Last().Index - s.m.Released(); behind > uint64(s.most+12) {
		failf("%s has %d batches that are not released, and %d may", s.name, behind, s.most)
	}
}

// promise: what a side's step n puts out goes out, so all that led to it is promised.
func (w *world) promise(s *side, n int) {
	other := s.other()
	if w.Witness && other.on && other.m.Term > s.m.Term {
		if s.m.Stands == standby.Alone {
			failf("two are active: alone in %d, and in %d", s.m.Term, other.m.Term)
		}
		stood := w.resumed[s.at] >= other.since-2*flight
		if w.now-other.since > 2*flight && w.slow == 0 && !stood {
			failf("%s still tells in term %d while %d is active", s.name, s.m.Term, other.m.Term)
		}
	}
	for _, b := range s.log[s.sent:n] {
		if _, is := w.promised[b.at]; !is {
			w.promised[b.at] = s.m.Stands
			w.batches = append(w.batches, b.at)
		}
	}
	s.sent = max(s.sent, n)
}

// begins: a side that becomes active has all that was promised.
func (w *world) begins(s *side, o *standby.Begin) {
	have := map[standby.Position]bool{}
	for _, b := range s.log {
		have[b.at] = true
	}
	var missing []standby.Position
	both := false
	for _, at := range w.batches {
		if how, is := w.promised[at]; is && !have[at] {
			missing = append(missing, at)
			both = both || how == standby.Both
		}
	}
	switch {
	case o.StoreLost && len(w.promised) == 0: // the pair's first term
	case o.StoreLost:
		w.marks["lost starts"]++
		w.lossy = true
		if both && !s.state.Lost && !w.forked && !w.ordered {
			failf("what was promised in step is lost")
		}
		if w.powerCuts == 0 && w.after == 0 && !w.forked && !w.ordered {
			failf("a lost start though no store was lost")
		}
	case len(missing) > 0:
		if !w.forked {
			failf("%s begins term %d without %d promised steps, %v", s.name, o.Term, len(missing), missing[0])
		}
		w.lossy = true
	}
	for _, at := range missing {
		delete(w.promised, at)
	}
}

// bySilence looks whether a term has begun without a voice: that may be two at once,
// if both lines are bad.
func (w *world) bySilence(s *side, in standby.Input, before [5]uint64) {
	now := s.m.Stats().Terms
	for kind := range before {
		if n := now[kind] - before[kind]; n > 0 {
			w.marks[standby.Kind(kind).String()] += int(n)
		}
	}
	lost := now[standby.LostStart] > before[standby.LostStart]
	if !lost && now[standby.TakeOver] == before[standby.TakeOver] && now[standby.GoOn] == before[standby.GoOn] {
		return
	}
	switch x := in.(type) {
	case *standby.FromWitness:
		return
	case *standby.FromOther:
		if _, is := x.Message.(*standby.Voice); is {
			return
		}
	}
	w.marks["by silence"]++
	other := s.other()
	bad := w.now-min(w.bad[0], w.bad[1]) <= gone+flight
	switch {
	case other.on && other.still == 0:
		stood := w.now-w.resumed[other.at] <= 2*gone
		if !bad && !lost && !stood {
			failf("two at once though a line held")
		}
		if bad || lost {
			w.forked = true
			w.marks["forks"]++
		}
	case bad || lost:
		w.forked = true
	}
}

// declared: a client is told of a gap.
func (w *world) declared(c *client, source string) {
	w.marks["gaps"]++
	if !w.lossy && !w.forked {
		failf("%s: %s ends where nothing was lost", c.name, source)
	}
}

// sound reports whether the pair is in step, and the clients hang on the active.
func (w *world) sound() bool {
	x, y := w.sides[0], w.sides[1]
	if x.on == y.on || !x.up || !y.up {
		return false
	}
	if y.on {
		x, y = y, x
	}
	if x.m.Stands != standby.Both || y.m.Stands != standby.In || y.state.Lost || x.m.Term != y.m.Term {
		return false
	}
	for _, c := range w.clients {
		if !c.welcomed || c.with != x || x.conns[c.conn] != c {
			return false
		}
	}
	return true
}

// served reports whether there is service, with a witness.
func (w *world) served() bool {
	for _, s := range w.sides {
		if !s.up || !s.on || s.still > 0 {
			continue
		}
		ok := s.m.Released()+6 >= s.m.Last().Index
		for _, c := range w.clients {
			ok = ok && c.welcomed && c.with == s && s.conns[c.conn] == c && !w.broken[c.conn] && w.cut[way{s.at, c.at, standby.Outer}] == 0
		}
		if ok {
			return true
		}
	}
	return false
}

// finish: once all is mended and quiet, everybody has everything.
func (w *world) finish() {
	w.finale, w.drop, w.slow = true, 0, 0
	quiet := w.now
	for _, c := range w.clients {
		if c.confirmed != c.revision {
			c.change()
		}
	}
	done := func() bool {
		return w.now > quiet+12*eighth && w.sound() && len(w.active().held) == 0 && !slices.ContainsFunc(w.clients, func(c *client) bool { return !c.complete() })
	}
	if !w.until(w.now+30*period, done) {
		failf("it is never complete: %v; %v", w.sides, w.clients)
	}
	x := w.active()
	for _, c := range w.clients {
		c.hasHad(x.log)
	}
	if w.Faults == Line && w.forked {
		failf("two at once though the outer line held")
	}
	have := map[standby.Position]bool{}
	for _, b := range x.log {
		have[b.at] = true
	}
	for at := range w.promised {
		if !have[at] && !w.forked {
			failf("the promised batch %v is missing in the end", at)
		}
	}
}

func (w *world) active() *side {
	if w.sides[0].on {
		return w.sides[0]
	}
	return w.sides[1]
}

// complete reports whether the client has all that it was given.
func (c *client) complete() bool {
	if c.confirmed != c.revision || c.conn == 0 {
		return false
	}
	for _, k := range c.keys() {
		if word := overlay.SourceWord(k.Key.Source, k.Key.Stamp); k.Last != c.nums[word] || k.Num != k.Last {
			return false
		}
	}
	return true
}

func (c *client) keys() (all []overlay.KeyInfo) {
	for _, k := range c.w.active().b.Keys() {
		if _, id := overlay.ClientOf(k.Key.Client); id == c.name {
			all = append(all, k)
		}
	}
	return all
}

// hasHad: of a sequence that goes on the client has had all that is in the history,
// and nothing else; of one that has ended the beginning.
func (c *client) hasHad(log []stored) {
	session, _ := overlay.ParseSession(c.session)
	keys := map[overlay.Handle]overlay.Key{}
	history := map[string][]given{}
	for _, b := range log {
		for _, r := range b.records {
			switch r := r.(type) {
			case *overlay.EntryRecord:
				keys[r.Handle] = r.Key
			case *overlay.GivenRecord:
				for _, h := range r.Hits {
					k := keys[h.Handle]
					if _, id := overlay.ClientOf(k.Client); id == c.name && k.Session == session {
						word := overlay.SourceWord(k.Source, k.Stamp)
						history[word] = append(history[word], given{h.Seq, int(r.Reading.Time)})
					}
				}
			}
		}
	}
	for word, got := range c.got {
		all := history[word]
		switch {
		case !c.ended[word] && !slices.Equal(got, all):
			failf("%s has had of %s\n%v, and the history has\n%v", c.name, word, got, all)
		case c.ended[word] && (len(got) > len(all) || !slices.Equal(got, all[:len(got)])) && !c.w.lossy && !c.w.forked:
			failf("%s has had of %s\n%v, which is not in the history\n%v", c.name, word, got, all)
		}
	}
}

func (c *client) String() string {
	return c.name + " with " + c.with.name + " " + describeClient(c)
}
