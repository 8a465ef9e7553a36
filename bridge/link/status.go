package link

import (
	"fmt"
	"sync/atomic"
	"time"

	"callboard/bridge/multicast"
)

// Status is what is known of the link with a neighbour. Counts go on from
// session to session.
type Status struct {
	Neighbour  Neighbour
	Dials      bool      // this side dials
	Up         bool      // there is a session
	Session    uint64    // its number
	Since      time.Time // when it began
	Compressed bool
	Waiting    int            // bytes that wait to be sent, about
	Problem    string         // why there is no session, or why the last one ended; "" if there is one
	Segment    *SegmentStatus // how the neighbour gets what others want, too; nil: no segment
	Sent       Traffic
	Received   Traffic
	Dropped    uint64 // messages given to Send that were not sent: their session had ended
}

// SegmentStatus is how a neighbour gets what others on a segment want, too.
type SegmentStatus struct {
	Group     string    // of the segment; "" if there is none in common
	Multicast bool      // by multicast, not over the link
	Since     time.Time // that; zero: since the link is up
	Why       string    // why not by multicast
}

// Traffic is what went one way.
type Traffic struct {
	Frames, Messages uint64
	Plain            uint64 // bytes of frames before compression
	Bytes            uint64 // bytes on the link: compressed, with heartbeats, without TLS
}

// Status lists the links in the order in which the neighbours were set.
func (l *Links) Status() []Status {
	now := l.neighbours.Load().all
	all := make([]Status, 0, len(now))
	for _, p := range now {
		all = append(all, p.status())
	}
	return all
}

func (p *peer) status() Status {
	p.mu.Lock()
	defer p.mu.Unlock()
	st := Status{
		Neighbour: p.neighbour, Dials: p.dials(), Problem: p.problem,
		Sent: p.sent.read(), Received: p.received.read(), Dropped: p.dropped.Load(),
	}
	if s := p.current; s != nil {
		st.Segment = s.onSegment()
		st.Up, st.Session, st.Since, st.Compressed = true, s.number, s.since, s.compress
		s.mu.Lock()
		st.Waiting = s.waiting
		s.mu.Unlock()
	}
	return st
}

// SegmentStats are the figures of one of the broker's segments.
type SegmentStats struct {
	multicast.Status
	Group       string
	Members     int                      // neighbours that get this broker's stream
	Following   int                      // neighbours whose stream it gets
	Saved       uint64                   // bytes of readings that went once instead of to each
	SocketDrops uint32                   // datagrams that the socket has dropped
	Received    multicast.MemberCounters // of all streams
}

// Refused is how many datagrams were not taken: forged, replayed, or of nobody that
// is known.
func (s *SegmentStats) Refused() uint64 {
	return s.Sent.Forged + s.Sent.Replayed + s.Received.Forged + s.Received.Replayed + s.Strange
}

// Segments returns the figures of the segments, as they were listed.
func (l *Links) Segments() []SegmentStats {
	var all []SegmentStats
	for _, g := range l.segments {
		all = append(all, g.stats())
	}
	return all
}

func (g *segment) stats() SegmentStats {
	g.mu.Lock()
	defer g.mu.Unlock()
	st := SegmentStats{Status: g.machine.Status(), Group: g.group.Address().String(), Saved: g.saved, SocketDrops: g.dropped}
	st.Received = st.Past
	for i := range st.Peers {
		p := &st.Peers[i]
		st.Received.Add(&p.Received)
		if p.Member {
			st.Members++
		}
		if p.Following {
			st.Following++
		}
	}
	return st
}

// onSegment says how a session's neighbour gets what others want, too; nil if this
// broker is on no segment.
func (s *session) onSegment() *SegmentStatus {
	switch {
	case len(s.peer.links.segments) == 0:
		return nil
	case s.segment == nil:
		return &SegmentStatus{Why: "no segment in common"}
	}
	return s.segment.status(s)
}

func (g *segment) status(s *session) *SegmentStatus {
	g.mu.Lock()
	defer g.mu.Unlock()
	st := &SegmentStatus{Group: g.group.Address().String()}
	p, known := g.machine.Peer(s.number)
	if p.Since > 0 {
		st.Since = g.begun.Add(p.Since)
	}
	switch {
	case !known:
		st.Why = "the session is about to end"
	case p.Member:
		st.Multicast = true
	case p.Proving:
		st.Why = "nothing is heard of it on the segment"
	case p.Offered && p.Why == 0:
		st.Why = "it has not heard the stream yet"
	case p.Offered:
		st.Why = p.Why.String() + ", and may join again"
	default:
		st.Why = fmt.Sprintf("%v, and may join again in %v", p.Why, p.Again.Round(time.Second))
	}
	return st
}

// traffic counts what goes one way.
type traffic struct{ frames, messages, plain, bytes atomic.Uint64 }

func (t *traffic) count(messages, plain int) {
	t.frames.Add(1)
	t.messages.Add(uint64(messages))
	t.plain.Add(uint64(plain))
}

func (t *traffic) read() Traffic {
	return Traffic{Frames: t.frames.Load(), Messages: t.messages.Load(), Plain: t.plain.Load(), Bytes: t.bytes.Load()}
}
