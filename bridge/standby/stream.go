package standby

import "callboard/bridge/overlay"

// joinBehind is how many batches the standby may lack when it is asked to join.
const joinBehind = 20

// maxMessage is how many bytes of batches go into one message, but for a single
// batch that has more, and for those of a Join.
const maxMessage = 1 << 20

// append stores what one step wants stored, and sends it to the standby.
func (m *Machine) append(in *Append) {
	if !m.active.on {
		return
	}
	m.appendBatch(Batch{ID: m.Last().ID, Records: in.Records, Beside: in.Beside, Bytes: in.Bytes})
	if m.Lost { // the new stamp is stored: what was lost is not missed any more (L2)
		m.Lost = false
		m.save()
	}
}

func (m *Machine) appendBatch(b Batch) {
	a, before := &m.active, m.Last()
	m.store([]Batch{b}, false)
	a.pending += b.Bytes
	o := &m.other
	follows := o.life != 0 && o.Term == m.Term && a.sent == before.Index && before.Index < o.Last.Index+uint64(m.cfg.Burst)
	if m.Stands == Both || follows {
		m.send(before.Index, 1)
	}
}

// send sends the standby batches behind an index, if none is passed over.
func (m *Machine) send(behind uint64, n int) {
	for all := m.window.behind(behind, n); len(all) > 0; {
		some, bytes := 1, all[0].Bytes
		for ; some < len(all) && bytes+all[some].Bytes <= maxMessage; some++ {
			bytes += all[some].Bytes
		}
		m.toOther(Inner, &Batches{Term: m.Term, Before: m.window.at(behind), Batches: all[:some:some]})
		all, behind = all[some:], behind+uint64(some)
	}
	m.active.sent = behind
}

// store appends batches.
func (m *Machine) store(batches []Batch, restore bool) {
	a := &m.active
	keep := m.Last().Index + uint64(len(batches))
	switch {
	case a.joining != 0 || a.on && m.Stands == Both:
		keep = min(a.acked, a.released)
	case a.on:
		keep = a.released
	}
	for _, b := range batches {
		if b.ID != m.Last().ID {
			m.terms = m.terms.with(b.ID)
		}
		m.window.put(b, keep)
	}
	if len(batches) > 0 {
		m.put(&Write{Batches: batches, Restore: restore})
	}
}

// release lets outputs go as far as they may.
func (m *Machine) release() {
	a := &m.active
	for to := m.mayGo(); a.released < to; a.released++ {
		a.pending -= m.window.batch(a.released + 1).Bytes
	}
}

// mayGo returns up to which batch outputs may go.
func (m *Machine) mayGo() uint64 {
	a := &m.active
	switch {
	case !a.on || a.joining != 0: // J2
		return 0
	case m.Stands == Both && !m.fresh: // what waited in its sockets proves nothing (H4)
		return 0
	case m.Stands == Both:
		return min(a.acked, m.Last().Index) // D1
	case m.cfg.TakeOverAfter > 0 && !m.cfg.Witness && m.now < a.hold:
		return 0
	case m.cfg.TakeOverAfter > 0 && m.cfg.Witness && m.now >= a.lease: // W3
		return 0
	}
	return m.Last().Index
}

// run is the turn of a side that is active.
func (m *Machine) run() {
	a, o := &m.active, &m.other
	recently := o.life != 0 && m.now-o.at < m.periods(1)
	switch {
	case m.Stands == Both:
		if m.now-m.outer >= m.periods(3) && recently && o.Outer { // P2
			a.leaves = true
		}
		if a.leaves && m.fresh && a.acked == m.Last().Index {
			m.letGo()
			return
		}
		left := o.life != 0 && o.at > a.since && (o.Term > m.Term || o.Term == m.Term && (o.Stands == Out || o.Lost) && o.echo >= m.from)
		if m.silent(Inner) || m.stuck() || left {
			m.goOnAlone()
		} else if recently && o.Term == m.Term && o.Last.Index < m.Last().Index {
			m.sendAgain()
		}
	case a.joining != 0:
		if m.silent(Inner) || m.now-a.asked >= m.quarters(7) { // J5
			m.goOnAlone()
		} else if o.life != 0 {
			m.askToJoin()
		}
	case o.life != 0 && m.now-m.heard[Inner] < m.periods(1) && !o.Active:
		if o.Term == m.Term && o.Stands == Out && o.Last.Index > 0 && o.Last.Index+joinBehind >= m.Last().Index && m.window.has(o.Last) {
			m.join()
		} else {
			m.sendAgain()
		}
	}
}

// sendAgain sends what the standby lacks: once it has all that was sent, or has
// got no further for a time.
func (m *Machine) sendAgain() {
	a, o := &m.active, &m.other
	if o.Term != m.Term { // it will hear of this term first
		return
	}
	reached := o.Last.Index
	if m.Stands == Both {
		reached = max(reached, a.acked)
	}
	if reached != a.reached {
		a.reached, a.sentAt = reached, m.now
	}
	if reached < a.sent && m.now-a.sentAt < overlay.Instant(m.cfg.Again) {
		return
	}
	a.sentAt = m.now
	switch {
	case o.Last.Index > 0 && m.window.has(o.Last):
		m.send(o.Last.Index, m.cfg.Burst)
	case m.Stands == Alone:
		m.stats.Snapshots++
		a.sent = m.Last().Index
		m.toOther(Inner, &Snapshot{Term: m.Term, Last: m.Last(), Terms: m.terms})
	}
}

// join asks the standby, which lacks little, to be in step: from now on nothing
// goes out before it has answered (J2).
func (m *Machine) join() {
	a := &m.active
	n := m.next(m.other.Floor, m.other.Term)
	m.Floor, a.joining, a.asked = n, n, m.now
	a.joinAt, a.acked = m.Last().Index+1, m.other.Last.Index
	m.save()
	m.appendBatch(Batch{ID: n})
	m.askToJoin()
}

func (m *Machine) askToJoin() {
	a, o := &m.active, &m.other
	at := min(a.joinAt-1, o.Last.Index)
	if at < m.window.before.Index || at == 0 || at == o.Last.Index && m.window.at(at) != o.Last {
		return
	}
	m.toOther(Inner, &Join{Term: a.joining, Before: m.window.at(at), Batches: m.window.behind(at, len(m.window.batches))})
}

// begun says that the standby has accepted to join, and has the batches up to an index.
func (m *Machine) begun(has uint64) {
	a := &m.active
	m.Term, m.Stands, m.Shown = a.joining, Both, max(m.Shown, a.joining) // an accepted join is a voice, too (W2)
	a.since, a.joining, m.claim = m.now, 0, nil
	m.save()
	m.fresh, m.from = true, m.number+1
	m.stats.Terms[Joined]++
	m.put(&Announce{Term: m.Term, Index: a.joinAt})
	if has = max(has, m.window.before.Index); has < m.Last().Index {
		m.send(has, len(m.window.batches))
	}
}

func (m *Machine) onAcked(x *Acked) {
	a, o := &m.active, &m.other
	if !a.on {
		return
	}
	if a.joining != 0 && x.Term == a.joining && x.Stands == In {
		m.begun(x.Last.Index)
	}
	switch {
	case x.Term != m.Term || !m.window.has(x.Last):
	case m.Stands == Both && x.Stands == In:
		a.acked = max(a.acked, x.Last.Index)
	case m.Stands == Alone && o.Term == x.Term && x.Last.Index > o.Last.Index:
		o.Last = x.Last
	}
}

// onBatches stores what the active has stored, if it follows what is here (D3).
func (m *Machine) onBatches(x *Batches) {
	if x.Term != m.Term || m.active.on || m.Term.Of(m.cfg.Side) {
		return
	}
	if more, ok := m.fits(x.Before, x.Batches); ok {
		m.store(more, true)
	}
	m.toOther(Inner, &Acked{Term: m.Term, Last: m.Last(), Stands: m.Stands})
}

// fits returns those of a row of batches that are not here yet, if the others are.
func (m *Machine) fits(before Position, row []Batch) (more []Batch, ok bool) {
	last := m.Last()
	if last.Index < before.Index || last.Index-before.Index > uint64(len(row)) {
		return nil, false
	}
	known := last.Index - before.Index
	if known > 0 {
		before.ID = row[known-1].ID
	}
	return row[known:], before.ID == last.ID
}

// onSnapshot takes what the active has in the place of what is here.
func (m *Machine) onSnapshot(x *Snapshot) {
	if x.Term != m.Term || m.active.on || m.Stands == In || m.Term.Of(m.cfg.Side) || m.window.has(x.Last) {
		return
	}
	m.window.replace(x.Last)
	m.terms = append(history(nil), x.Terms...)
	m.put(&Replace{Last: x.Last, Terms: x.Terms, Records: x.Records})
	m.toOther(Inner, &Acked{Term: m.Term, Last: m.Last(), Stands: m.Stands})
}

// onJoin is in step from now on, if this side can have all that leads to it (J3).
func (m *Machine) onJoin(x *Join) {
	if m.active.on || x.Term < m.Term || x.Term.Of(m.cfg.Side) {
		return
	}
	if x.Term == m.Term && m.Stands == In {
		m.toOther(Inner, &Acked{Term: m.Term, Last: m.Last(), Stands: m.Stands})
		return
	}
	more, ok := m.fits(x.Before, x.Batches)
	if !ok || x.Term <= m.Floor && x.Term != m.Term {
		return
	}
	m.store(more, true)
	m.Term, m.Stands, m.Floor, m.Lost, m.Given, m.claim = x.Term, In, max(m.Floor, x.Term), false, false, nil
	m.save()
	m.warm, m.fresh, m.from = true, false, m.number+1
	m.toOther(Inner, &Acked{Term: m.Term, Last: m.Last(), Stands: m.Stands})
}
