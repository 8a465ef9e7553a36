package node

import "sync/atomic"

// room tells those that can wait whether there is room for readings: in the
// inboxes, and in the queue of the broker's goroutine. Node.stepping guards set.
type room struct{ wait atomic.Pointer[chan struct{}] }

// set says whether the inboxes have room.
func (r *room) set(free bool) {
	wait := r.wait.Load()
	switch {
	case free && wait != nil:
		r.wait.Store(nil)
		close(*wait)
	case !free && wait == nil:
		c := make(chan struct{})
		r.wait.Store(&c)
	}
}

// Room returns nil if there is room for readings, else a channel that is closed
// when that may have changed. A session with a Player server that waits for its
// clients (a replay as fast as possible) asks before it reads on, so that
// nothing is lost to subscribers that keep all; those with real robots never do.
func (n *Node) Room() <-chan struct{} {
	if wait := n.room.wait.Load(); wait != nil {
		return *wait
	}
	return n.queue.full()
}
