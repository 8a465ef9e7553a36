package subscribe

import (
	"callboard/player"
	"callboard/subscribe/condition"
	"callboard/subscribe/view"
)

// test tests one reading against all that it may match.
func (s *Session) test(a *view.Arrival) {
	if s.blind {
		return
	}
	s.counts.readings++
	if a.Back {
		s.restart()
	}
	s.find(a)
	for _, e := range s.sure {
		s.found = append(s.found, found{e.key, e, true})
	}
	if len(s.found) > 0 {
		s.counts.matched++
		s.emit(a)
	}
	if s.config.Observe != nil {
		s.config.Observe(a)
	}
}

// find finds all that a reading matches: sure and found.
func (s *Session) find(a *view.Arrival) {
	s.env.Take(a)
	s.reading++
	s.results.begin()
	s.sure, s.found = s.sure[:0], s.found[:0]
	for _, k := range [...]int{int(a.Kind), everyKind} {
		for _, r := range s.indexes[k] {
			s.look(r, a)
		}
		s.watchers(k, a)
	}
}

// look finds what is in an index by the values of the reading, then evaluates
// what no value finds.
func (s *Session) look(r *kindIndex, a *view.Arrival) {
	s.candidates = s.candidates[:0]
	r.values.each(0, func(slot uint64, v valued) {
		if now, prev := v.value.Needs(); !a.Have.Has(now) || !a.HavePrev.Has(prev) {
			return
		}
		x := s.env.Value(int(slot), v.value)
		if x != x {
			s.sure, s.candidates = v.sureNaN.appendAll(s.sure), v.checkNaN.appendAll(s.candidates)
			return
		}
		s.sure, s.candidates = v.sure.appendAt(s.sure, x), v.check.appendAt(s.candidates, x)
		s.sure, s.candidates = v.sureNaN.appendAt(s.sure, x), v.checkNaN.appendAt(s.candidates, x)
	})
	if len(s.candidates) > 0 {
		s.seen.begin()
	}
	for i := range s.candidates {
		c := &s.candidates[i]
		if !s.passes(c, a) {
			continue
		}
		g := c.group
		if g.many {
			if _, had := s.seen.at(g.program.number); had {
				continue
			}
		}
		s.group(g, a)
	}
	r.rest.each(0, func(_ uint64, g *group) { s.group(g, a) })
}

// passes reports whether a reading meets a candidate's guards.
func (s *Session) passes(c *candidate, a *view.Arrival) bool {
	for i := range c.guards {
		g := &c.guards[i]
		if g.number < 0 {
			return true
		}
		v := condition.SchemaValue(g.number)
		if now, prev := v.Needs(); !a.Have.Has(now) || !a.HavePrev.Has(prev) {
			return false
		}
		if x := s.env.Value(g.number, v); !(g.lo <= x && x <= g.hi) {
			return false
		}
	}
	return true
}

// group tests a reading against all entries with one condition.
func (s *Session) group(g *group, a *view.Arrival) {
	r := s.evaluate(g.program)
	if r.failed && !s.told[g] {
		s.told[g] = true
		s.fail(g)
	}
	if !r.truth {
		return
	}
	match := func(e *entry) {
		if e.sub.wantsDevice(a.Interface, a.Name) {
			s.match(e, a)
		}
	}
	g.plain.each(match)
	g.state.each(match)
}

// evaluate returns a condition's result for this reading, evaluated once.
func (s *Session) evaluate(p *program) result {
	r, had := s.results.at(p.number)
	if had {
		return *r
	}
	truth, err := p.program.Test(&s.machine, &s.env, p.slots)
	*r = result{truth: truth && err == nil, failed: err != nil}
	if err != nil {
		s.counts.failures++
		s.counts.err = err
	}
	return *r
}

// match takes an entry whose condition holds.
func (s *Session) match(e *entry, a *view.Arrival) {
	if !e.sub.policed() {
		s.found = append(s.found, found{e.key, e, true})
		return
	}
	st := s.state(e)
	s.step(e, st, a, true)
	if e.sub.stateful() && !st.settled(&e.sub.Spec) {
		s.watch(e, st)
	}
}

// step applies a subscription's policy to a reading.
func (s *Session) step(e *entry, st *state, a *view.Arrival, truth bool) {
	st.dev, st.reading = a.Device, s.reading
	if notify, held := st.step(&e.sub.Spec, a.Time, truth); notify {
		s.found = append(s.found, found{e.key, e, held})
	}
}

// fail informs the owners of a condition that it failed, each once.
func (s *Session) fail(g *group) {
	message := s.counts.err.Error()
	tell := func(e *entry) { s.failed(e, message) }
	g.plain.each(tell)
	g.state.each(tell)
}

// failed informs a subscription's owner that it failed, unless it has done so.
func (s *Session) failed(e *entry, message string) {
	if s.config.Failed != nil && !e.failed.Swap(true) {
		s.config.Failed(Failure{Key: e.key, ID: e.sub.Spec.ID, Message: message})
	}
}

// leave reports that states which were true have ended with the robot's going
// away, and begins all policies anew.
func (s *Session) leave() {
	s.found = s.found[:0]
	for e, st := range s.states {
		if !s.over(e) && st.leave(&e.sub.Spec) {
			s.found = append(s.found, found{e.key, e, false})
		}
	}
	ended := s.found
	s.found = nil
	for len(ended) > 0 {
		// All that one device tested last go with its last reading.
		dev := s.states[ended[0].entry].dev
		for _, f := range ended {
			if d := s.states[f.entry].dev; before(d, dev) {
				dev = d
			}
		}
		rest := ended[:0:0]
		s.found = s.found[:0]
		for _, f := range ended {
			if s.states[f.entry].dev.Addr == dev.Addr {
				s.found = append(s.found, f)
			} else {
				rest = append(rest, f)
			}
		}
		ended = rest
		if a := s.robot.Last(dev.Addr); a != nil {
			s.env.Take(a)
			s.emit(a)
		}
	}
	s.restart()
}

// before orders devices.
func before(a, b *player.Device) bool {
	if a.Interf != b.Interf {
		return a.Interf < b.Interf
	}
	return a.Index < b.Index
}
