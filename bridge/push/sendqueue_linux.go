package push

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// sendQueue returns how many written bytes the other side has not acknowledged.
func sendQueue(socket syscall.RawConn) (n int64, ok bool) {
	if socket == nil {
		return 0, false
	}
	err := socket.Control(func(fd uintptr) {
		queued, err := unix.IoctlGetInt(int(fd), unix.SIOCOUTQ)
		n, ok = int64(queued), err == nil
	})
	return n, ok && err == nil
}
