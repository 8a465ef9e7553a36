//go:build !linux

package pair

import (
	"net"
	"os"
	"runtime"
	"time"
)

// syncData brings what was written in place to the disk.
func syncData(f *os.File) error { return f.Sync() }

// unread is not known here.
func unread(net.Conn) int { return 0 }

// hasten does nothing here.
func hasten() {}

func sleep(length time.Duration) { time.Sleep(length) }

// ahead has the calling goroutine run on a thread of its own.
func ahead() { runtime.LockOSThread() }
