//go:build unix

package push

import (
	"net"
	"syscall"
)

// direct writes to a socket as far as that is possible at once.
type direct struct {
	raw     syscall.RawConn
	attempt func(fd uintptr) // made once: it allocates
	b       []byte           // to write
	n       int              // of it that the kernel took
}

// newDirect gives nil for a connection that is no socket of its own.
func newDirect(conn net.Conn) *direct {
	if l, ok := conn.(*limitedConn); ok {
		conn = l.Conn
	}
	tcp, ok := conn.(*net.TCPConn)
	if !ok {
		return nil
	}
	raw, err := tcp.SyscallConn()
	if err != nil {
		return nil
	}
	d := &direct{raw: raw}
	d.attempt = func(fd uintptr) {
		d.n = writeOnce(fd, d.b)
	}
	return d
}

// write gives how many bytes of b were taken; it never waits. What is wrong
// with a connection the next ordinary write tells.
func (d *direct) write(b []byte) int {
	// Control and not Write: nobody else writes meanwhile (the outbox sees to
	// that), and what waits for the socket is left alone.
	d.b, d.n = b, 0
	_ = d.raw.Control(d.attempt)
	d.b = nil
	return max(d.n, 0)
}
