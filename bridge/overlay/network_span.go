package overlay

import (
	"cmp"
	"container/heap"
	"slices"
)

// span is the tree of the cheapest paths from this broker to all others.
type span struct {
	known  bool // since the last change
	costly bool // some link was given a cost: routes are held against the best paths (H4)
	steps  map[BrokerID]*pathStep
	queue  spanQueue
	one    []BrokerID // of before, to be used again
	other  []BrokerID
}

// pathStep is the last step of the path to a broker.
type pathStep struct {
	to     BrokerID
	before BrokerID // the one before it; of this broker: itself
	cost   uint64   // of the whole path
	final  bool     // no cheaper one can be found
}

func newSpan() span { return span{steps: map[BrokerID]*pathStep{}} }

// spanQueue has the paths that may be lengthened yet, the cheapest first.
type spanQueue []queuedStep

type queuedStep struct {
	to   BrokerID
	cost uint64
}

func (q spanQueue) Len() int { return len(q) }

func (q spanQueue) Less(i, j int) bool {
	return cmp.Or(cmp.Compare(q[i].cost, q[j].cost), cmp.Compare(q[i].to, q[j].to)) < 0
}

func (q spanQueue) Swap(i, j int) { q[i], q[j] = q[j], q[i] }

// Push implements heap.Interface.
func (q *spanQueue) Push(x any) { *q = append(*q, x.(queuedStep)) }

// Pop implements heap.Interface.
func (q *spanQueue) Pop() any {
	last := (*q)[len(*q)-1]
	*q = (*q)[:len(*q)-1]
	return last
}

// linkCostOf returns what a link costs: the more of what its ends say. It is none
// unless both say that it is up.
func (t *topology) linkCostOf(x, y BrokerID) (cost Cost, up bool) {
	there, up := t.states[x].costTo(y)
	back, upBack := t.states[y].costTo(x)
	return max(there, back), up && upBack
}

func (s *heardState) costTo(y BrokerID) (cost Cost, up bool) {
	if s == nil {
		return 0, false
	}
	at, found := slices.BinarySearch(s.Neighbours, y)
	switch {
	case !found:
		return 0, false
	case len(s.Costs) == 0:
		return CostOne, true
	}
	return s.Costs[at], true
}

// path returns the cheapest path to a broker, both ends in it: of several the
// one whose next broker has the lowest id, at every step; so that paths to one
// broker form a tree. Nil if there is none.
func (b *network) path(to BrokerID) []BrokerID {
	t := &b.topology
	if p, known := t.paths[to]; known {
		return p
	}
	if !b.reaches(to) {
		return nil
	}
	path := t.tree.way(to, nil)
	t.paths[to] = path
	return path
}

// way appends the path to a broker in reach.
func (s *span) way(to BrokerID, path []BrokerID) []BrokerID {
	for x := to; ; x = s.steps[x].before {
		path = append(path, x)
		if s.steps[x].before == x {
			break
		}
	}
	slices.Reverse(path)
	return path
}

// reaches reports whether there is a path to a broker.
func (b *network) reaches(to BrokerID) bool {
	b.span()
	return b.topology.tree.steps[to] != nil
}

// span finds the paths to all brokers. The cheapest is lengthened first, so one that
// is found later is never cheaper.
func (b *network) span() {
	t := &b.topology
	s := &t.tree
	if s.known {
		return
	}
	s.known, s.costly, s.queue = true, false, s.queue[:0]
	clear(s.steps)
	s.steps[b.cfg.ID] = &pathStep{to: b.cfg.ID, before: b.cfg.ID}
	heap.Push(&s.queue, queuedStep{b.cfg.ID, 0})
	for s.queue.Len() > 0 {
		x := s.steps[heap.Pop(&s.queue).(queuedStep).to]
		state := t.states[x.to]
		if x.final || state == nil {
			continue
		}
		x.final = true
		s.costly = s.costly || len(state.Costs) > 0
		for _, y := range state.Neighbours {
			if cost, up := t.linkCostOf(x.to, y); up {
				s.offer(x, y, x.cost+uint64(cost))
			}
		}
	}
}

// offer takes a path to y by way of x, if it is better than what is known.
func (s *span) offer(x *pathStep, y BrokerID, cost uint64) {
	known := s.steps[y]
	switch {
	case known == nil:
		s.steps[y] = &pathStep{to: y, before: x.to, cost: cost}
	case known.final || known.cost < cost:
		return
	case known.cost > cost:
		known.before, known.cost = x.to, cost
	default:
		if s.lower(x.to, known.before, y) {
			known.before = x.to
		}
		return
	}
	heap.Push(&s.queue, queuedStep{y, cost})
}

// lower reports whether of two paths to y the one by way of x has the lower id where
// they part.
func (s *span) lower(x, other, y BrokerID) bool {
	s.one = append(s.way(x, s.one[:0]), y)
	s.other = append(s.way(other, s.other[:0]), y)
	return slices.Compare(s.one, s.other) < 0
}

// dearer reports whether a route's way up is dearer than the best path by more than a
// third, is not known, or is known to be lost. Where no link was given a cost nobody
// asks.
func (b *network) dearer(r *route) bool {
	t := &b.topology
	b.span()
	best := t.tree.steps[r.key.Source]
	if !t.tree.costly || best == nil {
		return false
	}
	if !r.exact {
		return true
	}
	sum := uint64(0)
	for i := 1; i < len(r.rest); i++ {
		cost, up := t.linkCostOf(r.rest[i-1], r.rest[i])
		if !up {
			return true
		}
		sum += uint64(cost)
	}
	return 3*sum > 4*best.cost
}

// costly reports whether a link on the way to brokers in reach was given a cost.
func (b *network) costly() bool {
	b.span()
	return b.topology.tree.costly
}
