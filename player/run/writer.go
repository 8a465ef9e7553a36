package run

import (
	"fmt"

	"callboard/player"
)

// Writer writes a recorded run. It belongs to one goroutine.
type Writer interface {
	// Write writes a record: Kind, Robot, World, Player, Logged, and what its kind
	// has. What the format cannot hold is an *Unwritable: nothing was written, and
	// writing may go on. Any other error is the disk's: no more can be written.
	Write(rec *Record) error
	// Flush hands everything to the operating system, so that a crash takes
	// nothing of it.
	Flush() error
	// Size is how many bytes the file has, or will have after Flush: about.
	Size() int64
	// Close completes the file. It does not close what it writes to.
	Close() error
}

// Unwritable is the error for a record that a format cannot hold.
type Unwritable struct {
	Header player.Header
	Why    string
}

// Error returns which message, and why.
func (e *Unwritable) Error() string {
	return fmt.Sprintf("run: the file cannot hold a %s: %s", e.Header, e.Why)
}
