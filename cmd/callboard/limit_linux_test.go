package main

import (
	"fmt"

	processes "callboard/cmd/callboard/bench/network"

	"golang.org/x/sys/unix"
)

// limitFiles lets no file of a broker grow beyond so many bytes, as if the
// disk were full; 0: as far as they like.
func limitFiles(b *processes.Broker, bytes int64) error {
	if b.Pid() == 0 { // that would be this process
		return fmt.Errorf("%s does not run", b.Name)
	}
	limit := unix.Rlimit{Cur: uint64(bytes), Max: unix.RLIM_INFINITY}
	if bytes == 0 {
		limit.Cur = unix.RLIM_INFINITY
	}
	return unix.Prlimit(b.Pid(), unix.RLIMIT_FSIZE, &limit, nil)
}
