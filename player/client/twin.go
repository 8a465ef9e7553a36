package client

import (
	"slices"

	"callboard/player"
)

// mayBeTwin reports whether a device's driver has to be known before any device
// is opened: a laser or sonar beside rangers.
func (s *session) mayBeTwin(addr player.Addr, all []player.Addr) bool {
	return (addr.Interf == player.InterfaceLaser || addr.Interf == player.InterfaceSonar) && !s.cfg.Twin(addr) &&
		slices.ContainsFunc(all, func(a player.Addr) bool { return a.Interf == player.InterfaceRanger })
}

// decide takes what is known of a device's driver: it is wanted unless it shows
// one that is. Without an answer it is as any other.
func (s *session) decide(d *device) {
	d.undecided = false
	s.setup.undecided--
	of, twin := player.TwinOf(d.Driver)
	other := s.byID[id(of)]
	d.wanted = !twin || other == nil || !other.wanted
	if s.setup.undecided == 0 {
		s.openWanted()
	}
}

// openWanted opens the devices that are wanted, all at a time: a recorded run
// begins with the first one.
func (s *session) openWanted() {
	for _, d := range s.devices {
		if d.wanted || s.client.demanded(d.Addr) {
			s.addOpener(d)
		}
	}
	s.askDrivers()
}
