package overlay

import "slices"

// A subscription whose first notification tells what holds already, and that ends and
// begins again, alike, looks the same to a source broker that has heard of neither. It
// hears of it with the set (Member.Since). If the client moves on before, the edge
// where that was tells the next one (Told), which asks the source broker to have the
// subscription begin anew (StateAgain).

// heardOf takes note that a source broker tests readings by a set, or by a later one.
func (s *session) heardOf(source BrokerID, set Epoch) {
	s.tested.Put(source, later(s.tested.Get(source), set))
}

// unheard reports whether a source broker that tests by a set may not have heard that
// the subscription is another one than before.
func (s *sub) unheard(tested Epoch) bool { return s.began().Compare(tested) > 0 }

// unaware returns a source broker in use that may not have heard so; "" if there is none.
func (s *session) unaware(sub *sub) BrokerID {
	for _, in := range s.inboxes {
		if in.far != nil && !in.ended && sub.unheard(s.tested.Get(in.key.Source)) {
			return in.key.Source
		}
	}
	return ""
}

// unheard lists the subscriptions of which a source broker may not have heard so.
func (s *session) unheard() (all []Begun) {
	for _, sub := range s.sorted() {
		for _, tested := range s.tested.All() { // one is enough, whichever
			if sub.unheard(tested) {
				all = append(all, Begun{sub.ID, sub.since})
				break
			}
		}
	}
	return all
}

// takeBegun takes which subscriptions are others, by the word of an edge where the
// client was before.
func (b *edge) takeBegun(s *session, begun []Begun) {
	for _, m := range begun {
		sub := s.subs[m.ID]
		if sub == nil || sub.since.Compare(m.Since) >= 0 {
			continue
		}
		if sub.since = m.Since; sub.began() == (Epoch{}) {
			continue
		}
		for _, in := range slices.Clone(s.inboxes) {
			again := StateAgain{Key: in.key, ID: m.ID, Since: m.Since}
			switch {
			case in.ended:
			case in.own:
				b.source.onAgain(&again)
			case sub.unheard(s.tested.Get(in.key.Source)):
				v := b.rosters[in.key.Source]
				b.askFor(v, again)
				b.watch(v)
			}
		}
	}
}
