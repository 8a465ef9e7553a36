package main

import (
	"errors"
	"os"
	"syscall"
)

// errUnread is that nobody reads stdout any more, as in watch … | head -1. It
// ends a command without an error.
var errUnread = errors.New("nobody reads stdout any more")

// output is stdout. A write to a pipe without a reader returns errUnread.
type output struct{ file *os.File }

func (o output) Write(b []byte) (int, error) {
	n, err := o.file.Write(b)
	if errors.Is(err, syscall.EPIPE) {
		err = errUnread
	}
	return n, err
}

// Fd is the file's: whether it is a terminal is asked of it.
func (o output) Fd() uintptr { return o.file.Fd() }
