//go:build unix && !linux

package server

import "syscall"

const canWriteOnce = true

// writeOnce writes to a socket, which is in non-blocking mode, once.
func writeOnce(fd uintptr, b []byte) int {
	for {
		n, err := syscall.Write(int(fd), b)
		if err != syscall.EINTR {
			return n
		}
	}
}
