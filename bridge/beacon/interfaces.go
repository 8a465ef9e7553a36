package beacon

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strings"
	"time"
)

// DefaultGroup is where beacons are sent: an address of those that stay within
// a site.
var DefaultGroup = netip.MustParseAddrPort("239.255.67.66:8802")

// rescan is how often it is looked which interfaces there are.
const rescan = 5 * time.Second

// Network says where beacons go and come from.
type Network struct {
	Group      netip.AddrPort // multicast address and port; default DefaultGroup
	Interfaces []string       // names, "eth0"; default all that are up and can multicast, and the loopback
}

func (n *Network) complete() error {
	if n.Group == (netip.AddrPort{}) {
		n.Group = DefaultGroup
	}
	if !n.Group.Addr().Is4() || !n.Group.Addr().IsMulticast() || n.Group.Port() == 0 {
		return fmt.Errorf("the group %v; expected an IPv4 multicast address and a port, as %v", n.Group, DefaultGroup)
	}
	return nil
}

// interfaces lists those that can be used now, and says why if there are none.
func (n *Network) interfaces() ([]net.Interface, error) {
	all, err := net.Interfaces()
	if err != nil {
		return nil, fmt.Errorf("network interfaces: %w", err)
	}
	var usable []net.Interface
	var not []string
	for _, i := range all {
		if len(n.Interfaces) > 0 && !slices.Contains(n.Interfaces, i.Name) {
			continue
		}
		if why := unusable(&i); why != "" {
			not = append(not, i.Name+" "+why)
			continue
		}
		usable = append(usable, i)
	}
	switch {
	case len(usable) > 0:
		return usable, nil
	case len(n.Interfaces) > 0 && len(not) == 0:
		return nil, fmt.Errorf("there is no network interface %s", strings.Join(n.Interfaces, ", "))
	case len(not) == 0:
		return nil, errors.New("there are no network interfaces")
	}
	return nil, fmt.Errorf("no network interface can multicast: %s", strings.Join(not, ", "))
}

// unusable says why an interface cannot be used. The loopback takes multicasts,
// whatever its flags say.
func unusable(i *net.Interface) string {
	if i.Flags&net.FlagUp == 0 {
		return "is down"
	}
	if i.Flags&(net.FlagMulticast|net.FlagLoopback) == 0 {
		return "has no multicast"
	}
	addresses, err := i.Addrs()
	if err != nil {
		return err.Error()
	}
	for _, a := range addresses {
		if ip, ok := a.(*net.IPNet); ok && ip.IP.To4() != nil {
			return ""
		}
	}
	return "has no IPv4 address"
}
