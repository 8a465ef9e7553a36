package server

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"callboard/player"
)

// device is one device of a driver, with the clients that have opened it.
type device struct {
	addr   player.Addr // complete
	name   string      // of the driver
	driver Driver

	mu   sync.Mutex // held while it is opened and closed
	subs atomic.Pointer[[]*subscription]
}

// subscription is a device that a client has opened.
type subscription struct {
	conn  *conn
	dev   *device
	opens int // how often the client has opened it; guarded by conn.mu
}

// devices checks what the drivers provide.
func (s *Server) collect(drivers []Driver) error {
	s.byKey = map[uint32]*device{}
	for _, d := range drivers {
		for _, info := range d.Devices() {
			dev := &device{
				addr:   player.Addr{Host: s.host, Robot: s.port, Interf: info.Interf, Index: info.Index},
				name:   info.Driver,
				driver: d,
			}
			key := deviceKey(info.Interf, info.Index)
			switch {
			case info.Interf == player.InterfacePlayer:
				return fmt.Errorf("server: driver %q provides %s, which is the server itself", info.Driver, dev.addr)
			case s.byKey[key] != nil:
				return fmt.Errorf("server: %s is provided by driver %q and by %q, expected once on a port", dev.addr, s.byKey[key].name, info.Driver)
			case len(info.Driver) > player.MaxDriverName-2:
				return fmt.Errorf("server: driver name %q of %s has %d bytes, expected at most %d", info.Driver, dev.addr, len(info.Driver), player.MaxDriverName-2)
			}
			s.byKey[key] = dev
			s.devices = append(s.devices, dev)
		}
	}
	if len(s.devices) > player.MaxDevices {
		return fmt.Errorf("server: %d devices on one port, expected at most %d", len(s.devices), player.MaxDevices)
	}
	return nil
}

func (s *Server) device(a player.Addr) *device { return s.byKey[deviceKey(a.Interf, a.Index)] }

// subscribers is an immutable snapshot.
func (d *device) subscribers() []*subscription {
	if p := d.subs.Load(); p != nil {
		return *p
	}
	return nil
}

// add is called with d.mu held.
func (d *device) add(sub *subscription) {
	subs := append(slices.Clone(d.subscribers()), sub)
	d.subs.Store(&subs)
}

// remove is called with d.mu held; it tells whether that was the last.
func (d *device) remove(sub *subscription) (last bool) {
	subs := slices.DeleteFunc(slices.Clone(d.subscribers()), func(s *subscription) bool { return s == sub })
	d.subs.Store(&subs)
	return len(subs) == 0
}
