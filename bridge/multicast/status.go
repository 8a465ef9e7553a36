package multicast

import "time"

// Status is what is known of a broker's part in a segment.
type Status struct {
	Stream  StreamID
	Next    uint64 // number of the next datagram
	Low     uint64 // the lowest that can be resent
	Waiting int    // bytes
	Width   time.Duration
	Pace    float64 // bits/s that are allowed now
	Sent    SenderCounters
	Past    MemberCounters // of streams that are not followed any more
	Strange uint64         // datagrams of no stream that is known here
	Peers   []PeerStatus
}

// PeerStatus is what is known of a session with a neighbour of the segment, each
// way.
type PeerStatus struct {
	Session uint64

	// What goes to the neighbour.
	Member  bool
	Rank    uint16
	Want    uint64
	Room    uint64
	Since   time.Duration // it is a member, or was turned off
	Why     Why           // it was turned off; 0: it was not
	Offered bool          // it may join
	Proving bool          // it has joined, and nothing has come of it yet
	Again   time.Duration // until it may join again; 0: it may

	// What comes from it.
	Following bool   // its stream, as a member
	Lowest    uint64 // the lowest number that is wanted
	Top       uint64 // the highest that is known
	Window    uint64
	Holes     int
	Retry     time.Duration
	Reorder   time.Duration
	Received  MemberCounters
}

// Status returns what is known now, of sessions in the order in which they began.
func (g *Segment) Status() Status {
	s := g.sender
	st := Status{
		Stream: s.cfg.Stream.ID, Next: s.next, Low: s.low, Waiting: s.queued, Width: time.Duration(s.turn()) * turnUnit,
		Pace: s.pace * 8, Sent: s.counters, Past: g.past, Strange: g.strange,
	}
	for _, f := range g.order {
		st.Peers = append(st.Peers, g.peerStatus(f))
	}
	return st
}

// Peer returns what is known of one session with a neighbour of the segment.
func (g *Segment) Peer(session uint64) (st PeerStatus, known bool) {
	f := g.follow[session]
	if f == nil {
		return PeerStatus{}, false
	}
	return g.peerStatus(f), true
}

func (g *Segment) peerStatus(f *following) PeerStatus {
	s, p := g.sender, PeerStatus{Session: f.session}
	if to := s.peers[f.session]; to != nil {
		p.Member, p.Rank, p.Want, p.Room = to.state == peerStarted, to.rank, to.want, to.room
		p.Since, p.Why, p.Offered, p.Proving = to.since, to.why, to.state == peerOffered, to.state == peerProving
		if to.state == peerOff {
			p.Again = max(0, to.again-s.now)
		}
	}
	if m := f.member; m != nil {
		p.Following, p.Lowest, p.Top, p.Window = m.phase == phaseStarted || m.phase == phaseLeaving, m.want, m.top, uint64(len(m.ring))
		p.Holes, p.Retry, p.Reorder, p.Received = len(m.holes), m.retry(1), m.reorder, m.counters
	}
	return p
}
