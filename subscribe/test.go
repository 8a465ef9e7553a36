package subscribe

import (
	"callboard/player"
	"callboard/subscribe/view"
)

// test tests one reading against all that it may match.
func (s *Session) test(a *view.Arrival) {
	s.counts.readings++
	if a.Back {
		s.generation++
	}
	s.env.Take(a)
	s.reading++
	s.found = s.found[:0]
	s.bucket(&s.own, a)
	for _, n := range s.scopes {
		if in, ok := s.snapshot.scopes.get(n); ok {
			s.bucket(&in.bucket, a)
		}
	}
	if len(s.found) > 0 {
		s.counts.matched++
		s.emit(a)
	}
}

func (s *Session) bucket(b *bucket, a *view.Arrival) {
	groups := func(_ uint64, g *group) { s.group(g, a) }
	b.kinds[a.Kind].each(0, groups)
	b.every.each(0, groups)
}

// group tests a reading against all entries with one condition.
func (s *Session) group(g *group, a *view.Arrival) {
	r := s.evaluate(g.program)
	if r.failed && !s.told[g] {
		s.told[g] = true
		s.fail(g)
	}
	if r.truth {
		g.plain.each(0, func(_ uint64, e *entry) {
			if e.sub.wantsDevice(a.Interface, a.Name) {
				s.entry(e, a, true)
			}
		})
	}
	g.state.each(0, func(_ uint64, e *entry) {
		if e.sub.wantsDevice(a.Interface, a.Name) {
			s.entry(e, a, r.truth)
		}
	})
}

// evaluate gives what a condition gives for this reading, evaluated once.
func (s *Session) evaluate(p *program) result {
	r := &s.results[p.number]
	if r.reading == s.reading {
		return *r
	}
	truth, err := p.program.Test(&s.machine, &s.env, nil)
	*r = result{reading: s.reading, truth: truth && err == nil, failed: err != nil}
	if err != nil {
		s.counts.failures++
		s.counts.err = err
	}
	return *r
}

// entry applies a subscription's policy to a reading.
func (s *Session) entry(e *entry, a *view.Arrival, truth bool) {
	if !e.sub.policed() {
		if truth {
			s.found = append(s.found, found{e, true})
		}
		return
	}
	st := s.state(e)
	st.dev = a.Device
	if notify, held := st.step(&e.sub.Spec, a.Time, truth); notify {
		s.found = append(s.found, found{e, held})
	}
}

// fail tells the owners of a condition that it failed, each once.
func (s *Session) fail(g *group) {
	message := s.counts.err.Error()
	tell := func(_ uint64, e *entry) { s.failed(e, message) }
	g.plain.each(0, tell)
	g.state.each(0, tell)
}

// failed tells a subscription's owner that it failed, unless that was told.
func (s *Session) failed(e *entry, message string) {
	if s.config.Failed != nil && !e.failed.Swap(true) {
		s.config.Failed(Failure{Key: e.key, ID: e.sub.Spec.ID, Message: message})
	}
}

// leave tells that states which were true have ended with the robot's going
// away, and begins all policies anew.
func (s *Session) leave() {
	s.found = s.found[:0]
	for e, st := range s.states {
		if st.generation == s.generation && !e.ended.Load() && st.leave(&e.sub.Spec) {
			s.found = append(s.found, found{e, false})
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
	s.generation++
	clear(s.states)
}

// before orders devices.
func before(a, b *player.Device) bool {
	if a.Interf != b.Interf {
		return a.Interf < b.Interf
	}
	return a.Index < b.Index
}
