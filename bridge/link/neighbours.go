package link

import (
	"context"
	"fmt"

	"callboard/bridge/overlay"
	"callboard/player/listener"
)

// Neighbour is another broker that this one has a link with. Of two
// neighbours the one with the lower id dials.
type Neighbour struct {
	ID      overlay.BrokerID
	Address string // host:port; needed where this broker dials
	// Compress asks for compression of this link, as Config.Compress does for all.
	Compress bool
}

// neighbours are those of a moment: a snapshot that is not changed.
type neighbours struct {
	all  []*peer // as they were listed
	byID map[overlay.BrokerID]*peer
}

// Set makes all the broker's neighbours. Links with those who are new begin;
// links with those who are not among them end: the other side is told so, the
// handler by Down, and who dials nevertheless is refused. Those who stay keep
// their session; what has changed of them counts from the next one on. Who comes
// back begins anew once the old link has ended. Set waits for none of this, and
// may be called from any goroutine. After an error nothing has changed.
func (l *Links) Set(all []Neighbour) error {
	if err := l.cfg.check(all); err != nil {
		return fmt.Errorf("links of broker %q: %w", l.cfg.Self, err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	old := l.neighbours.Load()
	next := &neighbours{byID: make(map[overlay.BrokerID]*peer, len(all))}
	for _, n := range all {
		p := old.byID[n.ID]
		if p == nil {
			p = newPeer(l, n, l.leaving[n.ID])
		}
		p.set(n)
		next.all = append(next.all, p)
		next.byID[n.ID] = p
	}
	each := 4 * (len(all) + 1) // kept: each neighbour's old connection and its new one, at least
	l.limit.Change(listener.Limits{Connections: each, Address: each, Reserve: maxOpening})
	l.neighbours.Store(next)
	for _, p := range old.all {
		if next.byID[p.id] == nil && p.stop != nil {
			l.leaving[p.id] = p.ended
			p.stop(errGivenUp)
		}
	}
	l.begin(next)
	return nil
}

// begin has those peers run that do not yet, while the links run. It is called
// with l.mu held.
func (l *Links) begin(now *neighbours) {
	if l.running == nil || l.stopped {
		return
	}
	for _, p := range now.all {
		if p.stop != nil {
			continue
		}
		ctx, stop := context.WithCancelCause(l.running)
		p.stop = stop
		l.wg.Go(func() {
			if p.before != nil {
				<-p.before
			}
			p.run(ctx)
			stop(nil)
			close(p.ended)
			l.left(p)
		})
	}
}

// left forgets a peer that was given up and has ended.
func (l *Links) left(p *peer) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.leaving[p.id] == p.ended {
		delete(l.leaving, p.id)
	}
}

// neighbour returns the peer of an id; nil if it is no neighbour's.
func (l *Links) neighbour(id overlay.BrokerID) *peer { return l.neighbours.Load().byID[id] }

func (cfg *Config) check(all []Neighbour) error {
	seen := map[overlay.BrokerID]bool{}
	for _, n := range all {
		switch err := checkID(n.ID); {
		case err != nil:
			return fmt.Errorf("neighbour %q: %w", n.ID, err)
		case n.ID == cfg.Self:
			return fmt.Errorf("neighbour %q has the broker's own id", n.ID)
		case seen[n.ID]:
			return fmt.Errorf("neighbour %q is listed twice", n.ID)
		case cfg.Self < n.ID && n.Address == "":
			return fmt.Errorf("neighbour %q has no address; expected host:port, since the lower id (%q) dials", n.ID, cfg.Self)
		case n.ID < cfg.Self && cfg.Listener == nil:
			return fmt.Errorf("neighbour %q dials, since its id is the lower one, but there is nothing to listen on", n.ID)
		}
		seen[n.ID] = true
	}
	return nil
}
