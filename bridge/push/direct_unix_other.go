//go:build unix && !linux

package push

import "syscall"

// writeOnce writes what a socket takes at once.
func writeOnce(fd uintptr, b []byte) int {
	n, _ := syscall.Write(int(fd), b)
	return n
}
