package multicasttest

import (
	"time"

	"callboard/bridge/multicast"
)

// event is something that will happen.
type event struct {
	at    time.Duration
	order uint64 // of those at the same time
	kind  eventKind
	to    *broker
	life  int // of the broker
	from  *broker
	data  []byte
	end   *end
	piece piece
}

type eventKind byte

const (
	eventDatagram eventKind = iota
	eventPiece              // of a link
	eventWake
	eventResume // after standing still
	eventDown   // an end of a link learns that it is cut
	eventUp     // a link begins
	eventTake   // the broker takes what waits again
)

// piece is what crosses a link: a frame, or a message of a stream.
type piece struct {
	number  uint32
	said    said
	message multicast.Message
}

// agenda is a heap of events.
type agenda struct {
	heap []*event
	free []*event
	last uint64
}

func (a *agenda) add(e event) {
	a.last++
	e.order = a.last
	var p *event
	if n := len(a.free); n > 0 {
		p, a.free = a.free[n-1], a.free[:n-1]
	} else {
		p = new(event)
	}
	*p = e
	a.heap = append(a.heap, p)
	for i := len(a.heap) - 1; i > 0; {
		up := (i - 1) / 2
		if !a.heap[i].before(a.heap[up]) {
			break
		}
		a.heap[i], a.heap[up] = a.heap[up], a.heap[i]
		i = up
	}
}

func (e *event) before(o *event) bool { return e.at < o.at || e.at == o.at && e.order < o.order }

// take returns the next event.
func (a *agenda) take() event {
	first, last := a.heap[0], len(a.heap)-1
	a.heap[0], a.heap[last] = a.heap[last], nil
	a.heap = a.heap[:last]
	for i := 0; ; {
		least := i
		for _, down := range [2]int{2*i + 1, 2*i + 2} {
			if down < last && a.heap[down].before(a.heap[least]) {
				least = down
			}
		}
		if least == i {
			break
		}
		a.heap[i], a.heap[least] = a.heap[least], a.heap[i]
		i = least
	}
	e := *first
	*first = event{}
	a.free = append(a.free, first)
	return e
}
