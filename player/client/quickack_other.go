//go:build !linux

package client

import "net"

// quickack does nothing where the kernel has no such option: rounds of a
// server that leaves Nagle's algorithm on are slow there.
func quickack(net.Conn) func() { return func() {} }
