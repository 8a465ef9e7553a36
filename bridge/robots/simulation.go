package robots

import (
	"slices"
	"sync"

	"callboard/player"
	"callboard/subscribe/protocol"
)

// findSimulations finds the session with each simulation that is not on its
// robots' own Player server; there is one even if no robot is there.
func (r *Robots) findSimulations() error {
	for _, s := range r.sessions {
		at := s.server.Simulation
		if at == nil {
			continue
		}
		i := slices.IndexFunc(r.sessions, func(other *session) bool { return other.server.Address == at.Address })
		if i >= 0 {
			s.simulation = r.sessions[i]
			continue
		}
		other, err := newSession(r, Server{Address: at.Address, Dial: s.server.Dial})
		if err != nil {
			return err
		}
		r.sessions = append(r.sessions, other)
		s.simulation = other
	}
	return nil
}

// simulation returns the session and the index of the simulation that the robot
// is in: that of its own Player server, else the one that the configuration
// names. It is not opened and belongs to no robot.
func (r *robot) simulation(c *command, asked *int) (*session, int, error) {
	own := r.session
	devices, err := own.client.Devices()
	if err != nil { // it went away just now
		return nil, 0, translate(err, own, r.name, c)
	}
	index, ok := pick(devices, func(a player.Addr) player.Addr { return a }, c.interf, asked)
	at := own.server.Simulation
	switch {
	case ok:
		return own, index, nil
	case at != nil && (asked == nil || *asked == int(at.Index)):
		return own.simulation, int(at.Index), nil
	case asked != nil:
		return nil, 0, fail(protocol.NotFound, "%s has no device %s:%d", r.name, c.interf, *asked)
	}
	return nil, 0, fail(protocol.NotFound, "%s needs a simulation, and the Player server %s of %s has none; "+
		"expected one there, or a Player configuration (--player-cfg) that says where it is", c.name, own.server.Address, r.name)
}

// pick returns the index of the device that is asked for, else the lowest of an
// interface; false: there is none.
func pick[D any](devices []D, addr func(D) player.Addr, interf player.Interface, asked *int) (int, bool) {
	lowest := -1
	for _, d := range devices {
		switch a := addr(d); {
		case a.Interf != interf || asked != nil && int(a.Index) != *asked:
		case lowest < 0 || int(a.Index) < lowest:
			lowest = int(a.Index)
		}
	}
	return max(lowest, 0), lowest >= 0
}

// gate is what others wait at; its zero value is shut.
type gate struct {
	mu     sync.Mutex
	passes chan struct{} // closed while it is open; nil: nobody has waited
	opened bool
}

func (g *gate) open() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.opened {
		close(g.channel())
	}
	g.opened = true
}

func (g *gate) shut() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.opened {
		g.opened, g.passes = false, nil
	}
}

// passed returns a channel that is closed once the gate is open.
func (g *gate) passed() <-chan struct{} {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.channel()
}

// channel is called with the lock held.
func (g *gate) channel() chan struct{} {
	if g.passes == nil {
		g.passes = make(chan struct{})
	}
	return g.passes
}
