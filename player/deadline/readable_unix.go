//go:build unix

package deadline

import "golang.org/x/sys/unix"

// readable reports whether a read of a socket would not wait. If the system does
// not tell, it reports true.
func readable(fd uintptr) bool {
	fds := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
	n, err := unix.Poll(fds, 0)
	return n > 0 || err != nil
}
