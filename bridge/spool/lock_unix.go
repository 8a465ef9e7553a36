//go:build unix

package spool

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"callboard/bridge/overlay"
)

// owner is what a lock file tells of the process that holds it.
type owner struct {
	PID    int              `json:"pid"`
	Broker overlay.BrokerID `json:"broker"`
	Since  time.Time        `json:"since"`
}

// lockDir takes the data directory for this process. The lock goes with the
// process, however it ends.
func lockDir(path string, broker overlay.BrokerID) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		defer f.Close()
		if !errors.Is(err, unix.EWOULDBLOCK) {
			return nil, fmt.Errorf("lock %s: %w", path, err)
		}
		var o owner
		if json.NewDecoder(io.LimitReader(f, 4096)).Decode(&o) != nil || o.PID == 0 {
			return nil, errors.New("it is in use by another process")
		}
		return nil, fmt.Errorf("it is in use by broker %q (process %d, since %s)", o.Broker, o.PID, o.Since.Format(time.RFC3339))
	}
	text, err := json.Marshal(owner{PID: os.Getpid(), Broker: broker, Since: time.Now().Truncate(time.Second)})
	if err == nil {
		err = f.Truncate(0)
	}
	if err == nil {
		_, err = f.WriteAt(append(text, '\n'), 0)
	}
	if err != nil && !errors.Is(err, unix.ENOSPC) { // a full disk is no reason not to start
		f.Close()
		return nil, fmt.Errorf("write %s: %w", path, err)
	}
	return f, nil
}
