//go:build unix

package push

import (
	"net"
	"syscall"
)

// direct writes to a socket as far as that is possible at once.
type direct struct {
	raw     syscall.RawConn
	attempt func(fd uintptr) bool // made once: it allocates
	b       []byte                // to write
	n       int                   // of it that the kernel took
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
	d.attempt = func(fd uintptr) bool {
		d.n, _ = syscall.Write(int(fd), d.b)
		return true // whatever became of it: never wait
	}
	return d
}

// write gives how many bytes of b were taken; it never waits. What is wrong
// with a connection the next ordinary write tells.
func (d *direct) write(b []byte) int {
	d.b, d.n = b, 0
	_ = d.raw.Write(d.attempt)
	d.b = nil
	return max(d.n, 0)
}
