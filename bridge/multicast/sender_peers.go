package multicast

import (
	"fmt"
	"slices"
	"time"
)

// peer is a neighbour as the sender sees it.
type peer struct {
	session uint64
	state   peerState
	rank    uint16
	slot    int
	packets packets

	want, room uint64
	heard      time.Duration // when, in time awake
	closes     bool          // it holds the window closed,
	closed     time.Duration // since then, in time awake
	dropped    uint32        // by its socket
	nacks      int           // taken in this second
	lacks      [ticksOfSecond]int
	since      time.Duration // when it became a member, or was turned off

	until uint64        // leaving: the last series that may name it
	why   Why           // why it is no member
	wait  time.Duration // how long it was kept out
	again time.Duration // when it may join again
}

type peerState byte

const (
	peerOff     peerState = iota // all goes over TCP
	peerOffered                  // may join
	peerProving                  // has a rank; a status is to prove that they arrive
	peerStarted                  // is a member
	peerLeaving                  // is none any more, but series that wait name it
)

// up invites a neighbour with whom a session has begun.
func (s *Sender) up(session uint64) {
	if s.peers[session] == nil && !s.retired {
		p := &peer{session: session, slot: -1}
		s.peers[session] = p
		s.order = append(s.order, p)
		s.offer(p)
	}
}

func (s *Sender) offer(p *peer) {
	p.state = peerOffered
	s.out.tell(p.session, &Offer{Group: s.cfg.Group, Port: s.cfg.Port, Stream: s.cfg.Stream, Datagram: uint16(s.cfg.Datagram), Window: uint32(s.cfg.Window)})
}

// down takes that a session has ended (X7).
func (s *Sender) down(session uint64) {
	if p := s.peers[session]; p != nil {
		s.drop(p)
		delete(s.peers, session)
		s.order = slices.DeleteFunc(s.order, func(o *peer) bool { return o == p })
		s.finishRetiring()
	}
}

// told takes a message of a neighbour about this stream: a Join, an Ask or an Off.
func (s *Sender) told(in *Told) {
	p := s.peers[in.Session]
	if p == nil {
		return
	}
	switch m := in.Message.(type) {
	case *Join:
		s.join(p, m)
	case *Ask:
		if err := s.fill(p, m.From, m.To); err != nil {
			s.out.end(in.Session, err)
		}
	case *Off:
		if p.state == peerStarted {
			s.off(p, WhyDeaf)
		}
	}
}

// join gives a neighbour a rank, by which it can prove that its statuses arrive.
func (s *Sender) join(p *peer, m *Join) {
	slot := slices.Index(s.slots[:], false)
	if p.state != peerOffered || slot < 0 || s.rank == 1<<16-1 {
		return
	}
	s.rank++
	s.slots[slot] = true
	p.state, p.rank, p.slot, p.room, p.packets = peerProving, s.rank, slot, s.clamp(m.Room), packets{}
	s.out.tell(p.session, &Start{Stream: s.cfg.Stream.ID, Rank: p.rank, Place: Place{0, 1}})
}

func (s *Sender) clamp(room uint32) uint64 { return min(uint64(room), uint64(s.cfg.Window)) }

// start makes a member of a neighbour whose status has arrived (X5).
func (s *Sender) start(p *peer) {
	p.state, p.want, p.since, p.closes, p.lacks = peerStarted, s.next, s.now, false, [ticksOfSecond]int{}
	s.members = append(s.members, p)
	slices.SortFunc(s.members, func(a, b *peer) int { return int(a.rank) - int(b.rank) })
	at := slices.Index(s.members, p)
	s.out.tell(p.session, &Start{Stream: s.cfg.Stream.ID, Rank: p.rank, Place: Place{uint16(at), uint16(len(s.members))}, Number: s.next})
	s.place(p)
	s.rebound()
}

// place tells all members but one their turns.
func (s *Sender) place(but *peer) {
	for i, p := range s.members {
		if p != but {
			s.out.tell(p.session, &Placed{s.cfg.Stream.ID, Place{uint16(i), uint16(len(s.members))}})
		}
	}
}

// rebound finds what can be resent and what is in every member's window.
func (s *Sender) rebound() {
	s.low, s.bound = s.next, ^uint64(0)
	for _, p := range s.members {
		s.low, s.bound = min(s.low, p.want), min(s.bound, p.want+p.room)
	}
}

// received takes a datagram about this stream.
func (s *Sender) received(in *Received) {
	h := in.head
	p := s.byRank(h.Rank)
	switch {
	case h.Rank == 0: // its own comes back
	case p == nil || h.Kind != KindNACK && h.Kind != KindStatus:
		s.counters.Forged++
	default:
		if err := s.receivedFrom(p, in.Datagram, h); err != nil {
			s.out.end(p.session, err)
		}
	}
}

func (s *Sender) byRank(rank uint16) *peer {
	for _, p := range s.members {
		if p.rank == rank {
			return p
		}
	}
	for _, p := range s.order {
		if p.slot >= 0 && p.rank == rank {
			return p
		}
	}
	return nil
}

func (s *Sender) receivedFrom(p *peer, datagram []byte, h Head) error {
	if !p.packets.new(h.Packet) {
		s.counters.Replayed++
		return nil
	}
	content, err := s.box.open(s.content[:0], datagram, h)
	if err != nil {
		s.counters.Forged++
		return nil
	}
	s.content = content
	p.packets.take(h.Packet)
	p.heard = s.awake
	if h.Kind == KindStatus {
		return s.status(p, content)
	}
	if p.state != peerStarted {
		return nil
	}
	if s.spans, err = readNACK(s.spans[:0], content); err != nil {
		return err
	}
	return s.nacked(p, s.spans)
}

// status takes what a member wants next and has room for (X5).
func (s *Sender) status(p *peer, content []byte) error {
	st, err := readStatus(content)
	if err != nil {
		return err
	}
	switch {
	case p.state == peerProving:
		p.dropped = st.dropped
		p.heard = s.awake
		s.start(p)
		return nil
	case p.state != peerStarted:
		return nil
	case st.want > s.next:
		return fmt.Errorf("it wants datagram %d where %d is the next one", st.want, s.next)
	case st.want < p.want: // overtaken, or of before it was started
		return nil
	}
	if st.dropped != p.dropped {
		p.dropped, s.dropped = st.dropped, true
		s.counters.SocketDrops++
	}
	p.want, p.room = st.want, s.clamp(st.room)
	s.rebound()
	return nil
}

// fill answers an Ask: with what can be resent, over the link.
func (s *Sender) fill(p *peer, from, to uint64) error {
	if p.state != peerStarted {
		return nil // all was filled when it was turned off
	}
	if to >= s.next {
		return fmt.Errorf("it asks for datagrams up to %d where %d is the next one", to, s.next)
	}
	for number := max(from, s.low); number <= to; number++ {
		s.fillOne(p, number)
	}
	return nil
}

func (s *Sender) fillOne(p *peer, number uint64) {
	slot := &s.ring[number%uint64(len(s.ring))]
	s.out.tell(p.session, &Fill{s.cfg.Stream.ID, number, append([]byte(nil), slot.fragments...)})
	s.counters.Fills++
}

// off turns a member off (X6): it is filled with all that it lacks, and what waits
// follows.
func (s *Sender) off(p *peer, why Why) {
	for number := p.want; number < s.next; number++ {
		s.fillOne(p, number)
	}
	s.drop(p)
	p.state, p.why, p.until = peerLeaving, why, s.series
	s.leaving = append(s.leaving, p)
	s.counters.Offs[why]++
	s.leave()
}

// drop takes a member's or a leaving neighbour's rank away.
func (s *Sender) drop(p *peer) {
	if p.slot >= 0 {
		s.slots[p.slot] = false
		for number := s.low; number < s.next; number++ {
			s.ring[number%uint64(len(s.ring))].asked &^= 1 << p.slot // for who has the slot next
		}
		p.slot = -1
	}
	if i := slices.Index(s.members, p); i >= 0 {
		s.members = slices.Delete(s.members, i, i+1)
		s.place(nil)
		s.rebound()
	}
	s.leaving = slices.DeleteFunc(s.leaving, func(l *peer) bool { return l == p })
	p.state = peerOff
}

// leave fills those that leave with the datagram that has gone out, if one has,
// and lets them go once nothing names them.
func (s *Sender) leave() {
	for i := 0; i < len(s.leaving); {
		p := s.leaving[i]
		if s.done < p.until {
			i++
			continue
		}
		s.leaving = slices.Delete(s.leaving, i, i+1)
		s.out.tell(p.session, &Off{Stream: s.cfg.Stream.ID, Why: p.why})
		s.keepOut(p, p.why)
	}
	s.finishRetiring()
}

// keepOut has a neighbour wait until it may join again: each time twice as long,
// unless it was a member for longer than it would wait.
func (s *Sender) keepOut(p *peer, why Why) {
	p.state, p.why = peerOff, why
	if p.wait == 0 || s.now-p.since > 2*p.wait {
		p.wait = firstWait
	} else {
		p.wait = min(2*p.wait, longestWait)
	}
	p.since, p.again = s.now, s.now+p.wait
}

// retire ends the stream: all go over TCP, and NewStream is asked for when none is
// left that it names.
func (s *Sender) retire() {
	if s.retired {
		return
	}
	s.retired = true
	for _, p := range slices.Clone(s.members) {
		s.off(p, WhyRenewed)
	}
	for _, p := range s.order {
		if p.state == peerProving {
			s.drop(p)
		}
	}
	s.finishRetiring()
}

func (s *Sender) finishRetiring() {
	if s.retired && !s.over && len(s.members) == 0 && len(s.leaving) == 0 && len(s.queue) == 0 {
		s.over = true
		s.out.put(&NewStream{})
	}
}

// watchWindow turns off who has held the window closed for too long (X6 a). It
// reports whether there was anybody.
func (s *Sender) watchWindow() (any bool) {
	for i := 0; i < len(s.members); {
		p := s.members[i]
		closes := len(s.queue) > 0 && s.next >= p.want+p.room
		if closes && !p.closes {
			p.closed = s.awake
		}
		if p.closes = closes; closes && s.awake-p.closed >= maxClosed {
			s.off(p, WhySlow)
			any = true
			continue
		}
		i++
	}
	return any
}
