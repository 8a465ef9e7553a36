package overlaytest

import (
	"callboard/bridge/overlay"
)

// link is an undirected link, the lower id first.
type link struct{ a, b int }

func linkOf(a, b int) link { return link{min(a, b), max(a, b)} }

// frame is in flight on a link.
type frame struct {
	session  uint64
	born     overlay.Instant // when it was sent
	cause    overlay.Instant // when that began of which it is an effect
	number   int             // counts all frames
	messages []overlay.Message
}

// way is one direction of a link.
type way struct {
	from, to int
	queue    []frame // in flight
	first    int     // those before it have arrived
}

func (w *way) busy() bool { return w.first < len(w.queue) }

func (w *way) next() *frame { return &w.queue[w.first] }

func (w *way) put(f frame) { w.queue = append(w.queue, f) }

func (w *way) take() frame {
	f := w.queue[w.first]
	w.queue[w.first] = frame{}
	if w.first++; w.first == len(w.queue) {
		w.queue, w.first = w.queue[:0], 0
	}
	return f
}

// lose loses what is in flight.
func (w *way) lose() (frames int) {
	frames = len(w.queue) - w.first
	clear(w.queue)
	w.queue, w.first = w.queue[:0], 0
	return frames
}
