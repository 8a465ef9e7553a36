package server

import (
	"bufio"
	"errors"
	"io"
	"log/slog"
	"math"
	"net"

	"callboard/player"
	"callboard/player/iface"
)

// errBadSize ends a connection whose stream cannot be followed any further.
var errBadSize = errors.New("server: a message of impossible size")

// read handles the client's messages until it ends: io.EOF if the client has
// half-closed between two messages, io.ErrUnexpectedEOF within one.
func (c *conn) read() error {
	r := bufio.NewReaderSize(c.nc, 4096)
	counters := &c.server.counters
	head := make([]byte, player.HeaderSize)
	for {
		if !c.waitRoom() {
			return net.ErrClosed
		}
		if _, err := io.ReadFull(r, head); err != nil {
			return err
		}
		h, err := player.ParseHeader(head)
		if err != nil || h.Size > c.server.cfg.MaxBody {
			counters.badSize.Add(1)
			c.log.Warn("Player client sent a message of impossible size, disconnected",
				slog.String("message", h.String()), slog.Uint64("size", uint64(h.Size)), slog.Uint64("limit", uint64(c.server.cfg.MaxBody)))
			return errBadSize
		}
		h.Host, h.Robot = c.server.host, c.server.port
		counters.messagesIn.Add(1)
		counters.bytesIn.Add(uint64(player.HeaderSize) + uint64(h.Size))
		if h.Interf == player.InterfacePlayer {
			err = c.toServer(h, r)
		} else {
			err = c.toDevice(h, r)
		}
		if err != nil {
			return err
		}
		c.heard()
	}
}

// heard tells the listener's limit of a client that has just sent something: it
// gives way to new ones only if it has no device open, and after those that
// have been silent for longer.
func (c *conn) heard() {
	busy := len(c.subs) > 0
	switch {
	case !busy:
		c.nc.Silent()
	case !c.busy:
		c.nc.Busy()
	}
	c.busy = busy
}

// refuse skips the rest of a message that is not served and answers it if it
// is a request.
func (c *conn) refuse(h player.Header, r *bufio.Reader) error {
	if err := skip(r, h.Size); err != nil {
		return err
	}
	if h.Type == player.Request {
		h.Seq = 0
		c.reply(h, player.Nack, nil)
	}
	return nil
}

// toDevice hands a command or request to its driver.
func (c *conn) toDevice(h player.Header, r *bufio.Reader) error {
	counters := &c.server.counters
	dev := c.server.device(h.Addr)
	if dev == nil {
		counters.unknownDevice.Add(1)
		return c.refuse(h, r)
	}
	known, ok := iface.Lookup(h.Interf, h.Type, h.Subtype)
	if h.Type != player.Request && h.Type != player.Command || !ok && h.Size > 0 && !dev.relay {
		counters.unknownMessage.Add(1)
		return c.refuse(h, r)
	}
	if h.Size == 0 && ok && h.Type == player.Command && !known.Empty() {
		counters.undecodable.Add(1)
		return c.refuse(h, r)
	}
	var body []byte
	var payload any
	if h.Size > 0 {
		var err error
		if body, err = c.readBody(r, h.Size); err != nil {
			return err
		}
		if payload, err = c.decodeBody(dev, known, body); err != nil {
			counters.undecodable.Add(1)
			h.Size = 0 // read already
			return c.refuse(h, r)
		}
	}
	switch {
	case !dev.relay:
		c.call(dev, &Call{Header: h, Payload: payload, conn: c})
	case h.Type == player.Request:
		c.call(dev, &Call{Header: h, Body: body, conn: c})
	default:
		c.command.Header, c.command.Body, c.command.conn = h, body, c
		dev.driver.Handle(&c.command)
	}
	return nil
}

// decodeBody decodes a body for the driver of dev. For a Relay it is only
// checked, into a struct that is used again.
func (c *conn) decodeBody(dev *device, known *iface.Message, body []byte) (payload any, err error) {
	const keep = 4 << 10 // bytes that a body may have for its struct to be kept
	switch {
	case known == nil:
		return nil, nil
	case !dev.relay:
		payload = known.New()
		return payload, known.Decode(body, payload)
	}
	into, ok := c.checked[known]
	if !ok {
		into = known.New()
		if len(body) <= keep {
			if c.checked == nil {
				c.checked = map[*iface.Message]any{}
			}
			c.checked[known] = into
		}
	}
	if len(body) > keep {
		delete(c.checked, known)
	}
	return nil, known.Decode(body, into)
}

// call hands a call to the driver of dev.
func (c *conn) call(dev *device, call *Call) {
	if call.Header.Type == player.Request {
		c.mu.Lock()
		c.pending[call] = struct{}{}
		c.mu.Unlock()
	}
	if able, ok := dev.driver.(Capable); ok && call.Header.Type == player.Request && call.Header.Subtype == iface.ReqCapabilities {
		if q, _ := call.Payload.(*iface.CapabilitiesReq); q != nil && q.Type <= math.MaxUint8 && q.Subtype <= math.MaxUint8 &&
			able.Handles(dev.addr, player.Type(q.Type), uint8(q.Subtype)) {
			call.Ack(nil)
		} else {
			call.Nack(nil)
		}
		return
	}
	dev.driver.Handle(call)
	if call.Header.Type == player.Request {
		call.expire(c.server.cfg.AnswerTimeout)
	}
}

// readBody reads size bytes, taking memory as they come. The slice is valid
// until the next call.
func (c *conn) readBody(r *bufio.Reader, size uint32) ([]byte, error) {
	const step = 64 << 10
	body := c.body[:0]
	for len(body) < int(size) {
		from := len(body)
		n := min(int(size)-from, max(step, from)) // at most doubles
		if cap(body) < from+n {
			body = append(make([]byte, 0, from+n), body...)
		}
		body = body[:from+n]
		if _, err := io.ReadFull(r, body[from:]); err != nil {
			return nil, notEOF(err)
		}
	}
	if cap(body) <= step {
		c.body = body
	}
	return body, nil
}

func skip(r *bufio.Reader, n uint32) error {
	_, err := r.Discard(int(n))
	return notEOF(err)
}

// notEOF returns the end in the middle of a message from that between two.
func notEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}
