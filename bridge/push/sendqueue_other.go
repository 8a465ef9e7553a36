//go:build !linux

package push

import "syscall"

// sendQueue returns how many written bytes the other side has not acknowledged,
// where the system tells.
func sendQueue(syscall.RawConn) (n int64, ok bool) { return 0, false }
