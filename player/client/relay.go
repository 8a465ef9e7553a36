package client

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"callboard/player"
	"callboard/player/iface"
)

// waiter is a call of Open that waits.
type waiter struct {
	id   uint32
	done chan error // holds one
}

// Open opens a device for Config.Relay, once more, beyond those that the
// session opens by itself, and waits until its data flows. From then on it is
// to be open, in later sessions too, until Close was called as often. An error
// is as if it had not been called: ErrAway without a session, ErrTimeout or
// that of ctx if the server takes too long, else why the server refuses.
func (c *Client) Open(ctx context.Context, addr player.Addr) error {
	o := &waiter{id: id(addr), done: make(chan error, 1)}
	c.mu.Lock()
	s := c.session
	if s == nil {
		c.mu.Unlock()
		return fmt.Errorf("client: open %s of %s: %w", addr, c.cfg.Address, ErrAway)
	}
	if c.demand == nil {
		c.demand = map[uint32]int{}
	}
	c.demand[o.id]++
	c.opening = append(c.opening, o)
	c.mu.Unlock()
	s.call()
	refused, err := await(ctx, o.done, c.cfg.RequestTimeout)
	if err == nil {
		err = refused
	}
	if err == nil {
		return nil
	}
	c.mu.Lock()
	c.opening = slices.DeleteFunc(c.opening, func(other *waiter) bool { return other == o })
	c.mu.Unlock()
	c.Close(addr)
	return fmt.Errorf("client: open %s of %s: %w", addr, c.cfg.Address, err)
}

// Close takes one Open back. The device is closed after the last, unless the
// session itself wants it open.
func (c *Client) Close(addr player.Addr) {
	c.mu.Lock()
	if c.demand[id(addr)] > 1 {
		c.demand[id(addr)]--
	} else {
		delete(c.demand, id(addr))
	}
	s := c.session
	c.mu.Unlock()
	if s != nil {
		s.call()
	}
}

// demanded reports whether a device is to be open for the relay.
func (c *Client) demanded(addr player.Addr) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.demand[id(addr)] > 0
}

// granted tells those who wait for a device that it is open.
func (c *Client) granted(addr player.Addr) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.settle(func(o *waiter) bool { return o.id == id(addr) }, nil)
}

// refused tells those who wait for a device that it cannot be opened, and why.
// It returns the error.
func (c *Client) refused(addr player.Addr, err error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.settle(func(o *waiter) bool { return o.id == id(addr) }, err)
	return err
}

// settle ends the waiting of some. c.mu is held.
func (c *Client) settle(which func(*waiter) bool, err error) {
	c.opening = slices.DeleteFunc(c.opening, func(o *waiter) bool {
		if !which(o) {
			return false
		}
		o.done <- err
		return true
	})
}

// Pass sends a request or command with a body that is encoded already. Time
// and sequence number of h are sent as they are; host and robot are not. For a
// request answer is called once, unless Pass returns an error: with the answer,
// whose body is valid during the call, from the goroutine that Run runs in, or
// with ErrTimeout or ErrAway. It must not block. Pass waits for nothing; its
// errors are ErrAway, ErrBusy, ErrUnanswered and ErrForbidden, bare.
func (c *Client) Pass(h player.Header, body []byte, answer func(h player.Header, body []byte, err error)) error {
	s, err := c.current()
	if err != nil {
		return err
	}
	h.Host, h.Robot, h.Size = 0, 0, uint32(len(body))
	if h.Type == player.Command {
		if h.Interf == player.InterfacePlayer {
			return ErrForbidden
		}
		if err := s.out.pass(h, body); err != nil {
			return err
		}
		c.counters.commands.Add(1)
		return nil
	}
	if !s.mayPass(h, body) {
		return ErrForbidden
	}
	x := &exchange{id: id(h.Addr), subtype: h.Subtype, relayed: answer, expires: time.Now().Add(c.cfg.RequestTimeout)}
	x.sent = slices.Clone(body)
	if err := s.pending.add(x, func() error { return s.out.pass(h, body) }); err != nil {
		return err
	}
	c.counters.requests.Add(1)
	return nil
}

// ours begins the version of servers that are package server's.
const ours = "callboard"

// mayPass reports whether a request may be sent on: not what is the session's
// own, nor what crashes real servers or spoils them.
func (s *session) mayPass(h player.Header, body []byte) bool {
	switch {
	case h.Type != player.Request || h.Interf == player.InterfacePlayer:
		return false
	case strings.HasSuffix(s.version, ours):
		return true
	case h.Subtype == iface.ReqCapabilities:
		return false
	case len(body) == 0:
		return !needsBody(h)
	case h.Interf == player.InterfaceSimulation && (h.Subtype == iface.ReqSimulationGetProperty || h.Subtype == iface.ReqSimulationSetProperty):
		var p iface.SimulationPropertyReq
		return iface.Decode(body, &p) == nil && iface.GoString(p.Prop) != "time"
	}
	return true
}

// needsBody reports whether stock clients send a request with a body always:
// drivers then look at it without asking whether it is there.
func needsBody(h player.Header) bool {
	m, ok := iface.Lookup(h.Interf, h.Type, h.Subtype)
	if !ok || m.Empty() {
		return false
	}
	switch m.Name {
	case "GEOM", "POSE", "STATUS", "WAV_REC", "MIXER_CHANNEL_LIST", "MIXER_CHANNEL_LEVEL":
		return false
	case "GET_POSE2D", "GET_POSE3D", "GET_PROPERTY", "GET_DATA", "GET_LAYER_DATA", "GET_ENTRY":
		return true
	}
	return m.Interface == 0 || !strings.HasPrefix(m.Name, "GET_") // 0: properties
}

// overhear learns from an answer to somebody else's request what the session
// knows of a device: geometry and configuration.
func (s *session) overhear(h player.Header, body []byte) {
	d := s.byID[id(h.Addr)]
	if h.Type != player.Ack || len(body) == 0 || d == nil || !d.wanted || d.state != opened {
		return
	}
	if !slices.Contains(geometryRequests[h.Interf], h.Subtype) && !(h.Interf == player.InterfaceRanger && h.Subtype == iface.ReqRangerSetConfig) {
		return
	}
	m, ok := iface.Lookup(h.Interf, player.Request, h.Subtype)
	if !ok {
		return
	}
	if payload := m.New(); m.Decode(body, payload) == nil {
		s.learn(d, payload)
	}
}

// call wakes the session's goroutine to look at what is to be open.
func (s *session) call() {
	s.mail.Store(true)
	_ = s.conn.SetReadDeadline(time.Unix(1, 0)) // a connection that is closed needs none
}

// reconcile opens and closes devices on demand.
func (s *session) reconcile(now time.Time) error {
	if s.upAt.IsZero() { // up looks by itself
		return nil
	}
	for _, d := range s.devices {
		wish := d.wanted || s.client.demanded(d.Addr)
		switch {
		case wish && d.state == closed && (d.opener == nil || d.opener.done):
			s.addOpener(d)
		case wish && d.state == opened:
			s.client.granted(d.Addr)
		case !wish && d.state == closed && d.opener != nil && !d.opener.sent:
			d.opener.done = true
		case !wish && d.state == opened:
			if err := s.closeDevice(now, d, true); err != nil {
				return err
			}
		}
	}
	s.refuseUnknown()
	return s.advance(now)
}

// refuseUnknown refuses to open what the server does not have.
func (s *session) refuseUnknown() {
	c := s.client
	c.mu.Lock()
	defer c.mu.Unlock()
	c.settle(func(o *waiter) bool { return s.byID[o.id] == nil }, fmt.Errorf("the server has no such device"))
}

// closeDevice asks the server to close d, and looks again once it is closed:
// what is wanted is opened again then. forGood says that it is not wanted now.
func (s *session) closeDevice(now time.Time, d *device, forGood bool) error {
	d.state = closing
	return s.own(now, player.Addr{Interf: player.InterfacePlayer}, player.PlayerDev,
		&iface.DeviceReq{Addr: d.Addr, Access: player.AccessClose}, func(a answer) error {
			var got iface.DeviceReq
			if iface.Decode(a.body, &got) == nil && id(got.Addr) != id(d.Addr) {
				return fmt.Errorf("%w: closing %s was answered for %s", errLostStep, d.Addr, got.Addr)
			}
			d.state = closed
			if forGood {
				d.slots = nil
				s.closedOne(time.Now())
			}
			s.mail.Store(true)
			return nil
		})
}

// askDrivers asks what the drivers of the devices are that are not opened now.
func (s *session) askDrivers() {
	if s.cfg.Relay == nil {
		return
	}
	for _, d := range s.devices {
		if d.opener == nil {
			s.addTask(d, player.Addr{Interf: player.InterfacePlayer}, player.PlayerDriverinfo).background = true
		}
	}
}

// tellList hands the relay the list of devices if there is news of them.
func (s *session) tellList() {
	if s.cfg.Relay == nil || !s.unlisted || s.upAt.IsZero() {
		return
	}
	s.unlisted = false
	list := make([]Device, len(s.devices))
	for i, d := range s.devices {
		list[i] = d.Device
	}
	s.cfg.Relay.Listed(list)
}
