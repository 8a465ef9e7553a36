//go:build linux && (386 || s390x)

package client

import "syscall"

// setOption sets a socket's option. Here such calls have no number of their
// own that package syscall knows.
func setOption(fd, level, name uintptr, value int32) {
	_ = syscall.SetsockoptInt(int(fd), int(level), int(name), int(value))
}
