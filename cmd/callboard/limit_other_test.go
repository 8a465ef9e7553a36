//go:build !linux

package main

import (
	"errors"

	processes "callboard/cmd/callboard/bench/network"
)

// limitFiles is not possible here.
func limitFiles(*processes.Broker, int64) error {
	return errors.New("this system has no full disk to offer")
}
