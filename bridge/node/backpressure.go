package node

import "sync/atomic"

// backpressure holds back the sessions that can wait while the inboxes are full.
// Node.stepping guards set.
type backpressure struct{ wait atomic.Pointer[chan struct{}] }

// set is told whether the inboxes have room.
func (p *backpressure) set(free bool) {
	wait := p.wait.Load()
	switch {
	case free && wait != nil:
		p.wait.Store(nil)
		close(*wait)
	case !free && wait == nil:
		c := make(chan struct{})
		p.wait.Store(&c)
	}
}

// Room returns nil if there is room for readings, else a channel that is closed
// when that may have changed. A session with a Player server that waits for its
// clients (a replay as fast as possible) asks before it reads on, so that
// nothing is lost to subscribers that keep all; those with real robots never do.
func (n *Node) Room() <-chan struct{} {
	if wait := n.backpressure.wait.Load(); wait != nil {
		return *wait
	}
	return n.queue.full()
}
