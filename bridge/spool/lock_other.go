//go:build !unix

package spool

import (
	"os"

	"callboard/bridge/overlay"
)

// lockDir opens the lock file. Without flock the database's own lock is what
// keeps a second process out.
func lockDir(path string, _ overlay.BrokerID) (*os.File, error) {
	return os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
}
