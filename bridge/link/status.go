package link

import (
	"sync/atomic"
	"time"
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
	Waiting    int    // bytes that wait to be sent, about
	Problem    string // why there is no session, or why the last one ended; "" if there is one
	Sent       Traffic
	Received   Traffic
	Dropped    uint64 // messages given to Send that were not sent: their session had ended
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
		st.Up, st.Session, st.Since, st.Compressed = true, s.number, s.since, s.compress
		s.mu.Lock()
		st.Waiting = s.waiting
		s.mu.Unlock()
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
