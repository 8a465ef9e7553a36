package pair

import (
	"net"
	"os"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

// syncData brings what was written in place to the disk.
func syncData(f *os.File) error { return unix.Fdatasync(int(f.Fd())) }

// unread returns how many bytes have arrived on a connection and were not read.
func unread(c net.Conn) (n int) {
	raw, is := c.(syscall.Conn)
	if !is {
		return 0
	}
	rc, err := raw.SyscallConn()
	if err != nil {
		return 0
	}
	_ = rc.Control(func(fd uintptr) { n, _ = unix.IoctlGetInt(int(fd), unix.TIOCINQ) }) // closed: nothing comes
	return n
}

// ahead has the calling goroutine run on a thread of its own, before others where
// that is allowed.
func ahead() {
	runtime.LockOSThread()
	_ = unix.SchedSetAttr(0, &unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: unix.SCHED_RR, Priority: 10}, 0)
}
