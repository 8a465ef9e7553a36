package link

import (
	"cmp"
	"fmt"
	"slices"

	"callboard/bridge/multicast"
	"callboard/bridge/overlay"
)

const (
	// minShared is the shortest content of a reading that is worth being shared,
	// bytes.
	minShared = 64
	// maxPut is how many series go into one step of the machine.
	maxPut = 64
)

// seriesWriter makes series of what one step says to several neighbours.
type seriesWriter struct {
	put     multicast.Put
	buffers [][]byte // of put
	plain   []byte   // readings and frames of a series
	count   map[*overlay.Reading]int
	shared  []*overlay.Reading
	series  multicast.Series
	members []member
}

// member is a frame that a series may take.
type member struct {
	*queued
	rank uint16
}

// send sends what waits: by multicast, or over the links of those that it is for.
func (g *segment) send() {
	g.links.queueMu.Lock()
	all := g.queue
	g.queue = g.spare[:0]
	g.links.queueMu.Unlock()
	g.spare = all
	w := &g.series
	for rest := all; len(rest) > 0; {
		g.mu.Lock()
		w.put.Series = w.put.Series[:0]
		for range maxPut {
			n := stepOf(rest)
			g.sendStep(rest[:n])
			if rest = rest[n:]; len(rest) == 0 {
				break
			}
		}
		if len(w.put.Series) > 0 {
			g.stepLocked(&w.put)
		}
		g.mu.Unlock()
	}
	clear(all)
}

// stepOf returns how many frames belong to one step: up to where a session comes
// again.
func stepOf(all []queued) int {
	for n := range all {
		if slices.ContainsFunc(all[:n], func(q queued) bool { return q.session == all[n].session }) {
			return n
		}
	}
	return len(all)
}

// sendStep sends what one step says to several sessions. It is called with g.mu
// held.
func (g *segment) sendStep(all []queued) {
	w := &g.series
	w.choose(g, all)
	for i := range all {
		q := &all[i]
		switch {
		case g.sessions[q.session.number] != q.session: // it has ended
			q.session.peer.dropped.Add(uint64(len(q.messages)))
		case !slices.ContainsFunc(w.members, func(m member) bool { return m.queued == q }):
			g.sendOverLink(q)
		}
	}
	if len(w.members) > 0 {
		w.append(g)
	}
}

// choose finds the frames that go by multicast: those to members that share a
// reading with another.
func (w *seriesWriter) choose(g *segment, all []queued) {
	clear(w.members)
	w.members, w.shared = w.members[:0], w.shared[:0]
	if len(all) < 2 || g.machine.Full() {
		return
	}
	weight := 0
	for i := range all {
		q := &all[i]
		rank, ok := g.machine.Rank(q.session.number)
		if !ok || weight+q.weight > multicast.MaxSeries || hasReplay(q.messages) {
			continue
		}
		weight += q.weight
		w.members = append(w.members, member{q, rank})
	}
	if w.count == nil {
		w.count = map[*overlay.Reading]int{}
	}
	clear(w.count)
	for _, m := range w.members {
		for r := range readingsOf(m.messages) {
			if w.count[r]++; w.count[r] == 2 {
				w.shared = append(w.shared, r)
			}
		}
	}
	w.members = slices.DeleteFunc(w.members, func(m member) bool {
		for r := range readingsOf(m.messages) {
			if w.count[r] > 1 {
				return false
			}
		}
		return true
	})
	slices.SortFunc(w.members, func(a, b member) int { return cmp.Compare(a.rank, b.rank) })
}

func hasReplay(messages []overlay.Message) bool {
	return slices.ContainsFunc(messages, func(m overlay.Message) bool { _, replay := m.(*overlay.ReplayMessage); return replay })
}

// readingsOf yields the readings of a frame that may be shared, each once.
func readingsOf(messages []overlay.Message) func(func(*overlay.Reading) bool) {
	return func(yield func(*overlay.Reading) bool) {
		for i, m := range messages {
			n, ok := m.(*overlay.NotifyMessage)
			if !ok || n.Reading == nil || len(n.Reading.JSON)+len(n.Reading.Messages) < minShared || notifiedBefore(messages[:i], n.Reading) {
				continue
			}
			if !yield(n.Reading) {
				return
			}
		}
	}
}

func notifiedBefore(messages []overlay.Message, r *overlay.Reading) bool {
	return slices.ContainsFunc(messages, func(m overlay.Message) bool {
		n, ok := m.(*overlay.NotifyMessage)
		return ok && n.Reading == r
	})
}

// append writes a series of the members' frames, to be put into the machine.
func (w *seriesWriter) append(g *segment) {
	s := &w.series
	s.Readings, s.Sections = s.Readings[:0], s.Sections[:0]
	w.plain = keep(w.plain)
	ends := make([]int, 0, 32) // of readings and frames in w.plain
	encoder := w.members[0].session.encoder
	for _, r := range w.shared {
		start := len(w.plain)
		w.plain = encoder.AppendReading(w.plain, r)
		ends = append(ends, len(w.plain))
		g.saved += uint64(w.count[r]-1) * uint64(len(w.plain)-start)
	}
	for _, m := range w.members {
		start := len(w.plain)
		var err error
		if w.plain, err = m.session.encoder.Append(w.plain, m.messages, w.shared...); err == nil && len(w.plain)-start > m.session.maxFrame {
			err = fmt.Errorf("a frame of %d bytes where the neighbour takes up to %d", len(w.plain)-start, m.session.maxFrame)
		}
		if err != nil {
			m.session.end(err)
		}
		ends = append(ends, len(w.plain))
		m.session.peer.sent.count(len(m.messages), len(w.plain)-start)
		s.Sections = append(s.Sections, multicast.Section{Rank: m.rank, Pair: g.machine.Number(m.session.number)})
		m.session.release(m.weight)
	}
	start := 0
	for i, end := range ends {
		if part := w.plain[start:end]; i < len(w.shared) {
			s.Readings = append(s.Readings, part)
		} else {
			s.Sections[i-len(w.shared)].Frame = part
		}
		start = end
	}
	if s.Size() > multicast.MaxSeries {
		for _, m := range w.members {
			m.session.end(fmt.Errorf("a series of %d bytes; expected up to %d", s.Size(), multicast.MaxSeries))
		}
		return
	}
	at := len(w.put.Series)
	if at == len(w.buffers) {
		w.buffers = append(w.buffers, nil)
	}
	w.buffers[at] = s.Append(keep(w.buffers[at]))
	w.put.Series = append(w.put.Series, w.buffers[at])
}

// sendOverLink hands a frame to its session's writer.
func (g *segment) sendOverLink(q *queued) {
	s := q.session
	weight := q.weight
	for part := range overlay.Parts(q.messages, overlay.ReplayBytes) {
		plain, err := s.encoder.Append(nil, part)
		if err != nil {
			s.end(err)
			return
		}
		s.push(outgoing{plain: plain, number: g.machine.Number(s.number), count: len(part), weight: weight})
		weight = 0 // with the first part: the writer takes them together, or none
	}
}
