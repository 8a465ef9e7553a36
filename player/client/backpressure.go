package client

import (
	"fmt"

	"callboard/player"
	"callboard/player/iface"
)

// waits is the property of a log device that is 0 when a replay goes as fast as
// its clients take it. Player's own reader does not have it, and refuses.
const waits = "speed"

// askPace finds out, before anything is opened, whether the server is a replay
// that waits for its clients.
func (s *session) askPace(list []player.Addr) error {
	if s.cfg.Room == nil {
		return nil
	}
	for _, addr := range list {
		if addr.Interf != player.InterfaceLog {
			continue
		}
		asked := &iface.DblpropReq{Key: iface.CString(waits)}
		return s.own(s.lastRead, addr, iface.ReqGetDblprop, asked, func(a answer) error {
			if a.failed() != nil {
				return nil
			}
			var speed iface.DblpropReq
			if err := iface.Decode(a.body, &speed); err != nil {
				s.count.undecodable.Add(1)
				return nil
			}
			s.awaitsClients = speed.Value == 0
			return nil
		})
	}
	return nil
}

// hold waits for room, if the server does.
func (s *session) hold() error {
	for s.awaitsClients {
		room := s.cfg.Room()
		if room == nil {
			return nil
		}
		select {
		case <-room:
		case <-s.stopping:
			return fmt.Errorf("ended while there was no room for readings")
		}
	}
	return nil
}
