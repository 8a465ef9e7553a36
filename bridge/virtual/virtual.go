// Package virtual gives a network interface an address that the active one of two
// machines has, and tells the network where it is now.
package virtual

import "net/netip"

// Config says which address.
type Config struct {
	Address   netip.Prefix // with the bits of its network
	Interface string
}
