package overlaytest

import (
	"callboard/bridge/overlay"
	"callboard/subscribe/protocol"
)

func (p *client) notified(m *overlay.Notify) {
	wire, num := p.wire[m.Source], p.nums[m.Source]
	if m.Seq <= wire {
		failf("%s: %s #%d comes again, the last one was %d", p.name, m.Source, m.Seq, wire)
	}
	if m.Seq-m.Skipped != wire+1 {
		failf("%s: %s #%d with %d skipped, but the last one was %d", p.name, m.Source, m.Seq, m.Skipped, wire)
	}
	if protocol.WantsReading(m.Subscriptions) && string(m.Reading.JSON) != numberOf(m.Reading) ||
		protocol.WantsMessages(m.Subscriptions) && string(m.Reading.Messages) != numberOf(m.Reading) {
		failf("%s: %s #%d carries %q and the messages %q, for %v", p.name, m.Source, m.Seq, m.Reading.JSON, m.Reading.Messages, ids(m.Subscriptions))
	}
	if m.Reading.Messages != nil {
		p.c.marks["notified with messages"]++
	}
	k := p.key(m.Source)
	t := p.c.truth[k]
	if t == nil && p.unstored(k.Source) {
		p.wire[m.Source], p.nums[m.Source] = m.Seq, m.Seq
		p.toldChange(m)
		p.c.marks["notified without a store"]++
		p.acknowledgeOne(m.Source)
		return
	}
	if t == nil {
		failf("%s: %s is no sequence", p.name, m.Source)
	}
	life, ok := t.lifeOf(m.Seq, numberOf(m.Reading))
	if !ok {
		failf("%s: %s #%d is reading %s, given was %s", p.name, m.Source, m.Seq, numberOf(m.Reading), t.given(m.Seq).reading)
	}
	for seq := max(wire, num) + 1; seq < m.Seq; seq++ {
		p.mayPass(t.at(life), m.Source, seq)
	}
	p.wire[m.Source] = m.Seq
	if m.Seq <= num { // it came over the connection before
		p.c.marks["repeated"]++
		p.acknowledgeOne(m.Source)
		return
	}
	if before := p.lives[m.Source]; before.seq > t.common(before.life, life) && !t.unknown {
		failf("%s: %s #%d is of life %d of its store, but it had #%d of life %d: what was given again is missing", p.name, m.Source, m.Seq, life, before.seq, before.life)
	}
	g := t.at(life).given(m.Seq)
	for _, n := range m.Subscriptions {
		if !named(g.names, n.ID) {
			failf("%s: %s #%d names %s, given were %v", p.name, m.Source, m.Seq, n.ID, ids(g.names))
		}
	}
	p.nums[m.Source], p.lives[m.Source] = m.Seq, notified{m.Seq, life}
	p.hasHad(m)
	p.toldChange(m)
	p.c.marks["notified"]++
	if p.told != nil {
		p.told(m)
	}
	if p.forgets {
		t.forget(m.Seq)
	}
	p.acknowledgeOne(m.Source)
}

// acknowledgeOne acknowledges a source, sooner or later.
func (p *client) acknowledgeOne(word string) {
	if !p.silent && (!p.lazy || p.c.choice.Intn(3) == 0) {
		p.ack(word)
	}
}

// ack acknowledges what has come over the connection in use. Once another one
// has said hello, what that hello did not tell must stay where it is.
func (p *client) ack(word string) {
	if num := min(p.wire[word], p.nums[word]); p.conn != 0 && p.next == nil && num > p.acked[word] {
		p.acked[word] = num
		p.c.step(p.at, &overlay.Ack{Conn: p.conn, Source: word, Num: num})
	}
}

// acknowledge acknowledges all that is processed.
func (p *client) acknowledge() {
	for _, word := range sortedKeys(p.nums) {
		p.ack(word)
	}
}

func named(names []protocol.Matched, id string) bool {
	for i := range names {
		if names[i].ID == id {
			return true
		}
	}
	return false
}

// mayPass fails if a number was passed over that the client wants.
func (p *client) mayPass(t *life, word string, seq uint64) {
	g := t.given(seq)
	if g.passed {
		return
	}
	if !g.is() {
		failf("%s: %s #%d was skipped, but it was never given", p.name, word, seq)
	}
	if id := p.wants(g); id != "" {
		failf("%s: %s #%d was skipped, but %s has matched it", p.name, word, seq, id)
	}
	p.c.marks["skipped"]++
}

// wants returns a subscription that a notification is for and that goes on, "" if there is none.
func (p *client) wants(g given) string {
	for _, s := range g.by {
		if a := p.subs[s.ID]; a != nil && a.isFor(g, s) && a.sub.Keep != protocol.KeepLatest && s.Trigger != protocol.TriggerChange { // a state that it has
			return s.ID
		}
	}
	return ""
}

func (p *client) gap(m *protocol.Gap) {
	wire, num := p.wire[m.Source], p.nums[m.Source]
	p.c.marks["gaps"]++
	p.changes.lost = true
	if m.From != wire+1 {
		failf("%s: %s has a gap from %d, but the last one was %d", p.name, m.Source, m.From, wire)
	}
	k := p.key(m.Source)
	t := p.c.truth[k]
	if m.To == nil {
		p.ended(m, k)
		return
	}
	for seq := max(m.From, num+1); seq <= *m.To; seq++ {
		if t == nil && p.unstored(k.Source) {
			break
		}
		if t == nil || !t.given(seq).lost && !p.c.overflowed() {
			failf("%s: %s has a gap %d…%d (%s), but #%d was not lost", p.name, m.Source, m.From, *m.To, m.Why, seq)
		}
	}
	p.wire[m.Source], p.nums[m.Source] = *m.To, max(num, *m.To)
	p.ack(m.Source)
}

// ended: a sequence has ended, which only a lost store may do, or absence for
// the session time. One that has not begun may be followed by another if somebody
// named numbers that the source has not given: it takes a new stamp.
func (p *client) ended(m *protocol.Gap, k overlay.Key) {
	x := p.c.brokers[p.c.index(k.Source)]
	st := added(x.before, x.b.Stats())
	unbegun := p.nums[m.Source] == 0 && len(p.c.intruders) > 0
	if !p.c.lost[k.Source] && st.Forgotten+st.ForgottenKeys == 0 && !unbegun {
		failf("%s: %s ends after %d, but its store was not lost", p.name, m.Source, p.nums[m.Source])
	}
	delete(p.nums, m.Source)
	delete(p.wire, m.Source)
	delete(p.lives, m.Source)
	p.c.marks["ends"]++
	if m.Next != "" {
		if _, known := p.nums[m.Next]; !known {
			p.nums[m.Next] = 0
		}
	}
}
