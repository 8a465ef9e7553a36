//go:build !unix

package network

import "errors"

var errNoSignals = errors.New("network: this system cannot stop a process for a while")

// Pause is not possible here.
func (b *Broker) Pause() error { return errNoSignals }

// Continue is not possible here.
func (b *Broker) Continue() error { return errNoSignals }
