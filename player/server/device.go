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
	addr   player.Addr            // complete
	name   atomic.Pointer[string] // of the driver
	driver Driver
	relay  bool // the driver is a Relay

	// withdrawn reports that the driver does not provide it any more: it cannot
	// be opened, and stays only for those who have it open.
	withdrawn atomic.Bool

	mu   sync.Mutex // held while it is opened and closed
	subs atomic.Pointer[[]*subscription]
}

// subscription is a device that a client has opened.
type subscription struct {
	conn  *conn
	dev   *device
	opens int // how often the client has opened it; guarded by conn.mu
}

// devices are the devices of a server at one time; immutable.
type devices struct {
	list  []*device // in the drivers' order
	byKey map[uint32]*device
}

// collect asks the drivers for their devices.
func (s *Server) collect(drivers []Driver) error {
	total := 0
	for _, d := range drivers {
		infos := d.Devices()
		total += len(infos)
		s.provided = append(s.provided, infos)
	}
	if total > player.MaxDevices {
		return fmt.Errorf("server: %d devices on one port, expected at most %d", total, player.MaxDevices)
	}
	s.devices.Store(&devices{})
	return s.arrange()
}

// provide replaces the devices of one driver.
func (s *Server) provide(driver int, infos []DeviceInfo) error {
	s.providing.Lock()
	defer s.providing.Unlock()
	before := s.provided[driver]
	s.provided[driver] = slices.Clone(infos)
	err := s.arrange()
	if err != nil {
		s.provided[driver] = before
	}
	return err
}

// arrange makes the list of devices of what all drivers provide, or says what
// cannot be served.
func (s *Server) arrange() error {
	old := s.devices.Load()
	now := &devices{byKey: map[uint32]*device{}}
	for i, infos := range s.provided {
		for _, info := range infos {
			if err := s.check(info, now); err != nil {
				return err
			}
			dev := old.byKey[deviceKey(info.Interf, info.Index)]
			if dev == nil || dev.driver != s.cfg.Drivers[i] {
				dev = s.newDevice(s.cfg.Drivers[i], info)
			}
			now.byKey[deviceKey(info.Interf, info.Index)] = dev
			now.list = append(now.list, dev)
		}
	}
	for i, at := 0, 0; i < len(s.provided); i++ {
		for _, info := range s.provided[i] {
			dev := now.list[at]
			at++
			if name := dev.name.Load(); name == nil || *name != info.Driver {
				dev.name.Store(&info.Driver)
			}
			dev.withdrawn.Store(false)
		}
	}
	for key, dev := range old.byKey {
		if now.byKey[key] == dev {
			continue
		}
		dev.withdrawn.Store(true)
		if now.byKey[key] == nil && dev.inUse() {
			now.byKey[key] = dev
		}
	}
	s.devices.Store(now)
	return nil
}

func (s *Server) newDevice(d Driver, info DeviceInfo) *device {
	dev := &device{addr: player.Addr{Host: s.host, Robot: s.port, Interf: info.Interf, Index: info.Index}, driver: d}
	if r, ok := d.(Relay); ok {
		dev.relay = r.Relays()
	}
	return dev
}

// check says why a device cannot be served beside those that are.
func (s *Server) check(info DeviceInfo, beside *devices) error {
	addr := player.Addr{Interf: info.Interf, Index: info.Index}
	switch other := beside.byKey[deviceKey(info.Interf, info.Index)]; {
	case info.Interf == player.InterfacePlayer:
		return fmt.Errorf("server: driver %q provides %s, which is the server itself", info.Driver, addr)
	case other != nil:
		return fmt.Errorf("server: %s is provided by driver %q and by %q, expected once on a port", addr, s.infoOf(addr).Driver, info.Driver)
	case len(info.Driver) > player.MaxDriverName-2:
		return fmt.Errorf("server: driver name %q of %s has %d bytes, expected at most %d", info.Driver, addr, len(info.Driver), player.MaxDriverName-2)
	}
	return nil
}

// infoOf returns the first that is provided for an address.
func (s *Server) infoOf(a player.Addr) DeviceInfo {
	for _, infos := range s.provided {
		for _, info := range infos {
			if info.Interf == a.Interf && info.Index == a.Index {
				return info
			}
		}
	}
	return DeviceInfo{}
}

// device returns the device of an address; nil means that there is none.
func (s *Server) device(a player.Addr) *device {
	return s.devices.Load().byKey[deviceKey(a.Interf, a.Index)]
}

// driverName is what clients are told.
func (d *device) driverName() string { return *d.name.Load() }

// inUse reports whether a client has the device open, or is just opening or
// closing it.
func (d *device) inUse() bool {
	if !d.mu.TryLock() {
		return true
	}
	defer d.mu.Unlock()
	return len(d.subscribers()) > 0
}

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

// remove is called with d.mu held; it reports whether that was the last.
func (d *device) remove(sub *subscription) (last bool) {
	subs := slices.DeleteFunc(slices.Clone(d.subscribers()), func(s *subscription) bool { return s == sub })
	d.subs.Store(&subs)
	return len(subs) == 0
}
