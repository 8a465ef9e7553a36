package callboard

import (
	"net"
	"sync"
	"time"
)

// readBuffer is how much is read from a connection at a time, in bytes.
const readBuffer = 16 << 10

// maxTogether is how much is written at a time, in bytes.
const maxTogether = 64 << 10

// together is a connection on which what is written between begin and end goes out
// together: the WebSocket library writes each message by itself.
type together struct {
	net.Conn
	mu      sync.Mutex
	waits   bool
	waiting []byte
	by      time.Time // until when that is to be written
}

func newTogether(c net.Conn) *together { return &together{Conn: c} }

// Write writes b, or keeps it for end.
func (t *together) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.waits {
		return t.Conn.Write(b)
	}
	if len(t.waiting)+len(b) > maxTogether {
		if err := t.flush(); err != nil {
			return 0, err
		}
		if len(b) > maxTogether {
			if err := t.Conn.SetWriteDeadline(t.by); err != nil {
				return 0, err
			}
			return t.Conn.Write(b)
		}
	}
	t.waiting = append(t.waiting, b...)
	return len(b), nil
}

// SetWriteDeadline sets it, for what waits when that is written.
func (t *together) SetWriteDeadline(by time.Time) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.by = by; t.waits {
		return nil
	}
	return t.Conn.SetWriteDeadline(by)
}

// begin has what is written wait for end.
func (t *together) begin() {
	t.mu.Lock()
	t.waits = true
	t.mu.Unlock()
}

// end writes what waits.
func (t *together) end() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.waits = false
	return t.flush()
}

// flush writes what waits. mu is held.
func (t *together) flush() error {
	if len(t.waiting) == 0 {
		return nil
	}
	if err := t.Conn.SetWriteDeadline(t.by); err != nil {
		return err
	}
	_, err := t.Conn.Write(t.waiting)
	t.waiting = t.waiting[:0]
	return err
}
