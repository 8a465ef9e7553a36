package multicast

import (
	"fmt"
	"slices"
)

// nacked takes the ranges that a member asks for (X3).
func (s *Sender) nacked(p *peer, ranges []span) error {
	p.nacks++
	total := 0
	for _, r := range ranges {
		total += int(r.many)
	}
	if p.nacks > maxNACKs || total > maxAsked {
		s.counters.NACKsDropped++
		return nil
	}
	s.counters.NACKs++
	for _, r := range ranges {
		if r.end() > s.next {
			return fmt.Errorf("it asks for datagrams up to %d where %d is the next one", r.end()-1, s.next)
		}
		for number := max(r.from, s.low); number < r.end(); number++ {
			s.asked(p, &s.ring[number%uint64(len(s.ring))])
		}
	}
	return nil
}

// asked takes that a member lacks a datagram.
func (s *Sender) asked(p *peer, slot *sent) {
	if slot.asked&(1<<p.slot) == 0 {
		slot.asked |= 1 << p.slot
		p.lacks[0]++
	}
	switch {
	case slot.waits:
	case slot.again && s.now-slot.resent < holdOff:
		s.counters.Duplicates++
		if !slot.doubled { // X4
			slot.doubled = true
			s.width = min(max(minWidth, 1.5*s.width), maxWidth)
		}
	default:
		slot.waits = true
		s.repairs = append(s.repairs, slot.number)
	}
}

// skipRepairs takes away repairs that nobody lacks any more.
func (s *Sender) skipRepairs() {
	n := 0
	for n < len(s.repairs) && s.repairs[n] < s.low {
		n++
	}
	s.repairs = slices.Delete(s.repairs, 0, n)
}

// repair sends the first of the repairs that wait.
func (s *Sender) repair() {
	slot := &s.ring[s.repairs[0]%uint64(len(s.ring))]
	s.repairs = slices.Delete(s.repairs, 0, 1)
	slot.waits, slot.again, slot.doubled, slot.resent = false, true, false, s.now
	n := s.transmit(slot, true)
	s.share += n
	s.counters.Repairs++
	s.counters.RepairBytes += uint64(n)
	s.judged = append(s.judged, repaired{slot.number, s.now})
}

// judge narrows the turns for each repair that was not asked for twice (X4).
func (s *Sender) judge() {
	n := 0
	for ; n < len(s.judged) && s.now-s.judged[n].at >= holdOff; n++ {
		r := s.judged[n]
		slot := &s.ring[r.number%uint64(len(s.ring))]
		if slot.number == r.number && slot.doubled && slot.resent == r.at {
			continue
		}
		if s.width *= 0.97; s.width < 1 {
			s.width = 0
		}
	}
	s.judged = slices.Delete(s.judged, 0, n)
}
