package benchtest

import (
	"encoding/binary"
	"io"
	"net"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// stampedConn is a TCP connection that the kernel stamps the arrival of data
// on (SO_TIMESTAMPING, Documentation/networking/timestamping.rst).
type stampedConn struct {
	net.Conn
	raw     syscall.RawConn
	try     func(fd uintptr) (done bool) // to read into
	into    []byte
	n       int
	control [128]byte
	said    int // bytes of control
	err     error
}

// stampArrivals has the kernel stamp what arrives at a connection, if it can.
func stampArrivals(conn net.Conn) (net.Conn, error) {
	tcp, ok := conn.(*net.TCPConn)
	if !ok {
		return conn, nil
	}
	raw, err := tcp.SyscallConn()
	if err != nil {
		return nil, err
	}
	c := &stampedConn{Conn: conn, raw: raw}
	c.try = c.receive
	err = raw.Control(func(fd uintptr) {
		c.err = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_TIMESTAMPING_NEW, unix.SOF_TIMESTAMPING_RX_SOFTWARE|unix.SOF_TIMESTAMPING_SOFTWARE)
	})
	if err == nil {
		err = c.err
	}
	return c, err
}

func (c *stampedConn) Read(b []byte) (int, error) {
	if len(b) == 0 {
		return 0, nil
	}
	c.into = b
	switch err := c.raw.Read(c.try); {
	case err != nil:
		return 0, err
	case c.err != nil:
		return 0, c.err
	case c.n == 0:
		return 0, io.EOF
	}
	return c.n, nil
}

func (c *stampedConn) receive(fd uintptr) (done bool) {
	for {
		c.n, c.said, _, _, c.err = unix.Recvmsg(int(fd), c.into, c.control[:], 0)
		if c.err != unix.EINTR {
			return c.err != unix.EAGAIN
		}
	}
}

// arrived returns when the last byte that was read had arrived, zero if the
// kernel has not told.
func (c *stampedConn) arrived() time.Time {
	for rest := c.control[:c.said]; len(rest) > 0; {
		head, data, more, err := unix.ParseOneSocketControlMessage(rest)
		if err != nil {
			break
		}
		// Three times of seconds and nanoseconds; the first is the software's.
		if head.Level == unix.SOL_SOCKET && head.Type == unix.SO_TIMESTAMPING_NEW && len(data) >= 16 {
			if seconds := int64(binary.NativeEndian.Uint64(data)); seconds != 0 {
				return time.Unix(seconds, int64(binary.NativeEndian.Uint64(data[8:])))
			}
		}
		rest = more
	}
	return time.Time{}
}
