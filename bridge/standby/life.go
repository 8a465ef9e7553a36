package standby

import "callboard/bridge/overlay"

// recent is how many of its own beats a side remembers, for their echoes.
const recent = 64

// life is what a side knows of its own beats, and hears of the other's.
type life struct {
	heard   [lines]overlay.Instant // anything, from the other side
	dead    bool                   // the other side's process is
	asked   [lines]int             // how often since it was heard
	beaten  overlay.Instant        // when its own beats were last due
	renewed overlay.Instant        // when the witness was last told
	outer   overlay.Instant        // when its outer line last was seen to live

	number uint64                  // of its last beat
	sent   [recent]overlay.Instant // when its newest beats were, by number
	echo   [lines]uint64           // its newest beat that came back, by the line that took it
	echoed [lines]overlay.Instant  // when that was sent

	fresh bool   // since it began, stood still or joined, a beat of its own has come back in step
	from  uint64 // the first beat that counts for that
}

// other is what the other side last said of itself.
type other struct {
	Status
	life   uint64 // 0: nothing was heard of it
	number uint64
	seen   [lines]uint64 // its newest beat, by line
	at     overlay.Instant
	echo   uint64 // this side's beat that it had heard when it said so
}

func (l *life) begin(now, period overlay.Instant) {
	l.heard, l.echoed = [lines]overlay.Instant{now, now}, [lines]overlay.Instant{now, now}
	l.outer, l.beaten, l.renewed, l.from = now, now-period, now-period, 1
}

// look is the look at the clock with which each turn begins (H4). A side that
// stood still counts every silence anew, and is not fresh: the other may have gone
// on without it.
func (m *Machine) look() {
	if m.now-m.turn > m.quarters(3) {
		m.stats.StoodStill++
		m.heard, m.echoed = [lines]overlay.Instant{m.now, m.now}, [lines]overlay.Instant{m.now, m.now}
		m.dead, m.outer, m.other.at, m.quiet = false, m.now, m.now, m.now
		m.fresh, m.from = false, m.number+1
		if m.active.on && m.Stands == Alone {
			m.active.hold = m.now + m.quarters(7)
		}
	}
	m.turn = m.now
}

func (m *Machine) status() Status {
	return Status{
		Term: m.Term, Stands: m.Stands, Active: m.active.on, Lost: m.Lost && !m.active.on, Last: m.Last(), Floor: m.Floor, Warm: m.warm,
		Outer: m.now-m.outer < m.periods(2),
	}
}

// beat tells how this side stands.
func (m *Machine) beat(over ...Line) {
	m.number++
	m.sent[m.number%recent] = m.now
	m.told = m.status()
	for _, line := range over {
		m.toOther(line, &Beat{Life: m.cfg.Life, Number: m.number, Echo: Echo{m.other.life, m.other.seen[line]}, Status: m.told})
	}
}

// tellNews beats at once when how this side stands has changed (H1).
func (m *Machine) tellNews() {
	if now := m.status(); now != m.told {
		now.Last = m.told.Last
		if now != m.told {
			m.beat(Inner, Outer)
		}
	}
}

// askSilent asks the other side on a line that is silent for T, and after T/2 more
// again (H1).
func (m *Machine) askSilent() {
	for line := range lines {
		times := 0
		switch silent := m.now - m.heard[line]; {
		case silent >= m.quarters(6):
			times = 2
		case silent >= m.quarters(4):
			times = 1
		}
		if times > m.asked[line] {
			m.stats.Asked++
			m.toOther(line, &Ask{m.cfg.Life})
		}
		m.asked[line] = times
	}
}

// silent reports whether nothing came over a line for 7T/4.
func (m *Machine) silent(line Line) bool { return m.dead || m.now-m.heard[line] >= m.quarters(7) }

// gone reports whether that is so of both.
func (m *Machine) gone() bool { return m.silent(Inner) && m.silent(Outer) }

// stuck reports whether the inner line does not take what this side sends,
// though it brings (H5).
func (m *Machine) stuck() bool { return m.now-m.echoed[Inner] >= m.quarters(7+8) }

func (m *Machine) onBeat(line Line, x *Beat) {
	o := &m.other
	if x.Life < o.life { // of an earlier life
		return
	}
	if x.Life != o.life {
		o.seen = [lines]uint64{}
	}
	o.seen[line] = max(o.seen[line], x.Number)
	echo := uint64(0)
	if x.Echo.Life == m.cfg.Life { // what an earlier life has heard proves nothing (H6)
		echo = x.Echo.Number
	}
	if echo > m.echo[line] && echo <= m.number && m.number-echo < recent {
		m.echo[line] = echo
		m.echoed[line] = max(m.echoed[line], m.sent[echo%recent])
	}
	if x.Life == o.life && x.Number < o.number { // it has said something newer over the other line
		return
	}
	o.life, o.number, o.Status, o.at, o.echo = x.Life, x.Number, x.Status, m.now, echo
	m.hear(echo)
}

// hear follows what the other side says of itself.
func (m *Machine) hear(echo uint64) {
	o := &m.other
	switch {
	case o.Term <= m.Term:
	case o.Term.Of(m.cfg.Side) && m.terms.has(o.Term) && !m.Lost: // a join that it has accepted
		if m.active.on && o.Term == m.active.joining && o.Stands == In {
			m.onAcked(&Acked{Term: o.Term, Last: o.Last, Stands: o.Stands})
		} else if !m.active.on {
			m.Term, m.Stands = o.Term, Both
			m.save()
		}
	default:
		m.superseded(o.Term)
	}
	if o.Term == m.Term {
		follows := o.Active && o.Stands == Both && m.Stands == In && !m.active.on
		leads := m.active.on && m.Stands == Both && o.Stands == In
		if (follows || leads) && echo >= m.from {
			m.fresh = true
		}
		if leads { // an acknowledgement may have been lost
			m.onAcked(&Acked{Term: o.Term, Last: o.Last, Stands: In})
		}
		if !m.active.on && m.Stands == In && o.Active && o.Stands == Alone {
			m.Stands = Out
			m.save()
		}
	}
	if !m.active.on && !o.Active && m.claim == nil { // at once
		m.consider()
		m.press()
	}
}
