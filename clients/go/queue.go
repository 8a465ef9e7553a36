package callboard

import (
	"context"
	"sync"
)

// item is an event on its way to the program, with what to count once it is
// handled.
type item struct {
	event    Event
	source   string    // of sequence
	sequence *sequence // nil: not numbered
	seq      uint64
	bytes    int
}

// queue holds events between the reader and the program. push never blocks:
// beyond the limits it refuses, and the connection is resumed later on.
type queue struct {
	mu     sync.Mutex
	items  []item
	head   int // items[:head] are taken
	bytes  int
	closed bool
	ready  chan struct{} // cap 1: there is something, or the end
	drain  chan struct{} // cap 1: something was taken

	maxCount, maxBytes int
}

func newQueue(maxCount, maxBytes int) *queue {
	return &queue{
		ready: make(chan struct{}, 1), drain: make(chan struct{}, 1),
		maxCount: maxCount, maxBytes: maxBytes,
	}
}

// push adds an item; false says that the queue is full.
func (q *queue) push(it item) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if n := len(q.items) - q.head; n >= q.maxCount || (n > 0 && q.bytes+it.bytes > q.maxBytes) {
		return false
	}
	q.add(it)
	return true
}

// force adds an item about the connection itself, of which there are
// at most a few a connection.
func (q *queue) force(it item) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.add(it)
}

func (q *queue) add(it item) {
	q.items = append(q.items, it)
	q.bytes += it.bytes
	signal(q.ready)
}

// take waits for items and returns those that are there, no more than most, in into's
// memory; none at the end of ctx, or when the queue is closed and empty.
func (q *queue) take(ctx context.Context, into []item, most int) []item {
	for {
		if ctx.Err() != nil {
			return nil
		}
		q.mu.Lock()
		if n := min(most, len(q.items)-q.head); n > 0 {
			taken := q.items[q.head:][:n]
			into = append(into[:0], taken...)
			clear(taken)
			q.head += n
			for i := range into {
				q.bytes -= into[i].bytes
			}
			q.compact()
			q.mu.Unlock()
			signal(q.drain)
			return into
		}
		closed := q.closed
		q.mu.Unlock()
		if closed {
			return nil
		}
		select {
		case <-q.ready:
		case <-ctx.Done():
			return nil
		}
	}
}

// compact reuses the room of taken items, so that the queue's memory follows
// what waits in it.
func (q *queue) compact() {
	switch {
	case q.head == len(q.items):
		if cap(q.items) > 1024 {
			q.items = nil
		}
		q.items, q.head = q.items[:0], 0
	case q.head >= 256 && q.head*2 >= len(q.items):
		n := copy(q.items, q.items[q.head:])
		clear(q.items[n:])
		q.items, q.head = q.items[:n], 0
	}
}

// close lets take end once everything is taken.
func (q *queue) close() {
	q.mu.Lock()
	q.closed = true
	q.mu.Unlock()
	signal(q.ready)
}

// half waits until at most half of the limits waits.
func (q *queue) half(ctx context.Context) error {
	for {
		q.mu.Lock()
		below := (len(q.items)-q.head)*2 <= q.maxCount && q.bytes*2 <= q.maxBytes
		q.mu.Unlock()
		if below {
			return nil
		}
		select {
		case <-q.drain:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// signal wakes whoever waits on ch, which has a capacity of one.
func signal(ch chan struct{}) {
	select {
	case ch <- struct{}{}:
	default:
	}
}
