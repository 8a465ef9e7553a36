//go:build !unix

package network

import "errors"

var errNoSignals = errors.New("network: this system cannot stop a process for a while")

// Pause is not possible here.
func (b *Broker) Pause() error { return errNoSignals }

// Continue is not possible here.
func (b *Broker) Continue() error { return errNoSignals }

// Memory is not known here.
func (b *Broker) Memory() (now, most int64) { return 0, 0 }
