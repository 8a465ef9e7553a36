//go:build !linux

package pair

import (
	"net"
	"os"
	"runtime"
)

// syncData brings what was written in place to the disk.
func syncData(f *os.File) error { return f.Sync() }

// unread is not known here.
func unread(net.Conn) int { return 0 }

// ahead has the calling goroutine run on a thread of its own.
func ahead() { runtime.LockOSThread() }
