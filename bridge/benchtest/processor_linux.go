package benchtest

import (
	"time"

	"golang.org/x/sys/unix"
)

// Processor returns the processor time that a process has used, exact to the
// nanosecond: its clock is that of clock_getcpuclockid(3).
func Processor(pid int) (time.Duration, error) {
	const sched = 2
	var t unix.Timespec
	if err := unix.ClockGettime(int32(^pid<<3|sched), &t); err != nil {
		return 0, err
	}
	return time.Duration(t.Nano()), nil
}
