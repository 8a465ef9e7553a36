package network

import (
	"errors"

	"golang.org/x/sys/unix"
)

// LimitFiles lets no file of the broker grow beyond so many bytes, as if the
// disk were full; 0: as far as they like.
func (b *Broker) LimitFiles(bytes int64) error {
	if b.process == nil {
		return errors.New("network: " + b.Name + " does not run")
	}
	limit := unix.Rlimit{Cur: uint64(bytes), Max: unix.RLIM_INFINITY}
	if bytes == 0 {
		limit.Cur = unix.RLIM_INFINITY
	}
	return unix.Prlimit(b.process.Process.Pid, unix.RLIMIT_FSIZE, &limit, nil)
}
