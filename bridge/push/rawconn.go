package push

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"net"
	"net/http"
	"os"
	"sync"
	"time"

	"errors"
)

// sendBuffer is the socket's, in bytes: small, so that a client that does not
// read is noticed by the window and not after the kernel has taken minutes of
// notifications. (The kernel doubles it.)
const sendBuffer = 64 << 10

// chunk is what is written at once over TLS, in bytes: one record, since a
// write that is cut short by a deadline ends a TLS connection.
const chunk = 16 << 10

// rawConn is the connection under a WebSocket. The WebSocket library reads
// from it; after the handshake only the session's writer writes to it, and
// what the library would write (close frames for what it cannot read) is
// dropped: the session sends its own, in order.
type rawConn struct {
	net.Conn
	deflate bool // the handshake agreed on permessage-deflate
	secure  bool

	mu       sync.Mutex
	upgraded bool
	closing  time.Time // no write goes on after it; zero: not closing
}

// hijacker hands the connection to the WebSocket library as a rawConn.
type hijacker struct {
	http.ResponseWriter
	conn *rawConn
}

// Hijack implements http.Hijacker.
func (h *hijacker) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, rw, err := http.NewResponseController(h.ResponseWriter).Hijack()
	if err != nil {
		return nil, nil, err
	}
	h.conn = &rawConn{Conn: conn}
	under := conn
	if secure, ok := conn.(*tls.Conn); ok {
		h.conn.secure = true
		under = secure.NetConn()
	}
	if l, ok := under.(*limitedConn); ok {
		under = l.Conn
	}
	if tcp, ok := under.(*net.TCPConn); ok {
		// Where it cannot be set, slow clients are noticed later.
		_ = tcp.SetWriteBuffer(sendBuffer)
	}
	return h.conn, rw, nil
}

// Write is for the WebSocket library: it writes the handshake.
func (c *rawConn) Write(b []byte) (int, error) {
	c.mu.Lock()
	upgraded := c.upgraded
	c.mu.Unlock()
	if upgraded {
		return len(b), nil
	}
	c.deflate = c.deflate || bytes.Contains(b, []byte("\r\nSec-WebSocket-Extensions: permessage-deflate"))
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

// limit gives the next write until stall from now, or less when closing. It
// tells whether it closes.
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
// when nothing at all could be written for stall. blocked is called when a
// write had to wait and made some progress.
func (c *rawConn) writeAll(b []byte, stall time.Duration, blocked func()) error {
	for len(b) > 0 {
		part := b
		if c.secure {
			part = b[:min(len(b), chunk)]
		}
		closing := c.limit(stall)
		n, err := c.Conn.Write(part)
		b = b[n:]
		switch {
		case err == nil:
		case !errors.Is(err, os.ErrDeadlineExceeded):
			return err
		case n == 0 || closing || c.secure:
			return errStalled
		default:
			blocked()
		}
	}
	return nil
}
