// Package deadline keeps a process that stood still (stopped, suspended, short
// of processor) from blaming its peers for it. The rule: no deadline is a
// verdict before what has arrived by then was read, and of a standstill at most
// half of it counts. Whatever has deadlines for a peer uses connections of this
// package.
package deadline

import (
	"errors"
	"net"
	"os"
	"sync"
	"syscall"
	"time"
)

// lookFor is how long the last look takes at what has arrived, or at what there is
// room for. A deadline that is short itself has a shorter one.
const lookFor = 20 * time.Millisecond

// Conn is a connection whose deadlines follow the rule. They are two halves and a
// short look, each of which begins when this process gets to it. A deadline in the
// past ends what is under way at once, as with any net.Conn.
type Conn struct {
	net.Conn
	socket           syscall.RawConn // beneath; nil: none
	reading, writing parts
}

// New returns conn with deadlines that follow the rule.
func New(conn net.Conn) *Conn {
	c := &Conn{Conn: conn, reading: parts{set: conn.SetReadDeadline}, writing: parts{set: conn.SetWriteDeadline}}
	if socket, ok := conn.(syscall.Conn); ok {
		c.socket, _ = socket.SyscallConn() // nil: an error says that it is closed
	}
	return c
}

// NetConn returns the connection beneath.
func (c *Conn) NetConn() net.Conn { return c.Conn }

// Unwrap returns what is beneath all connections that have a NetConn.
func Unwrap(conn net.Conn) net.Conn {
	for {
		outer, ok := conn.(interface{ NetConn() net.Conn })
		if !ok {
			return conn
		}
		conn = outer.NetConn()
	}
}

// Await waits until there is something to read, or Read has an error. It may return
// too early, and does where the connection is no socket.
func (c *Conn) Await() {
	if c.socket == nil {
		return
	}
	for {
		looked := false
		err := c.socket.Read(func(fd uintptr) bool {
			if looked {
				return true // the system says that there is
			}
			looked = true
			return readable(fd)
		})
		if !errors.Is(err, os.ErrDeadlineExceeded) || !c.reading.extend() {
			return
		}
	}
}

// Read implements net.Conn.
func (c *Conn) Read(b []byte) (int, error) {
	for {
		n, err := c.Conn.Read(b)
		if n > 0 || !errors.Is(err, os.ErrDeadlineExceeded) || !c.reading.extend() {
			return n, err
		}
	}
}

// Write implements net.Conn.
func (c *Conn) Write(b []byte) (written int, err error) {
	for {
		n, err := c.Conn.Write(b[written:])
		written += n
		if written == len(b) || !errors.Is(err, os.ErrDeadlineExceeded) || !c.writing.extend() {
			return written, err
		}
	}
}

// SetDeadline implements net.Conn.
func (c *Conn) SetDeadline(t time.Time) error {
	return errors.Join(c.reading.begin(t), c.writing.begin(t))
}

// SetReadDeadline implements net.Conn.
func (c *Conn) SetReadDeadline(t time.Time) error { return c.reading.begin(t) }

// SetWriteDeadline implements net.Conn.
func (c *Conn) SetWriteDeadline(t time.Time) error { return c.writing.begin(t) }

// parts are those of one of a connection's two deadlines.
type parts struct {
	set func(time.Time) error // of the connection beneath

	mu         sync.Mutex
	half, look time.Duration
	left       int // of them after the present one
}

// begin sets the deadline anew.
func (p *parts) begin(t time.Time) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	whole := time.Until(t)
	if t.IsZero() || whole <= 0 {
		p.left = 0
		return p.set(t)
	}
	p.look = min(lookFor, whole/10)
	p.half, p.left = (whole-p.look)/2, 2
	return p.set(time.Now().Add(p.half))
}

// extend goes on to the next part once one has passed. It reports false if there is
// none: this is the verdict.
func (p *parts) extend() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.left == 0 {
		return false
	}
	more := p.half
	if p.left--; p.left == 0 {
		more = p.look
	}
	return p.set(time.Now().Add(more)) == nil
}

// Listen returns a listener whose connections have deadlines that follow the
// rule.
func Listen(inner net.Listener) net.Listener { return listener{inner} }

type listener struct{ net.Listener }

// Accept implements net.Listener.
func (l listener) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return New(conn), nil
}
