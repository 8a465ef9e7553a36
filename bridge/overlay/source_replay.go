package overlay

// handOver returns what is retained of a key after num, which goes to another edge.
func (b *source) handOver(q *sequence, num uint64) []Item {
	e := b.entries[q.handle]
	e.sent, e.outside = e.next-1, e.next-1
	return b.itemsOf(q, num+1, e.next-1)
}

// fill is S6: the source broker sends again what is missing.
func (b *source) fill(k Key, missing Missing) {
	e := b.keys[k]
	to := e.next - 1
	if missing.To > 0 {
		to = min(to, missing.To)
	}
	if missing.From == 0 || missing.From > to {
		return
	}
	items := b.itemsOf(e.sequence, missing.From, to)
	b.countResent(e, items)
	e.quiet, e.outside = false, max(e.outside, to)
	b.network.towards(e.key, items, "")
}

// countResent counts what has been sent before: what was given while the edge
// was here has not.
func (b *source) countResent(e *entry, items []Item) {
	for i := range items {
		if items[i].Kind != ItemPassed && items[i].From <= e.sent {
			b.stats.Resent++
		}
	}
	e.sent = e.next - 1
}

// refreshed renews a key whose edge is elsewhere: A1, A2.
func (b *source) refreshed(from BrokerID, m *RefreshMessage) {
	k := m.Key
	e := b.keys[k]
	if e == nil {
		b.network.dropRoute(k)
		b.network.tell(from, &BrokenMessage{Key: k})
		return
	}
	e.seen = b.now
	b.retire(e.sequence, min(m.Num, e.next-1)) // A1
	if last := e.next - 1; last > m.Num && e.quiet {
		e.outside = last
		b.network.tell(from, &HeadMessage{Key: k, Last: last}) // A2
	}
	e.quiet = true
}

// giveRest gives what the store has left of a sequence that has ended to an
// edge that is elsewhere, before it is told so.
func (b *source) giveRest(from BrokerID, e *entry, m *SubscribeMessage) {
	first := m.Num + 1
	if m.Missing != nil {
		first = max(first, m.Missing.From)
	}
	items := b.itemsOf(e.sequence, first, e.next-1)
	b.countResent(e, items)
	b.network.replay(from, m.Key, items)
}
