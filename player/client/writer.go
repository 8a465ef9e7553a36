package client

import (
	"net"
	"sync"
	"time"

	"callboard/player"
	"callboard/player/deadline"
)

// maxQueued is how many bytes may wait to be written before a further request
// or command is refused: the server does not read.
const maxQueued = 1 << 20

// writer writes to the connection in a goroutine of its own, so that who
// sends, the session's goroutine above all, never waits for a server that
// does not read.
type writer struct {
	conn    net.Conn
	timeout time.Duration // for one write
	wake    chan struct{}
	done    chan struct{} // closed when run has ended

	mu      sync.Mutex
	queue   []byte       // what waits
	waiters []chan error // told when what waits now is written
	closing bool
	err     error
}

func newWriter(conn net.Conn, timeout time.Duration) *writer {
	return &writer{conn: deadline.New(conn), timeout: timeout, wake: make(chan struct{}, 1), done: make(chan struct{})}
}

// send queues whole messages. written, if not nil, has room for one error and
// gets it once they are with the kernel. Only own messages go beyond the limit.
func (w *writer) send(b []byte, own bool, written chan error) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.capacity(len(b), own); err != nil {
		return err
	}
	w.queue = append(w.queue, b...)
	if written != nil {
		w.waiters = append(w.waiters, written)
	}
	w.signal()
	return nil
}

// pass queues a message that is not the session's own.
func (w *writer) pass(h player.Header, body []byte) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.capacity(player.HeaderSize+len(body), false); err != nil {
		return err
	}
	w.queue = append(h.Append(w.queue), body...)
	w.signal()
	return nil
}

// capacity reports whether n more bytes may be queued. w.mu is held.
func (w *writer) capacity(n int, own bool) error {
	switch {
	case w.err != nil:
		return w.err
	case w.closing:
		return ErrAway
	case !own && len(w.queue) > 0 && len(w.queue)+n > maxQueued:
		return ErrBusy
	}
	return nil
}

func (w *writer) signal() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// run writes until finish or an error, which closes the connection: the
// session's reader then fails, too.
func (w *writer) run() {
	defer close(w.done)
	var buf []byte
	var waiters []chan error
	for range w.wake {
		w.mu.Lock()
		buf, w.queue = w.queue, buf[:0]
		waiters, w.waiters = w.waiters, waiters[:0]
		closing := w.closing
		if len(buf) > 0 && !closing { // finish has set a deadline of its own
			_ = w.conn.SetWriteDeadline(time.Now().Add(w.timeout))
		}
		w.mu.Unlock()
		var err error
		if len(buf) > 0 {
			_, err = w.conn.Write(buf)
		}
		if err != nil {
			w.fail(err)
		}
		for _, c := range waiters {
			c <- err
		}
		if err != nil || closing {
			return
		}
		if cap(buf) > maxQueued {
			buf = nil
		}
	}
}

// fail refuses what waits and what is yet to come.
func (w *writer) fail(err error) {
	w.mu.Lock()
	w.err = err
	waiters := w.waiters
	w.waiters, w.queue = nil, nil
	w.mu.Unlock()
	for _, c := range waiters {
		c <- err
	}
	_ = w.conn.Close()
}

// finish lets run write what waits, for at most d, and end.
func (w *writer) finish(d time.Duration) {
	w.mu.Lock()
	w.closing = true
	_ = w.conn.SetWriteDeadline(time.Now().Add(d))
	select {
	case w.wake <- struct{}{}:
	default:
	}
	w.mu.Unlock()
	<-w.done
}

// failure is the error that ended run, nil if none did.
func (w *writer) failure() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.err
}
