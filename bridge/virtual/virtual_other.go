//go:build !linux

package virtual

import (
	"context"
	"errors"
	"time"
)

// Hold is not done here.
func Hold(context.Context, Config, ...time.Duration) error {
	return errors.New("a virtual address is moved on Linux only; expected standby.on_active, with a command that does")
}
