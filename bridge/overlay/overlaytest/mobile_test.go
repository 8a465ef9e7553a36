package overlaytest

import (
	"slices"

	"callboard/bridge/overlay"
)

// What schedules do and look at where brokers move: links come and go, and cost more
// or less.

// changeCost gives a link another cost: few values, so that paths are often alike.
func (s *schedule) changeCost(l link) {
	s.marks["costs changed"]++
	s.cost(l, []overlay.Cost{4, 5, 6, 8, 12, 16}[s.choice.Intn(6)])
}

// moveBrokers has a link come or go, cost more or less, or islands part and meet.
func (s *schedule) moveBrokers() {
	cuts := s.cuts()
	switch u := s.choice.Intn(100); {
	case u < 30 && len(cuts) > 0:
		l := pick(s.choice, cuts)
		if !s.reachedFrom(l.a)[l.b] {
			s.marks["met"]++
		}
		s.up(l)
	case u < 55:
		s.down(pick(s.choice, s.links))
		s.marks["cuts"]++
	case u < 90:
		s.changeCost(pick(s.choice, s.links))
	default:
		s.part()
	}
}

// onBestPaths fails if a route is dearer than the best path by more than a third, some
// periods after the last change (H4).
func (s *schedule) onBestPaths() {
	if !s.mobile {
		return
	}
	s.marks["improved"] += int(s.stats().Improved)
	for _, p := range s.clients {
		for _, word := range sortedKeys(p.nums) {
			k := p.key(word)
			chain := s.chain(k)
			if len(chain) == 0 || chain[len(chain)-1] != p.at {
				continue
			}
			slices.Reverse(chain)
			if cost, best := s.costOf(chain), s.best(p.at, s.index(k.Source)); 3*cost > 4*best {
				failf("%s takes %v, which costs %d, the best path costs %d", describeKey(k), chain, cost, best)
			}
		}
	}
}
