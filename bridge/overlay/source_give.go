package overlay

import (
	"slices"

	"callboard/subscribe/protocol"
)

// sendDown sends what a key was given towards its edge, if that is elsewhere.
func (b *source) sendDown(e *entry, r *Reading, h KeyHit) {
	e.quiet = false
	if way := b.network.routeOf(e.key); way != nil && !b.local(way) {
		e.sent, e.outside = h.Seq, h.Seq
		b.network.tell(way.down, &NotifyMessage{Reading: r, Hits: []KeyHit{h}})
	}
}

type early struct {
	reading *Reading
	names   []protocol.Matched
	set     uint64
	size    int
}

// matched gives each key that a reading matched its next number.
func (b *source) matched(m *Matched) {
	b.stats.Readings++
	if b.isRefused(m.Reading.Robot) {
		b.stats.Stray++
		return
	}
	var given *GivenRecord
	for i := range m.Hits {
		hit := &m.Hits[i]
		e := b.entries[hit.Handle]
		if e == nil || e.ended {
			b.stats.Stray++ // the key has ended while the reading was tested
			continue
		}
		names := e.liveNames(hit.Names, hit.Set)
		switch {
		case len(names) == 0:
			b.stats.Stray++
		case hit.Set > e.installed:
			b.holdEarly(e, m.Reading, names, hit.Set)
		default:
			given = b.give(e, m.Reading, names, hit.Set, given)
		}
	}
}

// give numbers a notification, retains it and delivers it if it may go.
func (b *source) give(e *entry, r *Reading, names []protocol.Matched, revision uint64, given *GivenRecord) *GivenRecord {
	seq := e.next
	e.next++
	b.stats.Given++
	e.trues.note(r, names, seq)
	e.sets.prune(revision)
	e.points.add(seq, e.sets.at(revision))
	size := itemSize(r, names)
	if size > b.cfg.Inbox.Bytes {
		b.lose(e, seq, seq)
		return given
	}
	if e.stored() {
		if given == nil {
			given = b.newGiven(r)
		}
		given.Hits = append(given.Hits, GivenHit{Handle: e.handle, Seq: seq, Revision: revision, Names: names})
	}
	e.buf.push(seq, r, e.buf.share(names, revision, e.members.ends, namesSize(names)), b.now)
	if in := e.inbox; in != nil {
		b.edge.pump(in)
	} else {
		b.sendDown(e, r, newHit(e.key, seq, e.points.at(seq), names))
	}
	if e.buf.next < len(e.buf.items) {
		b.bound(e.sequence)
	}
	return given
}

// lose declares numbers that were given but cannot be held.
func (b *source) lose(e *entry, from, to uint64) {
	b.stats.Lost[WhyOverflow] += to - from + 1
	g := e.buf.pushGap(from, to, WhyOverflow, b.now)
	b.recordGap(e.sequence, g, from)
	if e.inbox != nil {
		b.edge.pump(e.inbox)
		return
	}
	e.quiet, e.outside = false, to
	b.network.towards(e.key, []Item{{Kind: ItemGap, From: from, To: to, Why: WhyOverflow}}, "")
}

// holdEarly keeps what was tested by a set that is not in force yet. When
// there is no room the oldest go: their numbers become a gap.
func (b *source) holdEarly(e *entry, r *Reading, names []protocol.Matched, set uint64) {
	held := early{reading: r, names: names, set: set, size: itemSize(r, names)}
	e.early = append(e.early, held)
	e.earlyBytes += held.size
	b.usage.early += int64(held.size)
	lost := 0
	for len(e.early)-lost > b.cfg.Inbox.Count || e.earlyBytes > b.cfg.Inbox.Bytes {
		e.earlyBytes -= e.early[lost].size
		b.usage.early -= int64(e.early[lost].size)
		lost++
	}
	e.early = slices.Delete(e.early, 0, lost)
	e.earlyLost += uint64(lost)
}

// giveEarly numbers what has waited for the sets that are in force now.
func (b *source) giveEarly(e *entry) {
	if e.earlyLost > 0 {
		from := e.next
		e.next += e.earlyLost
		b.stats.Given += e.earlyLost
		e.earlyLost = 0
		b.lose(e, from, e.next-1)
	}
	if len(e.early) == 0 {
		return
	}
	waiting := e.early
	e.early = nil
	for _, w := range waiting {
		if w.set > e.installed {
			e.early = append(e.early, w)
			continue
		}
		e.earlyBytes -= w.size
		b.usage.early -= int64(w.size)
		if names := e.liveNames(w.names, w.set); len(names) > 0 {
			b.give(e, w.reading, names, w.set, nil)
		}
	}
}

func (b *source) dropEarly(e *entry) {
	for _, w := range e.early {
		b.usage.early -= int64(w.size)
	}
	e.early, e.earlyBytes, e.earlyLost = nil, 0, 0
}
