//go:build unix

package bench

import (
	"os"
	"runtime"
	"syscall"
	"time"
)

// processorTime is what this process has used, in user and system mode.
func processorTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// peakMemoryOf is how many bytes of memory a process that has ended held at
// most, or, of nil, this one so far.
func peakMemoryOf(ended *os.ProcessState) int64 {
	var own syscall.Rusage
	u := &own
	if ended == nil {
		if err := syscall.Getrusage(syscall.RUSAGE_SELF, u); err != nil {
			return 0
		}
	} else if known, ok := ended.SysUsage().(*syscall.Rusage); ok {
		u = known
	}
	if runtime.GOOS == "darwin" || runtime.GOOS == "ios" {
		return int64(u.Maxrss)
	}
	return int64(u.Maxrss) << 10 // everywhere else in KiB
}
