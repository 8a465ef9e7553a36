//go:build unix

package bench

import (
	"runtime"
	"syscall"
)

// maxMemory is the most memory that this process had in use, in bytes; 0 is not
// known.
func maxMemory() int64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	if runtime.GOOS == "darwin" {
		return int64(u.Maxrss)
	}
	return int64(u.Maxrss) * 1024
}
