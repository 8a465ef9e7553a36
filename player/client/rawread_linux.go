package client

import (
	"io"
	"net"
	"os"
	"syscall"
	"unsafe"
)

// rawReader reads a socket by system calls that the scheduler does not hear of:
// they never block, and in a process that was idle hearing of one wakes the
// runtime's monitor, on the processor that others need for the reading.
type rawReader struct {
	conn    net.Conn
	raw     syscall.RawConn
	attempt func(fd uintptr) bool // made once: it allocates
	b       []byte                // to read into
	n       int
	failed  syscall.Errno
}

// socketOf returns a connection's socket, nil if it is not one of its own.
func socketOf(conn net.Conn) syscall.RawConn {
	tcp, ok := conn.(*net.TCPConn)
	if !ok {
		return nil
	}
	raw, err := tcp.SyscallConn()
	if err != nil {
		return nil
	}
	return raw
}

// newRawReader returns nil for a connection that is no socket of its own.
func newRawReader(conn net.Conn) *rawReader {
	raw := socketOf(conn)
	if raw == nil {
		return nil
	}
	r := &rawReader{conn: conn, raw: raw}
	r.attempt = r.try
	return r
}

// try reads once, and reports whether that was all there is to do for now.
func (r *rawReader) try(fd uintptr) bool {
	for {
		n, _, failed := syscall.RawSyscall(syscall.SYS_READ, fd, uintptr(unsafe.Pointer(unsafe.SliceData(r.b))), uintptr(len(r.b)))
		switch failed {
		case syscall.EINTR:
			continue
		case syscall.EAGAIN:
			return false
		}
		r.n, r.failed = int(n), failed
		return true
	}
}

// look reads what has arrived, without waiting, whatever the deadline is.
func (r *rawReader) look(b []byte) int {
	r.b, r.n, r.failed = b, 0, 0
	_ = r.raw.Control(func(fd uintptr) { r.try(fd) }) // what is wrong the next read tells
	r.b = nil
	if r.failed != 0 {
		return 0
	}
	return r.n
}

// read is as net.Conn's Read. b is not empty.
func (r *rawReader) read(b []byte) (int, error) {
	r.b, r.n, r.failed = b, 0, 0
	err := r.raw.Read(r.attempt)
	r.b = nil
	switch {
	case err != nil:
		return 0, err
	case r.failed != 0:
		return 0, &net.OpError{Op: "read", Net: "tcp", Source: r.conn.LocalAddr(), Addr: r.conn.RemoteAddr(), Err: os.NewSyscallError("read", r.failed)}
	case r.n == 0:
		return 0, io.EOF
	}
	return r.n, nil
}
