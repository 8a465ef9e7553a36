//go:build unix

package network

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
)

// Pause stops the process (SIGSTOP): it is late, not lost.
func (b *Broker) Pause() error { return b.signal(syscall.SIGSTOP) }

// Continue lets it go on.
func (b *Broker) Continue() error { return b.signal(syscall.SIGCONT) }

func (b *Broker) signal(s os.Signal) error {
	if b.process == nil {
		return errors.New("network: " + b.Name + " does not run")
	}
	return b.process.Process.Signal(s)
}

// Memory returns how much memory the process has, and had at most in this life,
// in bytes; 0 where the system does not tell.
func (b *Broker) Memory() (now, most int64) {
	if b.process == nil {
		return 0, 0
	}
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", b.process.Process.Pid))
	if err != nil {
		return 0, 0
	}
	value := func(name string) int64 {
		_, rest, _ := strings.Cut(string(text), name+":")
		fields := strings.Fields(rest)
		if len(fields) == 0 {
			return 0
		}
		kib, _ := strconv.ParseInt(fields[0], 10, 64)
		return kib << 10
	}
	return value("VmRSS"), value("VmHWM")
}
