package subscribe

import "callboard/subscribe/view"

// watched is an entry that must see the next reading even if it does not
// match: because the condition held, something is due, or (for change) no
// state was told yet. All others see nothing until a reading matches, so that
// subscriptions with triggers cost no more than those without.
type watched struct {
	entry *entry
	state *state
}

// watchFrom watches the entries from a number on that must see readings from
// the beginning.
func (s *Session) watchFrom(first uint64) {
	for k := range s.indexes {
		for _, r := range s.indexes[k] {
			r.states.each(first, func(_ uint64, e *entry) {
				st := s.states[e]
				if st == nil {
					st = &state{}
				}
				if !st.settled(&e.sub.Spec) {
					s.states[e] = st
					s.watch(e, st)
				}
			})
		}
	}
}

// watch has an entry see all readings that test it.
func (s *Session) watch(e *entry, st *state) {
	missing := tested(e.program.program) &^ st.watched
	for k := range s.watching {
		if missing.Has(1 << k) {
			s.watching[k] = append(s.watching[k], watched{e, st})
		}
	}
	st.watched |= missing
}

// forget lets go of a state that says no more than its absence.
func (s *Session) forget(e *entry, st *state) {
	if st.watched == 0 && e.sub.Spec.MinInterval <= 0 {
		delete(s.states, e)
	}
}

// restart begins all policies anew.
func (s *Session) restart() {
	clear(s.states)
	for k := range s.watching {
		clear(s.watching[k])
		s.watching[k] = s.watching[k][:0]
	}
	s.watchFrom(0)
}

// watchers has those that watch see a reading, unless they have seen it.
func (s *Session) watchers(k int, a *view.Arrival) {
	list := s.watching[k]
	left := list[:0]
	for _, w := range list {
		st := w.state
		if !s.over(w.entry) {
			if st.reading != s.reading && w.entry.sub.wantsDevice(a.Interface, a.Name) {
				s.step(w.entry, st, a, s.evaluate(w.entry.program).truth)
			}
			if !st.settled(&w.entry.sub.Spec) {
				left = append(left, w)
				continue
			}
		}
		st.watched &^= 1 << k
		s.forget(w.entry, st)
	}
	clear(list[len(left):])
	s.watching[k] = left
}
