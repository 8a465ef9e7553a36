package standby

import "callboard/bridge/overlay"

// claim is what this side asks voices for.
type claim struct {
	number  Term
	base    Term // the newest term that it knew
	kind    Kind
	consent bool // the other side has given its voice
	silence bool // TakeOverAfter has passed
	at      overlay.Instant
}

// next returns the next number of this side above all that it knows, and others.
func (m *Machine) next(above ...Term) Term {
	n := max(m.Term, m.Floor)
	for _, t := range above {
		n = max(n, t)
	}
	return n.after(m.cfg.Side)
}

// complete reports whether this side has all that was promised.
func (m *Machine) complete() bool { return !m.Lost && m.Stands != Out }

// goOnAlone is what an active does that its standby does not answer: it needs a
// voice for that, or silence if there is no witness.
func (m *Machine) goOnAlone() {
	if !m.cfg.Witness && m.gone() {
		if !m.fresh { // N1: the other may have taken over while this side stood still
			m.stop()
			return
		}
		m.win(m.next(), GoOn, m.now)
		return
	}
	if m.claim == nil {
		m.ask(GoOn, false)
	}
}

// ask begins a claim (T2).
func (m *Machine) ask(kind Kind, silence bool) {
	n := m.next(m.other.Floor, m.other.Term, m.hint)
	m.Floor = n
	m.save()
	m.claim = &claim{number: n, base: m.Term, kind: kind, silence: silence, at: m.now}
}

// press asks for the voices that the claim still lacks, again each turn.
func (m *Machine) press() {
	c := m.claim
	if c == nil {
		return
	}
	a := &m.active
	if c.number < m.Floor || c.base != m.Term || (c.kind == GoOn) != a.on || a.on && m.Stands != Both && a.joining == 0 {
		m.claim = nil
		return
	}
	x := &Claim{Number: c.number, Kind: c.kind, Base: c.base, History: m.terms.shown(), Asked: m.now, Shown: m.Shown}
	lost := c.kind == LostStart
	if m.cfg.Witness && (lost && (c.consent || c.silence) || !lost && !m.Given) {
		m.put(&ToWitness{x})
	}
	if !c.consent {
		m.onBothLines(x)
	}
}

// consider is the turn of a side that is not active: it follows the other, or
// takes over.
func (m *Machine) consider() {
	o := &m.other
	here := o.life != 0 && !m.gone() && m.now-o.at < m.periods(3)
	switch {
	case here && o.Active:
		if o.Term >= m.Term { // else it will hear of this term
			m.quiet = m.now
		}
	case here && o.Term < m.Term && m.Term.Of(m.cfg.Side.Other()): // it has begun a term that it has not told yet
	case here:
		m.agree()
	case m.gone():
		m.takeOver()
	}
}

// agree is what two sides do of which neither is active: who has all that was
// promised claims, and the other gives its voice (T5); if nobody has, who has more (L1).
func (m *Machine) agree() {
	o := &m.other
	mine := m.complete() && m.Term >= o.Term
	his := !o.Lost && o.Stands != Out && o.Term >= m.Term
	first := mine
	switch {
	case mine && his:
		first = before(m.warm, o.Warm, m.Term.Of(m.cfg.Side), o.Term.Of(m.cfg.Side.Other()), m.cfg.Side == A)
	case !mine && !his && m.Term != o.Term:
		first = m.Term > o.Term
	case !mine && !his && m.Last().Index != o.Last.Index:
		first = m.Last().Index > o.Last.Index
	case !mine && !his:
		first = m.cfg.Side == A
	}
	switch {
	case !first:
		m.claim = nil
	case m.claim == nil || o.Floor >= m.claim.number && m.now-m.claim.at >= m.periods(1): // two claims at once: the next number
		kind := LostStart
		if mine {
			kind = TakeOver
		}
		m.ask(kind, false)
	}
}

// before decides between two sides that both have all: the one that is warm, then
// the one that was active, then A.
func before(warm, otherWarm, was, otherWas, a bool) bool {
	if warm != otherWarm {
		return warm
	}
	if was != otherWas {
		return was
	}
	return a
}

// takeOver is what a side does that hears nothing of the other.
func (m *Machine) takeOver() {
	mine := m.complete() && !m.Given
	switch {
	case mine && m.cfg.Witness:
		if m.claim == nil {
			m.ask(TakeOver, false)
		}
	case mine && (m.Stands == In && m.fresh || m.Stands == Alone): // N2, N3
		m.win(m.next(), TakeOver, m.now)
	case m.cfg.TakeOverAfter > 0 && m.now-max(m.quiet, m.heard[Inner], m.heard[Outer]) >= overlay.Instant(m.cfg.TakeOverAfter) &&
		(m.claim == nil || m.claim.kind != LostStart): // L1
		if m.cfg.Witness {
			m.ask(LostStart, true)
		} else {
			m.win(m.next(), LostStart, m.now)
		}
	}
}

// lose is a lost start by order: the operator's word stands for the other side's
// voice (L3).
func (m *Machine) lose() {
	switch {
	case m.active.on || m.OtherActive():
	case m.cfg.Witness:
		m.ask(LostStart, true)
		m.claim.consent, m.Shown = true, m.claim.number
		m.save()
		m.press()
	default:
		m.win(m.next(m.other.Floor, m.other.Term), LostStart, m.now)
	}
}

// win begins a term of this side.
func (m *Machine) win(n Term, kind Kind, asked overlay.Instant) {
	a := &m.active
	m.claim = nil
	lost := kind == LostStart
	m.Term, m.Stands, m.Floor, m.Given = n, Alone, max(n, m.Floor), false
	m.Lost = m.Lost || lost // until the broker has stored how it goes on
	m.save()
	m.stats.Terms[kind]++
	if kind == GoOn {
		a.joining, a.since = 0, m.now
	} else {
		*a = active{on: true, since: m.now, released: m.Last().Index, lease: asked + overlay.Instant(m.cfg.TakeOverAfter)/2}
		m.put(&Begin{Term: n, StoreLost: lost})
	}
	m.appendBatch(Batch{ID: n})
	m.put(&Announce{Term: n, Index: m.Last().Index})
}

// stop ends this side's being active.
func (m *Machine) stop() {
	if m.active.on {
		m.active, m.claim, m.warm = active{}, nil, false
		m.put(&Stop{})
	}
}

// letGo is a planned switch-over: the other claims, and gets this side's voice (P1).
func (m *Machine) letGo() {
	m.stop()
	m.beat(Inner, Outer)
}

// superseded is what a side does that hears of a newer term from the other (T7).
func (m *Machine) superseded(t Term) {
	m.stop()
	m.Term, m.Stands, m.Floor, m.Given, m.claim = t, Out, max(m.Floor, t), false, nil
	m.save()
}

// onClaim gives this side's voice, or does not (T3).
func (m *Machine) onClaim(line Line, x *Claim) {
	if !x.Number.Of(m.cfg.Side.Other()) {
		return
	}
	again := x.Number == m.Floor
	refused := x.Number < m.Floor
	if x.Kind == LostStart {
		refused = refused || m.complete()
	} else {
		refused = refused || m.Term != 0 && !history(x.History).has(m.Term)
	}
	if m.active.on || refused && !again {
		m.stats.Refused++
		m.beat(line)
		return
	}
	if !again {
		m.Floor, m.Given = x.Number, true
		m.save()
		if m.claim != nil && m.claim.number < m.Floor {
			m.claim = nil
		}
		m.stats.Given++
	}
	m.toOther(line, &Voice{Number: x.Number, Given: true, Asked: x.Asked})
}

func (m *Machine) onVoice(x *Voice, others bool) {
	c := m.claim
	if x.Given {
		fits := c != nil && x.Number == c.number && x.Number == m.Floor && c.base == m.Term
		if !fits || m.now-x.Asked > m.periods(1) { // T4
			return
		}
		m.onGiven(c, x, others)
		return
	}
	if others {
		return
	}
	m.hint = max(m.hint, x.Newest)
	switch {
	case x.Newest > m.Term && !x.Newest.Of(m.cfg.Side) && m.active.on:
		m.stop() // it has voted for one that may have begun: this side stands as it did (T7)
	case c != nil && x.Number == c.number && x.Newest >= x.Number && c.kind != LostStart:
		m.claim = nil
	}
}

// onGiven counts a voice.
func (m *Machine) onGiven(c *claim, x *Voice, others bool) {
	if others {
		m.Shown = x.Number
		m.save()
	} else if m.Given && c.kind != LostStart {
		return
	}
	switch {
	case c.kind == LostStart && m.cfg.Witness && others:
		c.consent = true
	case (c.kind == GoOn) == m.active.on:
		m.win(x.Number, c.kind, x.Asked)
	}
}

func (m *Machine) onLease(x *Lease) {
	switch {
	case x.Newest > m.Term && !x.Newest.Of(m.cfg.Side):
		m.stop()
	case m.active.on && (m.terms.has(x.Newest) || x.Newest.Of(m.cfg.Side)):
		m.active.lease = max(m.active.lease, min(x.Sent, m.now)+overlay.Instant(m.cfg.TakeOverAfter)/2)
	}
}
