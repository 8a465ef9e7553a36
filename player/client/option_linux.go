//go:build !386 && !s390x

package client

import (
	"syscall"
	"unsafe"
)

// setOption sets a socket's option by a call that the scheduler does not hear
// of, for the reason that rawReader has.
func setOption(fd, level, name uintptr, value int32) {
	_, _, _ = syscall.RawSyscall6(syscall.SYS_SETSOCKOPT, fd, level, name, uintptr(unsafe.Pointer(&value)), unsafe.Sizeof(value), 0)
}
