//go:build unix

package network

import (
	"errors"
	"os"
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
