package server

import (
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"time"
)

// pipeHalf is one direction of a connection in memory: a ring of bytes that
// grows up to limit.
type pipeHalf struct {
	mu      sync.Mutex
	changed sync.Cond
	ring    []byte
	at, n   int // first byte and number of bytes in ring
	limit   int

	writeErr error // set: the writer has ended, or the reader has gone
	readErr  error // set: the reader has closed its end

	readBy, writeBy pipeDeadline
}

func newPipeHalf(limit int) *pipeHalf {
	h := &pipeHalf{limit: limit}
	h.changed.L = &h.mu
	return h
}

var errPeerClosed = errors.New("broken pipe: the peer has closed the connection")

func isEOF(err error) bool { return errors.Is(err, io.EOF) }

func (h *pipeHalf) read(b []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for {
		switch {
		case h.readErr != nil:
			return 0, h.readErr
		case h.readBy.passed():
			return 0, os.ErrDeadlineExceeded
		case h.n > 0 || len(b) == 0:
			n := h.take(b)
			h.changed.Broadcast()
			return n, nil
		case h.writeErr != nil:
			return 0, io.EOF
		}
		h.changed.Wait()
	}
}

// write blocks while the ring is full, and returns how much it wrote when it
// fails in between.
func (h *pipeHalf) write(b []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	done := 0
	for {
		switch {
		case h.writeErr != nil:
			return done, h.writeErr
		case h.writeBy.passed():
			return done, os.ErrDeadlineExceeded
		}
		if n := h.put(b[done:]); n > 0 {
			done += n
			h.changed.Broadcast()
		}
		if done == len(b) {
			return done, nil
		}
		h.changed.Wait()
	}
}

func (h *pipeHalf) take(b []byte) int {
	n := min(len(b), h.n)
	first := copy(b[:n], h.ring[h.at:])
	copy(b[first:n], h.ring)
	h.n -= n
	if h.n == 0 {
		h.at = 0
	} else {
		h.at = (h.at + n) % len(h.ring)
	}
	return n
}

func (h *pipeHalf) put(b []byte) int {
	n := min(len(b), h.limit-h.n)
	if n <= 0 {
		return 0
	}
	if h.n+n > len(h.ring) {
		h.grow(h.n + n)
	}
	end := (h.at + h.n) % len(h.ring)
	first := copy(h.ring[end:], b[:n])
	copy(h.ring, b[first:n])
	h.n += n
	return n
}

func (h *pipeHalf) grow(need int) {
	size := max(1024, 2*len(h.ring))
	for size < need {
		size *= 2
	}
	bigger := make([]byte, min(size, h.limit))
	n := h.n
	h.take(bigger[:n])
	h.ring, h.at, h.n = bigger, 0, n
}

// endWriting makes the reader find EOF after what was written.
func (h *pipeHalf) endWriting(err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.writeErr == nil {
		h.writeErr = err
	}
	h.writeBy.stop()
	h.changed.Broadcast()
}

// endReading drops what was written and makes writes fail.
func (h *pipeHalf) endReading() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.readErr == nil {
		h.readErr = net.ErrClosed
	}
	if h.writeErr == nil {
		h.writeErr = errPeerClosed
	}
	h.ring, h.at, h.n = nil, 0, 0
	h.readBy.stop()
	h.changed.Broadcast()
}

func (h *pipeHalf) setReadDeadline(t time.Time)  { h.setDeadline(&h.readBy, t) }
func (h *pipeHalf) setWriteDeadline(t time.Time) { h.setDeadline(&h.writeBy, t) }

func (h *pipeHalf) setDeadline(d *pipeDeadline, t time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	d.stop()
	d.at = t
	if !t.IsZero() {
		d.timer = time.AfterFunc(time.Until(t), func() {
			h.mu.Lock()
			defer h.mu.Unlock()
			h.changed.Broadcast()
		})
	}
	h.changed.Broadcast()
}

type pipeDeadline struct {
	at    time.Time
	timer *time.Timer
}

func (d *pipeDeadline) passed() bool { return !d.at.IsZero() && !time.Now().Before(d.at) }

func (d *pipeDeadline) stop() {
	if d.timer != nil {
		d.timer.Stop()
		d.timer = nil
	}
}
