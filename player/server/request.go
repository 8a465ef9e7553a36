package server

import (
	"bufio"
	"errors"
	"log/slog"

	"callboard/player"
	"callboard/player/iface"
)

// maxRequest is more than any request to the server itself needs, in bytes;
// what is beyond is skipped.
const maxRequest = 1024

// toServer answers a message to the player interface. Everything that is not
// served gets an empty NACK; but NACKs themselves are not bounced.
func (c *conn) toServer(h player.Header, r *bufio.Reader) error {
	body, err := c.readBody(r, min(h.Size, maxRequest))
	if err != nil {
		return err
	}
	if err := skip(r, h.Size-min(h.Size, maxRequest)); err != nil {
		return err
	}
	switch {
	case h.Type == player.Nack:
		c.server.counters.unknownMessage.Add(1)
	case h.Type != player.Request:
		c.server.counters.unknownMessage.Add(1)
		c.reply(h, player.Nack, nil)
	default:
		c.request(h, body)
	}
	return nil
}

func (c *conn) request(h player.Header, body []byte) {
	switch h.Subtype {
	case player.PlayerDevlist:
		c.reply(h, player.Ack, c.server.devlist())
	case player.PlayerDriverinfo:
		var req iface.DeviceDriverinfo
		if c.decode(h, body, &req) {
			c.driverinfo(h, req)
		}
	case player.PlayerDev:
		var req iface.DeviceReq
		if c.decode(h, body, &req) {
			c.dev(h, req)
		}
	case player.PlayerData:
		if len(body) > 0 {
			c.server.counters.undecodable.Add(1)
			c.reply(h, player.Nack, nil)
			return
		}
		c.replyFirst(h)
	case player.PlayerDatamode:
		var req iface.DeviceDatamodeReq
		if c.decode(h, body, &req) {
			c.datamode(h, req)
		}
	case player.PlayerAddReplaceRule:
		var req iface.AddReplaceRuleReq
		if c.decode(h, body, &req) {
			c.replaceRule(h, req)
		}
	default:
		c.reply(h, player.Nack, nil)
	}
}

// decode decodes a request's body, and refuses what is none. (The real server
// dies of an empty one.)
func (c *conn) decode(h player.Header, body []byte, into any) bool {
	if err := iface.Decode(body, into); err != nil {
		c.server.counters.undecodable.Add(1)
		c.reply(h, player.Nack, nil)
		return false
	}
	return true
}

func (s *Server) devlist() *iface.DeviceDevlist {
	all := s.devices.Load().list
	all = all[:min(len(all), player.MaxDevices)]
	list := &iface.DeviceDevlist{Devices: make([]iface.DevAddr, len(all))}
	for i, d := range all {
		list.Devices[i] = d.addr
	}
	return list
}

func (c *conn) driverinfo(h player.Header, req iface.DeviceDriverinfo) {
	dev := c.server.device(req.Addr)
	if dev == nil {
		c.reply(h, player.Nack, nil)
		return
	}
	c.reply(h, player.Ack, &iface.DeviceDriverinfo{Addr: dev.addr, DriverName: iface.CString(dev.driverName())})
}

// datamode switches between PUSH and PULL; other modes change nothing.
func (c *conn) datamode(h player.Header, req iface.DeviceDatamodeReq) {
	switch req.Mode {
	case player.Push, player.Pull:
		c.mu.Lock()
		c.q.pull = req.Mode == player.Pull
		c.signal()
		c.mu.Unlock()
	}
	c.reply(h, player.Ack, nil)
}

// replaceRule adds a rule to the client's queue. It is refused only when there
// are far too many.
func (c *conn) replaceRule(h player.Header, req iface.AddReplaceRuleReq) {
	c.mu.Lock()
	ok := c.q.setRule(ruleKey{req.Interf, req.Index, req.Type, req.Subtype}, action(req.Replace))
	c.mu.Unlock()
	if !ok {
		c.reply(h, player.Nack, nil)
		return
	}
	c.reply(h, player.Ack, nil)
}

// errWithdrawn is why a device cannot be opened that was there before.
var errWithdrawn = errors.New("the driver does not provide it any more")

// dev opens or closes a device.
func (c *conn) dev(h player.Header, req iface.DeviceReq) {
	dev := c.server.device(req.Addr)
	if dev == nil {
		req.Addr.Host, req.Addr.Robot = c.server.host, c.server.port
		c.reply(h, player.Nack, &iface.DeviceReq{Addr: req.Addr, Access: player.AccessError})
		return
	}
	answer := &iface.DeviceReq{Addr: dev.addr, Access: req.Access, DriverName: iface.CString(dev.driverName())}
	switch req.Access {
	case player.AccessOpen:
		if err := c.open(dev, h, answer); err != nil {
			c.log.Debug("driver refuses a device", slog.String("device", dev.addr.String()), slog.Any("error", err))
			answer.Access = player.AccessError
			c.reply(h, player.Nack, answer)
		}
	case player.AccessClose:
		if !c.close(dev) {
			answer.Access = player.AccessError
		}
		c.reply(h, player.Ack, answer)
	default:
		answer.Access = player.AccessError
		c.reply(h, player.Ack, answer)
	}
}

// open opens dev once more and acknowledges it. The acknowledgement stands
// before all readings of the device that this open brings, including those
// that the driver publishes while it is opened.
func (c *conn) open(dev *device, h player.Header, answer *iface.DeviceReq) error {
	ack := c.encodeReply(h, player.Ack, answer)
	defer ack.release()
	key := deviceKey(dev.addr.Interf, dev.addr.Index)
	if sub := c.subs[key]; sub != nil {
		c.mu.Lock()
		defer c.mu.Unlock()
		sub.opens++
		c.push(ack, 1)
		c.signal()
		return nil
	}

	sub := &subscription{conn: c, dev: dev, opens: 1}
	c.mu.Lock()
	c.opening = sub
	c.mu.Unlock()
	dev.mu.Lock()
	defer dev.mu.Unlock()
	first := len(dev.subscribers()) == 0
	dev.add(sub)
	var err error
	switch {
	case dev.withdrawn.Load():
		err = errWithdrawn
	case first:
		err = dev.driver.Open(dev.addr)
	}
	if err != nil {
		dev.remove(sub)
	}

	c.mu.Lock()
	defer c.mu.Unlock()
	held := c.held
	c.opening, c.held = nil, nil
	if err == nil {
		c.subs[key] = sub
		c.push(ack, 1)
	} else {
		sub.opens = 0
	}
	for _, m := range held {
		if err == nil {
			c.push(m, 1)
		}
		m.release()
	}
	c.measure()
	c.signal()
	return err
}

// close takes one open of dev back; with the last one what is queued of the
// device is dropped, since stock clients stumble over it. It reports false if
// the client has dev not open.
func (c *conn) close(dev *device) bool {
	key := deviceKey(dev.addr.Interf, dev.addr.Index)
	sub := c.subs[key]
	if sub == nil {
		return false
	}
	c.mu.Lock()
	sub.opens--
	left := sub.opens
	c.mu.Unlock()
	if left == 0 {
		delete(c.subs, key)
		c.end(sub)
	}
	return true
}

// end withdraws a subscription.
func (c *conn) end(sub *subscription) {
	dev := sub.dev
	dev.mu.Lock()
	defer dev.mu.Unlock()
	c.mu.Lock()
	sub.opens = 0
	dropped := c.q.drop(deviceKey(dev.addr.Interf, dev.addr.Index))
	c.measure()
	c.signal()
	c.mu.Unlock()
	c.server.counters.closed.Add(uint64(dropped))
	last := dev.remove(sub)
	if leaver, ok := dev.driver.(Leaver); ok {
		leaver.Left(dev.addr, Client{c})
	}
	if last {
		dev.driver.Close(dev.addr)
	}
}

// leave closes all that the client has open.
func (c *conn) leave() {
	for key, sub := range c.subs {
		delete(c.subs, key)
		c.end(sub)
	}
}
