//go:build !linux

package benchtest

import (
	"errors"
	"time"
)

// Processor returns the processor time that a process has used; on Linux only.
func Processor(int) (time.Duration, error) { return 0, errors.ErrUnsupported }
