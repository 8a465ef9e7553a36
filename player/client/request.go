package client

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"time"

	"callboard/player"
	"callboard/player/deadline"
	"callboard/player/iface"
)

// Request sends a request to a device, open or not, and waits for the answer,
// for at most Config.RequestTimeout. req is a pointer to the request's struct
// or nil; the answer is decoded into resp, a pointer to its struct (or an
// *iface.Raw), unless that is nil. A refusal is a
// *NackError. Other errors are ErrAway, ErrTimeout, ErrBusy, ErrUnanswered,
// ErrForbidden and those of ctx, wrapped.
//
// Handler's methods must not call it, nor Send: they run where the answer
// would arrive.
func (c *Client) Request(ctx context.Context, addr player.Addr, subtype uint8, req, resp any) error {
	if err := c.request(ctx, addr, subtype, req, resp); err != nil {
		return fmt.Errorf("request %d to %s of %s: %w", subtype, addr, c.cfg.Address, err)
	}
	return nil
}

func (c *Client) request(ctx context.Context, addr player.Addr, subtype uint8, req, resp any) error {
	if err := permit(addr, subtype, req); err != nil {
		return err
	}
	if err := fits(addr, subtype, resp); err != nil {
		return err
	}
	s, err := c.current()
	if err != nil {
		return err
	}
	x := &exchange{id: id(addr), subtype: subtype, done: make(chan answer, 1)}
	if err := s.ask(x, addr, req); err != nil {
		return err
	}
	a, err := await(ctx, x.done, c.cfg.RequestTimeout)
	if err != nil {
		s.pending.abandon(x)
		if errors.Is(err, ErrTimeout) {
			c.counters.timeouts.Add(1)
		}
		return err
	}
	switch {
	case a.err != nil:
		return a.err
	case a.header.Type == player.Nack:
		return &NackError{Header: a.header, Body: a.body}
	case resp == nil:
		return nil
	}
	return iface.Decode(a.body, resp)
}

// await waits for what comes from a session's goroutine, for at most d. Other
// errors than ErrTimeout are those of ctx.
func await[T any](ctx context.Context, from <-chan T, d time.Duration) (got T, err error) {
	over := make(chan struct{})
	limit := deadline.AfterFunc(d, func() { close(over) })
	defer limit.Stop()
	select {
	case got = <-from:
		return got, nil
	case <-ctx.Done():
		return got, ctx.Err()
	case <-over:
		return got, ErrTimeout
	}
}

// Send sends a command to a device and returns when it is with the kernel:
// commands are never answered. cmd is a pointer to the command's struct or
// nil. Errors are ErrAway, ErrBusy and those of ctx and the connection, wrapped.
func (c *Client) Send(ctx context.Context, addr player.Addr, subtype uint8, cmd any) error {
	if err := c.send(ctx, addr, subtype, cmd); err != nil {
		return fmt.Errorf("command %d to %s of %s: %w", subtype, addr, c.cfg.Address, err)
	}
	return nil
}

func (c *Client) send(ctx context.Context, addr player.Addr, subtype uint8, cmd any) error {
	if addr.Interf == player.InterfacePlayer {
		return fmt.Errorf("%w: the player interface takes no commands", ErrForbidden)
	}
	s, err := c.current()
	if err != nil {
		return err
	}
	msg, err := message(player.Command, addr, subtype, cmd)
	if err != nil {
		return err
	}
	written := make(chan error, 1)
	if err := s.out.send(msg, false, written); err != nil {
		return err
	}
	c.counters.commands.Add(1)
	select {
	case err := <-written:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// permit refuses what crashes the real server and what is the session's own.
func permit(addr player.Addr, subtype uint8, req any) error {
	if addr.Interf == player.InterfacePlayer {
		switch subtype {
		case player.PlayerDev, player.PlayerData, player.PlayerDatamode:
			return fmt.Errorf("%w: the session itself opens devices and asks for data", ErrForbidden)
		case player.PlayerDriverinfo, player.PlayerAddReplaceRule:
			if req == nil {
				return fmt.Errorf("%w: without a body it crashes the real server", ErrForbidden)
			}
		}
		return nil
	}
	if subtype == iface.ReqCapabilities {
		return fmt.Errorf("%w: CAPABILITIES crashes the real server", ErrForbidden)
	}
	if p, ok := req.(*iface.SimulationPropertyReq); ok && iface.GoString(p.Prop) == "time" {
		return fmt.Errorf("%w: property \"time\" spoils memory of real Stage", ErrForbidden)
	}
	return nil
}

// fits refuses to decode an answer into what is not its struct.
func fits(addr player.Addr, subtype uint8, resp any) error {
	m, ok := iface.Lookup(addr.Interf, player.Ack, subtype)
	if _, raw := resp.(*iface.Raw); !ok || resp == nil || raw {
		return nil
	}
	if t := reflect.TypeOf(resp); t.Kind() != reflect.Pointer || m.Struct() != t.Elem() {
		return fmt.Errorf("client: a %T is not the answer to %s", resp, m)
	}
	return nil
}

// message encodes a message as stock clients send it.
func message(t player.Type, addr player.Addr, subtype uint8, body any) ([]byte, error) {
	now := float64(time.Now().UnixMicro()) / 1e6
	return iface.AppendMessage(nil, player.Header{Addr: addr, Type: t, Subtype: subtype, Timestamp: now}, body)
}

// id is what identifies a device within a connection.
func id(a player.Addr) uint32 { return uint32(a.Interf)<<16 | uint32(a.Index) }
