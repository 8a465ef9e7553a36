package pair

import "sync"

// maxWaiting is how many bytes may wait to be written on a line: what is not
// acknowledged may wait as a whole, and again what is sent anew.
const maxWaiting = 192 << 20

// queue is what waits to be written to a connection.
type queue struct {
	mu      sync.Mutex
	waiting [][]byte
	bytes   int
	most    int
	open    bool
	ready   chan struct{} // holds one while something waits, or it was closed
	room    chan struct{} // holds one when something was taken
}

func (q *queue) init(most int) {
	q.most, q.ready, q.room = most, make(chan struct{}, 1), make(chan struct{}, 1)
}

// begin lets it take what is put in: a connection is there.
func (q *queue) begin() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.open, q.waiting, q.bytes = true, nil, 0
}

// end drops what waits and what comes. It reports whether it was open.
func (q *queue) end() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	was := q.open
	q.open, q.waiting, q.bytes = false, nil, 0
	signal(q.ready)
	signal(q.room)
	return was
}

// isOpen reports whether a connection is there.
func (q *queue) isOpen() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.open
}

// put has b written, if there is room.
func (q *queue) put(b []byte) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if !q.open || b == nil || q.bytes+len(b) > q.most {
		return false
	}
	q.waiting, q.bytes = append(q.waiting, b), q.bytes+len(b)
	signal(q.ready)
	return true
}

// putBelow is put once less than limit bytes wait.
func (q *queue) putBelow(limit int, b []byte) bool {
	for {
		q.mu.Lock()
		wait := q.open && q.bytes > limit
		q.mu.Unlock()
		if !wait {
			return q.put(b)
		}
		<-q.room
	}
}

// take waits for what there is to write, and returns it; nil: it was closed.
func (q *queue) take() [][]byte {
	for {
		q.mu.Lock()
		all, open := q.waiting, q.open
		q.waiting, q.bytes = nil, 0
		q.mu.Unlock()
		if len(all) > 0 {
			signal(q.room)
			return all
		}
		if !open {
			return nil
		}
		<-q.ready
	}
}

func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
