package config

import (
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Complete fills what was left out: the id, the data directory, the limit of
// memory, robots' names, devices, tokens' rights. Load and Parse have done it.
func (c *Config) Complete() {
	if c.Broker.ID == "" {
		c.Broker.ID = hostID()
	}
	if c.Broker.Data == "" {
		c.Broker.Data = stateDir(c.Broker.ID)
	}
	if c.Limits.Memory == 0 {
		c.Limits.Memory = machineMemory() / 2
	}
	if c.Registry.Mode == "" {
		c.Registry.Mode = RegistryOne
	}
	if c.Registry.Broker == "" && c.Registry.Mode == RegistryOne {
		c.Registry.Broker = c.Broker.ID
	}
	for i := range c.Players {
		c.Players[i].complete()
	}
	for i := range c.Tokens {
		if c.Tokens[i].Robots == nil {
			c.Tokens[i].Robots = []string{"*"}
		}
		if c.Tokens[i].May == nil {
			c.Tokens[i].May = slices.Clone(mays)
		}
		if c.Tokens[i].Queues == nil {
			c.Tokens[i].Queues = []string{"*"}
		}
	}
}

func (p *Player) complete() {
	if p.CFG != "" || p.Robots != nil {
		return
	}
	if p.Robot == "" && p.Address != "" {
		p.Robot = DefaultRobot(p.Address)
	}
	if p.Devices == nil {
		p.Devices = []string{"*"}
	}
}

// DefaultRobot names the robot of a Player server that was given no name:
// port-6665, or host:port when it is not local.
func DefaultRobot(address string) string {
	host, port, err := net.SplitHostPort(address)
	if err == nil && isLoopback(host) {
		return "port-" + port
	}
	return address
}

// isLoopback reports whether only this machine reaches the host. The empty host
// means all addresses of the machine.
func isLoopback(host string) bool {
	if strings.EqualFold(host, "localhost") {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.Unmap().IsLoopback()
}

// hostID makes a broker id from the host's name.
func hostID() string {
	name, err := os.Hostname()
	if err != nil {
		return "callboard"
	}
	name = strings.TrimLeft(strings.Map(func(r rune) rune {
		if isBare(r) || r == '.' {
			return r
		}
		return '-'
	}, name), ".-")
	if name == "" {
		return "callboard"
	}
	return name[:min(len(name), maxName)]
}

// stateDir returns $XDG_STATE_HOME/callboard/<id>, or ~/.local/state/…, or ""
// if there is neither. As the XDG specification asks, a relative
// XDG_STATE_HOME does not count.
func stateDir(id string) string {
	base := os.Getenv("XDG_STATE_HOME")
	if !filepath.IsAbs(base) {
		home, err := os.UserHomeDir()
		if err != nil || home == "" {
			return ""
		}
		base = filepath.Join(home, ".local", "state")
	}
	return filepath.Join(base, "callboard", id)
}
