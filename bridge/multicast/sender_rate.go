package multicast

import "slices"

// passTick looks at what is looked at now and then: who is silent, who loses too
// much, the rate, and who may join again.
func (s *Sender) passTick() {
	s.tickAt = s.now + tick
	for i := 0; i < len(s.members); {
		if p := s.members[i]; s.awake-p.heard >= silence { // X6 (b)
			s.off(p, WhySilent)
			continue
		}
		i++
	}
	s.judgeLosses()
	s.adjustRate()
	s.ticks++
	s.marks[s.ticks%ticksOfSecond] = s.next
	for _, p := range s.order {
		copy(p.lacks[1:], p.lacks[:])
		p.lacks[0] = 0
		if s.ticks%ticksOfSecond == 0 {
			p.nacks = 0
		}
		if p.state == peerOff && s.now >= p.again && !s.retired {
			s.offer(p)
		}
	}
}

// judgeLosses turns off who lacks too much of the last second (X6 c).
func (s *Sender) judgeLosses() {
	datagrams := float64(s.next - s.marks[(s.ticks+1)%ticksOfSecond])
	lacks := make([]int, len(s.members))
	for i, p := range s.members {
		for _, n := range p.lacks {
			lacks[i] += n
		}
	}
	sorted := slices.Sorted(slices.Values(lacks))
	for i, p := range slices.Clone(s.members) {
		n := lacks[i]
		loss, median := float64(n)/datagrams, sorted[len(sorted)/2]
		if n >= minLacksSecond && (loss > maxLoss || loss > maxLossAlone && n > timesMedian*median) {
			s.off(p, WhyLossy)
		}
	}
}

// adjustRate is X8.
func (s *Sender) adjustRate() {
	datagrams, worst := float64(s.next-s.marks[s.ticks%ticksOfSecond]), 0
	for _, p := range s.members {
		worst = max(worst, p.lacks[0])
	}
	full := s.cfg.Rate / 8
	if s.dropped || worst >= minLacksTick && float64(worst) > rateLoss*datagrams {
		s.pace = max(rateDown*s.pace, rateLeast*full)
	} else {
		s.pace = min(s.pace+rateUp*full, full)
	}
	s.dropped = false
}
