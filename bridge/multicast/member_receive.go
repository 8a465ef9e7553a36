package multicast

import (
	"slices"
	"time"
)

// received takes a datagram of the stream (Y1). Without a proof of who sealed it
// it changes nothing.
func (m *Member) received(in *Received) {
	h := in.head
	switch {
	case h.Rank != 0 && h.Rank == m.rank: // its own comes back
		return
	case h.Rank == 0 && h.Kind != KindData && h.Kind != KindHeartbeat, h.Rank != 0 && h.Kind != KindNACK:
		m.counters.Forged++
		return
	}
	seen := m.ranks[h.Rank]
	if seen != nil && !seen.new(h.Packet) {
		m.counters.Replayed++
		return
	}
	content, err := m.box.open(m.content[:0], in.Datagram, h)
	if err != nil {
		m.counters.Forged++
		return
	}
	m.content = content
	if seen == nil {
		seen = m.know(h.Rank)
	}
	seen.take(h.Packet)
	if h.Rank != 0 {
		m.overhear(content)
		return
	}
	if err := m.hear(h.Kind, content); err != nil {
		m.out.end(m.cfg.Session, err)
	}
}

// know begins to note the packet numbers of a rank. Ranks are never used again, so
// the oldest is forgotten when there are many.
func (m *Member) know(rank uint16) *packets {
	if rank != 0 {
		if len(m.oldest) == maxRanks {
			delete(m.ranks, m.oldest[0])
			m.oldest = slices.Delete(m.oldest, 0, 1)
		}
		m.oldest = append(m.oldest, rank)
	}
	p := new(packets)
	m.ranks[rank] = p
	return p
}

// hear takes what the sender says.
func (m *Member) hear(kind Kind, content []byte) error {
	var b beat
	var err error
	if kind == KindData {
		b, _, err = readData(content)
	} else {
		b, err = readHeartbeat(content)
	}
	if err != nil {
		return err
	}
	m.heard = m.awake
	switch m.phase {
	case phaseOffered:
		if m.proved++; m.proved == provedBy { // Y11
			m.phase = phaseJoining
			m.out.tell(m.cfg.Session, &Join{Stream: m.stream, Room: uint32(len(m.ring))})
		}
	case phaseProving:
		if kind == KindHeartbeat || m.now-m.untold >= statusWithin {
			m.status()
		}
	case phaseStarted, phaseLeaving:
		m.low, m.width = max(m.low, b.low()), b.width
		if kind == KindHeartbeat {
			m.tell(min(b.number, m.want+uint64(len(m.ring))))
			if m.phase == phaseStarted {
				m.status()
			}
			return nil
		}
		m.counters.Datagrams++
		by := viaGroup
		if b.repair {
			by = viaRepair
		}
		m.arrive(b.number, beatSize, by)
	}
	return nil
}

// via is how a datagram came.
type via byte

const (
	viaGroup  via = iota
	viaRepair     // sent again
	viaLink       // over the link
)

func (m *Member) slot(number uint64) *slot { return &m.ring[number%uint64(len(m.ring))] }

// arrive takes a datagram whose content is in m.content: its fragments from there on
// (Y2).
func (m *Member) arrive(number uint64, from int, by via) {
	switch {
	case number < m.want:
		m.late(by)
		return
	case number >= m.want+uint64(len(m.ring)):
		m.counters.Beyond++ // it will be asked for
		return
	}
	s := m.slot(number)
	switch {
	case number > m.top:
		m.tell(number)
		m.top = number
		*s = slot{content: s.content}
	case s.there:
		m.late(by)
		return
	default:
		m.close(number, s, by)
	}
	s.there, s.from = true, from
	s.content, m.content = m.content, s.content
	for m.want <= m.top {
		s := m.slot(m.want)
		if !s.there {
			break
		}
		m.out.deliver(m.want, s.content[s.from:])
		m.want++
	}
}

func (m *Member) late(by via) {
	m.counters.Doubles++
	if by == viaRepair {
		m.counters.LateRepairs++
	}
}

// tell makes holes of the numbers below one that are not known yet.
func (m *Member) tell(number uint64) {
	for n := m.top + 1; n < number; n++ { // Y3
		s := m.slot(n)
		*s = slot{content: s.content, since: m.now, awake: m.awake, due: m.now + m.reorder + m.turn(n)}
		m.holes = append(m.holes, n)
		m.earliest = min(m.earliest, s.due)
		m.top = n
		m.counters.Holes++
	}
}

// turn is how long this member lets others ask first.
func (m *Member) turn(number uint64) time.Duration {
	if m.place.N == 0 {
		return 0
	}
	return time.Duration((uint64(m.place.I)+number)%uint64(m.place.N)) * time.Duration(m.width) * turnUnit
}

// close takes that a hole is filled.
func (m *Member) close(number uint64, s *slot, by via) {
	at, _ := slices.BinarySearch(m.holes, number)
	m.holes = slices.Delete(m.holes, at, at+1)
	m.counters.Delay.take(m.now - s.since)
	switch {
	case by == viaRepair && s.rounds == 1 && s.own: // Y6
		m.trips.take(m.now - s.last)
		m.backoff = 1
	case by == viaGroup && s.rounds > 0: // Y8
		m.reorder = max(m.reorder, min(mostReorder, (m.now-s.since)*3/2))
		m.calmAt = m.now + calmDown
		m.counters.Reordered++
	}
}

// calm halves the time that is allowed for reordering.
func (m *Member) calm() {
	m.calmAt = m.now + calmDown
	if m.reorder /= 2; m.reorder < turnUnit {
		m.reorder, m.calmAt = 0, never
	}
}

// status tells the sender what this member wants and has room for (Y9).
func (m *Member) status() {
	h := m.head(KindStatus)
	start := m.out.datagram(h, statusSize)
	room := m.room()
	m.out.bytes = appendStatus(m.out.bytes, status{want: m.want, room: uint32(room), dropped: m.drops - m.before})
	m.out.send(m.box, m.cfg.Session, start, h)
	m.fresh, m.untold, m.edge = true, m.now, m.want+room
	m.counters.Statuses++
}

func (m *Member) head(kind Kind) Head {
	m.packet++
	return Head{Kind: kind, Rank: m.rank, Stream: m.stream, Packet: m.packet}
}
