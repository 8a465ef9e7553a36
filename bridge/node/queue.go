package node

import (
	"context"
	"sync"
)

// queue carries inputs to the broker's goroutine, in order. What clients and
// the node itself post waits for room; readings never wait: past the limit
// they are refused, and whoever posts them counts that.
type queue[T any] struct {
	mu      sync.Mutex
	waiting []T
	closed  bool
	room    chan struct{} // closed and replaced when the consumer has taken what waited
	ready   chan struct{} // holds one token while something waits
	ended   chan struct{} // closed with the queue

	watched bool // somebody waits for room, perhaps with less than soft

	soft int // above it post waits
	hard int // above it offer refuses

	bytes    int // of what was offered and waits
	maxBytes int // above it offer refuses; 0: no limit
}

func newQueue[T any](soft, hard int) *queue[T] {
	return &queue[T]{room: make(chan struct{}), ready: make(chan struct{}, 1), ended: make(chan struct{}), soft: soft, hard: hard}
}

// offer puts an input of so many bytes in unless the queue is full or closed.
func (q *queue[T]) offer(in T, bytes int) bool {
	q.mu.Lock()
	ok := !q.closed && len(q.waiting) < q.hard && (q.maxBytes == 0 || q.bytes+bytes <= q.maxBytes || q.bytes == 0)
	if ok {
		q.bytes += bytes
		q.waiting = append(q.waiting, in)
	}
	q.mu.Unlock()
	if ok {
		q.signal()
	}
	return ok
}

// must puts an input in whatever waits already: for the few that may neither
// be refused nor wait, such as the end of a connection.
func (q *queue[T]) must(in T) {
	q.mu.Lock()
	if !q.closed {
		q.waiting = append(q.waiting, in)
	}
	q.mu.Unlock()
	q.signal()
}

// post puts an input in as soon as there is room. It fails when ctx ends or
// the queue is closed.
func (q *queue[T]) post(ctx context.Context, in T) error {
	for {
		q.mu.Lock()
		if q.closed {
			q.mu.Unlock()
			return errStopped
		}
		if len(q.waiting) < q.soft {
			q.waiting = append(q.waiting, in)
			q.mu.Unlock()
			q.signal()
			return nil
		}
		room := q.room
		q.mu.Unlock()
		select {
		case <-room:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// take hands over everything that waits and takes spent, an emptied slice, to
// fill next.
func (q *queue[T]) take(spent []T) []T {
	q.mu.Lock()
	defer q.mu.Unlock()
	taken := q.waiting
	q.waiting, q.bytes = spent[:0], 0
	if len(taken) >= q.soft || q.watched {
		q.watched = false
		close(q.room)
		q.room = make(chan struct{})
	}
	return taken
}

// close refuses what comes from now on and wakes those that wait.
func (q *queue[T]) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	if !q.closed {
		q.closed = true
		close(q.ended)
		close(q.room)
		q.room = make(chan struct{})
	}
}

// little is how much may wait for the consumer before those that can wait do: so
// much less than an inbox holds that the inboxes fill no further meanwhile.
const little = 256

// full returns nil if little waits, else a channel that is closed when that was
// taken.
func (q *queue[T]) full() <-chan struct{} {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.waiting) < little && (q.maxBytes == 0 || q.bytes < q.maxBytes/4) || q.closed {
		return nil
	}
	q.watched = true
	return q.room
}

// length is how many inputs wait.
func (q *queue[T]) length() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.waiting)
}

func (q *queue[T]) signal() {
	select {
	case q.ready <- struct{}{}:
	default:
	}
}
