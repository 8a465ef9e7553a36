package overlay

// edge is the broker as the edge of its clients: sessions, connections, inboxes,
// and what clients were told.
type edge struct {
	*step
	source   edgeToSource
	network  edgeToNetwork
	registry edgeToRegistry

	windowCount int // of each key; never more than half of what an inbox may hold
	windowBytes int

	sessions map[string]*session
	ids      map[string][]*session // by client id, of whichever tokens
	order    []*session            // by client
	conns    map[Conn]*conn
	far      map[Handle]*inbox // of keys whose source is elsewhere
	renewals []*inbox          // to be renewed at the end of this step, where there is a way

	rosters map[BrokerID]*roster // this broker's own, which is the source's, among them
}

// take takes what the source of a key, or its old edge, says to the edge of its
// client.
func (b *edge) take(m Message) {
	switch m := m.(type) {
	case *HeadMessage:
		if in := b.inboxOf(m.Key); in != nil && in.far != nil {
			in.far.head = max(in.far.head, m.Last)
		}
	case *EventMessage:
		if in := b.inboxOf(m.Key); in != nil {
			b.event(in.session, m)
		}
	case *ReplayMessage:
		if in := b.inboxOf(m.Key); in != nil && in.far != nil {
			for i := range m.Items {
				b.arrive(in, m.Items[i])
			}
			b.pump(in)
		}
	case *GoneMessage:
		if in := b.inboxOf(m.Key); in != nil {
			b.endFar(in, m.Stamp)
		}
	case *BrokenMessage: // B1
		b.stats.Orphaned++
		if in := b.inboxOf(m.Key); in != nil && in.far != nil && in.far.renewed < b.period {
			b.renewals = append(b.renewals, in)
		}
	}
}

// notified takes a notification of another source broker.
func (b *edge) notified(r *Reading, h *KeyHit) {
	if in := b.inboxOf(h.Key); in != nil && in.far != nil {
		b.arrive(in, Item{Kind: ItemNotification, From: h.Seq, To: h.Seq, Reading: r, Names: h.Names, Set: h.Set()})
		b.pump(in)
	}
}

// event takes what is not numbered: a subscription that failed, or how many robots
// match.
func (b *edge) event(s *session, m *EventMessage) {
	if m.Error != nil {
		if sub := s.subs[m.Error.ID]; sub != nil {
			b.tellFailed(s, sub, m.Error)
		}
		return
	}
	for _, c := range m.Counts {
		if sub := s.subs[c.ID]; sub != nil {
			sub.count(m.Key.Source, c.Robots)
		}
	}
	s.heardOf(m.Key.Source, m.Set)
	b.settlePending(s)
}
