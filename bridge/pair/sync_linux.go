package pair

import (
	"net"
	"os"
	"runtime"
	"strconv"
	"syscall"
	"time"

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

// hastened is the nice value of a side's process.
const hastened = -20

// hasten has this process run before others where that is allowed: its beats are due
// each T, and threads that carry them are no others than those that do all else (H8).
func hasten() {
	threads, err := os.ReadDir("/proc/self/task")
	if err != nil {
		return
	}
	for _, t := range threads { // those that are made later are as the one that makes them
		if id, err := strconv.Atoi(t.Name()); err == nil {
			_ = unix.Setpriority(unix.PRIO_PROCESS, id, hastened) // not allowed
		}
	}
}

// sleep has the calling thread sleep. A sleeping goroutine would wait for a thread that
// wakes it, and that is none which goes before others.
func sleep(length time.Duration) {
	left := unix.NsecToTimespec(max(int64(length), 1))
	for unix.ClockNanosleep(unix.CLOCK_MONOTONIC, 0, &left, &left) == unix.EINTR {
	}
}

// ahead has the calling goroutine run on a thread of its own, before others where
// that is allowed.
func ahead() {
	runtime.LockOSThread()
	_ = unix.SchedSetAttr(0, &unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: unix.SCHED_RR, Priority: 10}, 0)
}
