package playercfg

import (
	"fmt"
	"net"
	"strconv"
	"strings"

	"callboard/player"
	"callboard/player/problem"
)

const defaultPort = player.DefaultPort

// maxAddress is the longest device address that Player reads, bytes.
const maxAddress = 127

// Address is a device address as configurations write it:
// key:host:port:interface:index, split from the right, with defaults for what
// is left out.
type Address struct {
	Key       string // which of several devices of an interface a driver means
	Host      string // "" here: on the server itself
	Port      int    // TCP; 0: any that is free
	Interface string
	Index     uint16
	Pos       problem.Place
}

// String returns interface:index, as in messages and patterns.
func (a Address) String() string {
	return a.Interface + ":" + strconv.Itoa(int(a.Index))
}

// Code returns the interface's code, if Player has one of that name.
func (a Address) Code() (player.Interface, bool) { return player.ParseInterface(a.Interface) }

// Local reports whether the device is on the server itself.
func (a Address) Local() bool {
	return a.Host == "" || a.Host == "localhost" || a.Host == "127.0.0.1" || a.Host == "0.0.0.0"
}

// parseAddress reads a device address; port is that of addresses without one. odd
// is what Player takes otherwise than it looks; the error says what is wrong and
// what is expected.
func parseAddress(text string, port int) (a Address, odd string, err error) {
	a.Port = port
	if len(text) > maxAddress {
		return a, "", fmt.Errorf("device address %q has %d bytes; expected at most %d", problem.Short(text), len(text), maxAddress)
	}
	parts := strings.Split(text, ":")
	if len(parts) < 2 {
		return a, "", fmt.Errorf("device address %q has no index; expected interface:index, like laser:0", text)
	}
	part := func(fromRight int) string {
		if fromRight > len(parts) {
			return ""
		}
		return parts[len(parts)-fromRight]
	}
	if a.Interface = part(2); a.Interface == "" {
		return a, "", fmt.Errorf("device address %q has no interface; expected interface:index, like laser:0", text)
	}
	index := part(1)
	n := prefixInt(index)
	if n < 0 || n > 65535 {
		return a, "", fmt.Errorf("device address %q has index %d; expected 0 to 65535", text, n)
	}
	if a.Index = uint16(n); index == "" || strings.Trim(index, "0123456789") != "" {
		odd = fmt.Sprintf("index %q of device address %q is no number; Player takes %d", index, text, n)
	}
	if p := part(3); p != "" {
		a.Port, err = strconv.Atoi(p)
		if err != nil || a.Port < 0 || a.Port > 65535 {
			return a, "", fmt.Errorf("device address %q has port %q; expected 0 to 65535: the parts are key:host:port:interface:index, from the right", text, p)
		}
	}
	a.Host = unpackHost(part(4))
	a.Key = part(5)
	if len(parts) > 5 {
		odd = fmt.Sprintf("device address %q has %d parts; Player ignores those left of the fifth", text, len(parts))
	}
	if len(parts) == 4 && parts[0] != "" && parts[1] == "" {
		odd = fmt.Sprintf("Player takes %q of device address %q for a host; expected %s:::%s if it is a key", parts[0], text, parts[0],
			strings.Join(parts[2:], ":"))
	}
	return a, odd, nil
}

// unpackHost makes a host of digits only the IPv4 address that it packs, its
// first byte the lowest.
func unpackHost(host string) string {
	n, err := strconv.ParseUint(host, 10, 32)
	if err != nil {
		return host
	}
	return net.IPv4(byte(n), byte(n>>8), byte(n>>16), byte(n>>24)).String()
}
