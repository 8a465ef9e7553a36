package link

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"callboard/bridge/overlay"
	"callboard/player/deadline"
	"callboard/player/listener"
)

// peer is what is known of one neighbour. Its goroutine dials or waits to be
// dialed, and sees one session after the other through.
type peer struct {
	id      overlay.BrokerID
	links   *Links
	log     *slog.Logger
	offered chan *session           // handshake done, from those who accept
	before  <-chan struct{}         // closed once an earlier link with the neighbour has ended; nil: there was none
	stop    context.CancelCauseFunc // nil until it runs; under links.mu
	ended   chan struct{}

	mu        sync.Mutex
	neighbour Neighbour // as it is configured now
	current   *session
	problem   string // why there is no session, the last that was told

	sent, received traffic
	dropped        atomic.Uint64 // messages of sessions that had ended, or for which there was no room
}

func newPeer(l *Links, n Neighbour, before <-chan struct{}) *peer {
	return &peer{
		id: n.ID, links: l, log: l.cfg.Logger.With("link", string(n.ID)), neighbour: n,
		offered: make(chan *session), before: before, ended: make(chan struct{}),
	}
}

func (p *peer) set(n Neighbour) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.neighbour = n
}

func (p *peer) configured() Neighbour {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.neighbour
}

// dials reports whether this side is the one that dials.
func (p *peer) dials() bool { return p.links.cfg.Self < p.id }

func (p *peer) run(ctx context.Context) {
	if p.dials() {
		p.dialOn(ctx)
		return
	}
	for {
		select {
		case <-ctx.Done():
			return
		case s := <-p.offered:
			for s != nil {
				s = p.carry(ctx, s)
			}
		}
	}
}

// dialOn dials, again and again.
func (p *peer) dialOn(ctx context.Context) {
	cfg := &p.links.cfg
	wait := cfg.DialMin
	for {
		s, err := p.dial(ctx)
		if ctx.Err() != nil {
			if s != nil {
				s.raw.Close()
			}
			return
		}
		if err != nil {
			p.logProblem(err)
		} else {
			p.carry(ctx, s)
			if time.Since(s.since) > s.conn.deadline { // it was a real one
				wait = cfg.DialMin
			}
		}
		timer := time.NewTimer(wait/2 + rand.N(wait/2+1))
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-timer.C:
		}
		wait = min(2*wait, cfg.DialMax)
	}
}

// logProblem logs why there is no session, once.
func (p *peer) logProblem(err error) {
	p.mu.Lock()
	known := p.problem == err.Error()
	p.problem = err.Error()
	p.mu.Unlock()
	if !known {
		level := slog.LevelWarn
		if p.links.cfg.Moving {
			level = slog.LevelInfo
		}
		p.log.Log(context.Background(), level, "no link", "address", p.configured().Address, "error", err)
	}
}

func (p *peer) dial(ctx context.Context) (*session, error) {
	ctx, cancel := context.WithTimeout(ctx, p.links.cfg.Handshake)
	defer cancel()
	n := p.configured()
	raw, err := p.links.cfg.Transport.Dial(ctx, n.Address)
	if err != nil {
		return nil, err
	}
	raw = deadline.New(raw)
	defer context.AfterFunc(ctx, func() { raw.SetDeadline(time.Unix(1, 0)) })()
	attempt := p.links.attempts.Add(1)
	o, err := p.links.open(ctx, raw, true)
	if err == nil {
		var h hello
		if h, err = o.greet(p.links, n, attempt); err == nil {
			return newSession(p, n, o, h, attempt), nil
		}
	}
	raw.Close()
	return nil, err
}

// carry sees a session through. It returns the one that takes its place, if
// that is why it ended.
func (p *peer) carry(ctx context.Context, s *session) (next *session) {
	s.number = p.links.sessions.Add(1)
	p.mu.Lock()
	p.current, p.problem = s, ""
	p.mu.Unlock()
	log := p.log.With("session", s.number)
	log.Info("link up", "remote", s.raw.RemoteAddr().String(), "compressed", s.compress)
	handler := p.links.cfg.Handler
	if s.segment != nil {
		s.segment.up(s) // before anything can be sent
	}
	handler.Up(p.id, s.number)
	s.run(func() error {
		select {
		case <-s.ended:
			return nil
		case <-ctx.Done():
			if errors.Is(context.Cause(ctx), errGivenUp) {
				return errGivenUp
			}
			return errStopping
		case next = <-p.offered:
			return errReplaced
		}
	})
	if s.segment != nil {
		s.segment.down(s)
		if errors.Is(s.why(), errGivenUp) {
			s.segment.renew()
		}
	}
	p.mu.Lock()
	p.current = nil
	p.problem = s.why().Error()
	p.mu.Unlock()
	for _, o := range s.take(nil) {
		p.dropped.Add(uint64(len(o.messages) + o.count))
	}
	log.Info("link down", "reason", s.why())
	handler.Down(p.id, s.number)
	return next
}

// send hands a frame to a session: to its writer, or to the segment that its
// neighbour is on, which is returned.
func (p *peer) send(session uint64, o outgoing) *segment {
	p.mu.Lock()
	s := p.current
	p.mu.Unlock()
	switch {
	case s != nil && s.number == session && s.segment != nil && s.reserve(o.weight):
		s.segment.queue = append(s.segment.queue, queued{s, o})
		return s.segment
	case s == nil || s.number != session || s.segment != nil || !s.enqueue(o):
		p.dropped.Add(uint64(len(o.messages)))
	}
	return nil
}

// stale refuses a connection that is older than the one in use: it took its
// time on the way.
func (p *peer) stale(attempt uint64) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.current != nil && attempt <= p.current.attempt {
		return refuse("this connection of broker %q is older than the one in use", p.id)
	}
	return nil
}

// maxOpening is how many connections may be in their handshake at once: the oldest
// gives way to a new one, so that silent ones keep no neighbour out.
const maxOpening = 64

// accept takes connections until ctx ends.
func (l *Links) accept(ctx context.Context) error {
	limited := l.limit.Listen(l.cfg.Listener)
	for {
		raw, err := limited.Accept()
		if ctx.Err() != nil {
			if err == nil {
				raw.Close()
			}
			return nil
		}
		if errors.Is(err, net.ErrClosed) {
			return fmt.Errorf("listen on %v: %w", l.cfg.Listener.Addr(), err)
		}
		if err != nil { // no descriptors, say: they may come back
			l.cfg.Logger.Warn("cannot accept a link", "error", err)
			select {
			case <-ctx.Done():
				return nil
			case <-time.After(l.cfg.DialMin):
			}
			continue
		}
		l.wg.Go(func() { l.admit(ctx, raw.(*listener.Conn)) })
	}
}

// admit does the handshake with who has connected and hands the session to the
// peer's goroutine.
func (l *Links) admit(ctx context.Context, place *listener.Conn) {
	raw := deadline.New(place)
	defer context.AfterFunc(ctx, func() { raw.SetDeadline(time.Unix(1, 0)) })()
	o, err := l.open(ctx, raw, false)
	if err == nil {
		var p *peer
		var h hello
		if p, h, err = o.welcome(l); err == nil {
			place.Keep() // there is room for all neighbours
			if h.Side != "" {
				l.vote(ctx, o, h)
				raw.Close()
				return
			}
			s := newSession(p, p.configured(), o, h, h.Attempt)
			select {
			case p.offered <- s:
			case <-p.ended:
				s.end(errGivenUp)
				s.close()
			case <-ctx.Done():
				raw.Close()
			}
			return
		}
	}
	raw.Close()
	if ctx.Err() == nil {
		told := l.log.Warn
		if r := new(refusal); l.cfg.Moving && errors.As(err, &r) {
			told = l.log.Info
		}
		told("link refused", "remote", raw.RemoteAddr().String(), "error", err)
	}
}
