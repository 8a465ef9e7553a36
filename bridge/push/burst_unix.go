//go:build unix && !linux

package push

import "syscall"

// batchWriter writes to several sockets, one after the other.
type batchWriter struct{}

func (*batchWriter) write(slots []slot) {
	for i := range slots {
		if s := &slots[i]; s.held {
			n, _ := syscall.Write(int(s.fd), s.whole())
			s.n = max(n, 0)
		}
	}
}

func (*batchWriter) close() {}
