//go:build !linux

package network

import "errors"

// LimitFiles is not possible here.
func (b *Broker) LimitFiles(int64) error {
	return errors.New("network: this system has no full disk to offer")
}
