package overlay

import "slices"

func (b *source) restoreGiven(r *GivenRecord) {
	for _, hit := range r.Hits {
		e := b.entries[hit.Handle]
		if e == nil || r.Reading == nil {
			continue
		}
		e.trues.note(r.Reading, hit.Names, hit.Seq)
		if hit.Seq <= e.buf.num {
			continue
		}
		if at := len(e.buf.items); at > e.buf.head && e.buf.items[at-1].to() >= hit.Seq {
			continue // known, or part of a gap
		}
		last := e.buf.last
		e.buf.push(hit.Seq, r.Reading, e.buf.share(hit.Names, hit.Revision, 0, namesSize(hit.Names)), r.At)
		e.buf.last = max(last, hit.Seq)
		e.next = max(e.next, hit.Seq+1)
	}
}

// restoreGap puts a gap in the place of what is there of it.
func (b *source) restoreGap(r *GapRecord) {
	e := b.entries[r.Handle]
	if e == nil || r.To < r.From || r.To <= e.buf.num {
		return
	}
	buf := &e.buf
	gap := gapItem(max(r.From, buf.num+1), r.To, r.Why, b.now)
	at, _ := buf.find(gap.from)
	last := -1
	for i := at; i < len(buf.items) && buf.items[i].from <= r.To; i++ {
		if !buf.items[i].dead() {
			buf.kill(i)
		}
		last = i
	}
	if last < 0 {
		buf.items = slices.Insert(buf.items, at, gap)
	} else {
		buf.items[last] = gap
		buf.dead--
	}
	buf.next = buf.head
	buf.trim()
	buf.last = max(buf.last, r.To)
	e.next = max(e.next, r.To+1)
}

func (b *source) restorePassed(r *PassedRecord) {
	e := b.entries[r.Handle]
	if e == nil {
		return
	}
	if i, found := e.buf.find(r.From); found && e.buf.items[i].to() <= r.To {
		e.buf.kill(i)
		e.buf.trim()
	}
	e.buf.last = max(e.buf.last, r.To)
	e.next = max(e.next, r.To+1)
}

// restart begins a key's life. One whose edge is elsewhere has no route until that
// renews (S6). One whose store was lost ends by gone.
func (b *source) restart(q *sequence) {
	e := b.entries[q.handle]
	e.installed = e.set
	b.install(e, true, nil, e.members.sorted(), nil)
}
