package beacon

import (
	"context"
	"net"
)

// Hear returns a hook for a client's Config.Heard: it reports brokers that are
// heard until ctx ends. A configuration that is wrong is logged, and nothing
// is heard.
func Hear(cfg ListenConfig) func(ctx context.Context, report func(id, url string)) {
	return func(ctx context.Context, report func(id, url string)) {
		if err := Listen(ctx, cfg, func(b Beacon) { report(b.Broker, b.URL) }); err != nil && cfg.Logger != nil {
			cfg.Logger.Error("cannot listen for brokers", "error", err)
		}
	}
}

// Loopback names the interfaces that lead nowhere but to this machine.
func Loopback() []string {
	return named(func(i *net.Interface) bool { return i.Flags&net.FlagLoopback != 0 })
}

// Of names the loopback and the interface that has an address; only the
// loopback if none has.
func Of(address net.IP) []string {
	return named(func(i *net.Interface) bool {
		if i.Flags&net.FlagLoopback != 0 {
			return true
		}
		all, err := i.Addrs()
		if err != nil {
			return false
		}
		for _, a := range all {
			if n, ok := a.(*net.IPNet); ok && n.IP.Equal(address) {
				return true
			}
		}
		return false
	})
}

func named(right func(*net.Interface) bool) []string {
	names := []string{}
	all, err := net.Interfaces()
	if err != nil {
		return names
	}
	for i := range all {
		if right(&all[i]) {
			names = append(names, all[i].Name)
		}
	}
	return names
}
