package multicast

import (
	"fmt"
	"slices"
	"time"
)

// ask asks the group for the holes that are due (Y4).
func (m *Member) ask() {
	m.earliest = never
	m.spans = m.spans[:0]
	again := false
	for _, n := range m.holes {
		if n < m.low {
			continue // it cannot be resent: it comes over the link
		}
		s := m.slot(n)
		if s.due <= m.now {
			s.rounds++
			s.last, s.own, s.due = m.now, true, m.now+m.retry(s.rounds)
			again = again || s.rounds == 2
			m.name(n)
		}
		m.earliest = min(m.earliest, s.due)
	}
	if again {
		m.backoff = min(2*m.backoff, mostBackoff) // Y6
	}
	for spans := range slices.Chunk(m.spans, maxRanges) {
		h := m.head(KindNACK)
		start := m.out.datagram(h, rangeSize*len(spans))
		for _, s := range spans {
			m.out.bytes = appendSpan(m.out.bytes, s)
		}
		m.out.send(m.box, 0, start, h)
		m.counters.NACKs++
	}
}

// name puts a number behind those that are asked for.
func (m *Member) name(number uint64) {
	if last := len(m.spans) - 1; last >= 0 && m.spans[last].end() == number {
		m.spans[last].many++
		return
	}
	m.spans = append(m.spans, span{number, 1})
}

// retry is how long after a round of asking the next one is due (Y6).
func (m *Member) retry(rounds int) time.Duration {
	t := max(leastRetry, m.trips.mean+4*m.trips.deviation) * time.Duration(m.backoff)
	for range min(max(0, rounds-fastRounds), 7) {
		t *= 2
	}
	return min(t, mostRetry)
}

// overhear takes another member's NACK (Y5).
func (m *Member) overhear(content []byte) {
	if m.phase != phaseStarted {
		return
	}
	spans, err := readNACK(m.spans[:0], content)
	if err != nil {
		m.counters.Wrong++ // the sender ends its session
		return
	}
	m.spans = spans
	for _, r := range spans {
		at, _ := slices.BinarySearch(m.holes, r.from)
		for ; at < len(m.holes) && m.holes[at] < r.end(); at++ {
			s := m.slot(m.holes[at])
			if s.rounds > 0 && m.now-s.last < m.retry(s.rounds)/2 {
				continue
			}
			if s.due <= m.now+m.turn(m.holes[at]) {
				m.counters.Suppressed++
			}
			s.rounds++
			s.last, s.own, s.due = m.now, false, m.now+m.retry(s.rounds)+m.turn(m.holes[at])
		}
	}
}

// askLink asks over the link for what repairs have not brought, and ends a session
// that brings it neither (Y7). Holes of higher numbers are younger.
func (m *Member) askLink() {
	if len(m.holes) == 0 || m.awake-m.slot(m.holes[0]).awake < askLinkAfter {
		return
	}
	asked := Ask{Stream: m.stream}
	for _, n := range m.holes {
		s := m.slot(n)
		if m.awake-s.awake < askLinkAfter {
			break
		}
		if s.linked > 0 {
			if m.awake-s.linked >= fillWithin*m.cfg.Heartbeat {
				m.out.end(m.cfg.Session, fmt.Errorf("datagram %d of its stream came neither by multicast nor over the link", n))
				return
			}
			continue
		}
		s.linked = m.awake
		if asked.To > 0 && asked.To+1 < n {
			m.out.tell(m.cfg.Session, &Ask{m.stream, asked.From, asked.To})
			asked.To = 0
		}
		if asked.To == 0 {
			asked.From = n
		}
		asked.To = n
	}
	if asked.To > 0 {
		m.out.tell(m.cfg.Session, &asked)
		m.counters.Asks++
	}
}
