package push

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"callboard/player/deadline"
	"callboard/player/listener"
)

// sendBuffer is the socket's, in bytes: small, so that a client that does not
// read is noticed by the window and not after the kernel has taken minutes of
// notifications. (The kernel doubles it.)
const sendBuffer = 64 << 10

// readBuffer is a session's, in bytes: most of what a client says is less. What is
// larger is read past it.
const readBuffer = 512

// chunk is what is written at once over TLS, in bytes: one record, since a
// write that is cut short by a deadline ends a TLS connection.
const chunk = 16 << 10

// rawConn is the connection under a WebSocket. The WebSocket library reads
// from it; after the handshake only who has the outbox's turn writes to it, and
// what the library would write (close frames for what it cannot read) is
// dropped: the session sends its own, in order.
type rawConn struct {
	net.Conn
	deflate   bool   // the handshake agreed on permessage-deflate
	extension string // what else it says of that
	secure    bool
	socket    syscall.RawConn // beneath; nil if it is none
	idle      *deadline.Conn  // beneath, if that is where one can wait for what is to be read; else nil
	in        *bufio.Reader   // what the WebSocket library reads through

	late    func() bool  // reports whether a client has more time; nil: it has none
	written atomic.Int64 // bytes that went to the client
	writing atomic.Bool  // more of them wait for the client to take some

	mu       sync.Mutex
	upgraded bool
	closing  time.Time // no write goes on after it; zero: not closing
}

// hijacker hands the connection to the WebSocket library as a rawConn.
type hijacker struct {
	http.ResponseWriter
	conn      *rawConn
	extension string // to add to what the handshake says of permessage-deflate
}

// Hijack implements http.Hijacker.
func (h *hijacker) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, rw, err := http.NewResponseController(h.ResponseWriter).Hijack()
	if err != nil {
		return nil, nil, err
	}
	h.conn = &rawConn{Conn: conn, extension: h.extension}
	_, h.conn.secure = conn.(*tls.Conn)
	h.conn.in = rw.Reader
	if rw.Reader.Buffered() == 0 { // else the library refuses: the client did not wait for the handshake
		h.conn.in = bufio.NewReaderSize(h.conn, readBuffer)
	}
	if tcp, ok := deadline.Unwrap(conn).(*net.TCPConn); ok {
		// Where it cannot be set, slow clients are noticed later.
		_ = tcp.SetWriteBuffer(sendBuffer)
		h.conn.socket, _ = tcp.SyscallConn() // nil: an error says that it is closed
	}
	if place, ok := conn.(*listener.Conn); ok {
		h.conn.idle, _ = place.NetConn().(*deadline.Conn)
	}
	return h.conn, bufio.NewReadWriter(h.conn.in, rw.Writer), nil
}

// await waits until there is something to read, or Read has an error. A goroutine
// that waits here needs a smaller stack than one that waits in Read, and a smaller
// one than it had for the last message.
func (c *rawConn) await() {
	if c.idle != nil && c.in.Buffered() == 0 {
		c.idle.Await()
	}
}

// Read implements net.Conn. When its time has passed it asks late whether the
// client has more.
func (c *rawConn) Read(b []byte) (int, error) {
	for {
		n, err := c.Conn.Read(b)
		if n > 0 || !isTimeout(err) || c.late == nil || !c.late() {
			return n, err
		}
	}
}

// bursts reports whether what is written to it may be written by the burst, which
// gives the kernel plain frames.
func (c *rawConn) bursts() bool { return c.socket != nil && !c.secure && !c.deflate }

// taken returns a number that grows as the client takes what is written to it,
// and reports whether it has not taken all.
func (c *rawConn) taken() (n int64, more bool) {
	n, waiting := c.written.Load(), c.writing.Load()
	if queued, ok := sendQueue(c.socket); ok {
		return n - queued, queued > 0 || waiting
	}
	return n, waiting
}

// Write is for the WebSocket library: it writes the handshake.
func (c *rawConn) Write(b []byte) (int, error) {
	c.mu.Lock()
	upgraded := c.upgraded
	c.mu.Unlock()
	if upgraded {
		return len(b), nil
	}
	if i := bytes.Index(b, []byte("\r\nSec-WebSocket-Extensions: permessage-deflate")); i >= 0 {
		c.deflate = true
		end := i + len("\r\n") + bytes.Index(b[i+len("\r\n"):], []byte("\r\n"))
		if _, err := c.Conn.Write(slices.Concat(b[:end], []byte(c.extension), b[end:])); err != nil {
			return 0, err
		}
		return len(b), nil
	}
	return c.Conn.Write(b)
}

// SetWriteDeadline is for the WebSocket library, whose writes are dropped.
func (c *rawConn) SetWriteDeadline(t time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.upgraded {
		return nil
	}
	return c.Conn.SetWriteDeadline(t)
}

// handshaken ends the handshake.
func (c *rawConn) handshaken() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.upgraded = true
	_ = c.Conn.SetWriteDeadline(time.Time{}) // a closed connection says so when written to
}

// closeBy lets no write go on after t.
func (c *rawConn) closeBy(t time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closing = t
	_ = c.Conn.SetWriteDeadline(t)
}

// limit lets the next write go on until stall from now, or less when closing. It
// reports whether it closes.
func (c *rawConn) limit(stall time.Duration) (closing bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	by := time.Now().Add(stall)
	if closing = !c.closing.IsZero(); closing && c.closing.Before(by) {
		by = c.closing
	}
	_ = c.Conn.SetWriteDeadline(by)
	return closing
}

// errStalled says that a write made no progress for the stall timeout.
var errStalled = errors.New("the client does not read")

// writeAll writes b. It may take long as long as it makes progress: it fails
// when the client has taken nothing at all for stall.
func (c *rawConn) writeAll(b []byte, stall time.Duration) error {
	c.writing.Store(true)
	defer c.writing.Store(false)
	wait := stall / 3 // until it is looked whether the client takes what was written
	if c.secure {
		wait = stall
	}
	for idle, last := time.Duration(0), int64(-1); len(b) > 0; {
		part := b
		if c.secure {
			part = b[:min(len(b), chunk)]
		}
		closing := c.limit(wait)
		n, err := c.Conn.Write(part)
		b = b[n:]
		c.written.Add(int64(n))
		switch {
		case err == nil:
			idle = 0
			continue
		case !errors.Is(err, os.ErrDeadlineExceeded):
			return err
		case closing || c.secure:
			return errStalled
		}
		taken, _ := c.taken()
		if n > 0 || last >= 0 && taken > last {
			idle = 0
		} else if idle += wait; idle >= stall {
			return errStalled
		}
		last = taken
	}
	return nil
}
