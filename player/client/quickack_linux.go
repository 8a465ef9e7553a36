package client

import (
	"net"
	"syscall"
)

// quickack returns a function that makes the kernel acknowledge what arrives at
// once, until it falls back to delayed acknowledgements by itself: so it is
// called after every read. The real server sends a round in several small
// writes and leaves Nagle's algorithm on; with delayed acknowledgements each
// round then takes 40 ms.
func quickack(conn net.Conn) func() {
	raw := socketOf(conn)
	if raw == nil {
		return func() {}
	}
	set := func(fd uintptr) {
		// A failure costs speed only, and the next read will tell of a broken socket.
		setOption(fd, syscall.IPPROTO_TCP, syscall.TCP_QUICKACK, 1)
	}
	return func() { _ = raw.Control(set) }
}
