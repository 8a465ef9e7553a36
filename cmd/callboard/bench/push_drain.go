package bench

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"sync/atomic"

	"callboard/player"
	"callboard/player/iface"
)

// drain opens a laser, pulls its readings and skips them.
type drain struct {
	conn    net.Conn
	opened  chan struct{}
	skipped atomic.Uint64
}

func newDrain(conn net.Conn) *drain { return &drain{conn: conn, opened: make(chan struct{})} }

// run reads until ctx or the connection ends.
func (d *drain) run(ctx context.Context) error {
	defer d.conn.Close()
	stop := context.AfterFunc(ctx, func() { d.conn.Close() })
	defer stop()
	err := d.read()
	if ctx.Err() != nil {
		return nil
	}
	return fmt.Errorf("reading a robot's scans: %w", err)
}

func (d *drain) read() error {
	in := bufio.NewReaderSize(d.conn, 4096)
	if _, err := in.Discard(player.BannerSize); err != nil {
		return err
	}
	pull, err := request(player.PlayerData, nil)
	if err != nil {
		return err
	}
	for _, r := range []struct {
		subtype uint8
		payload any
	}{
		{player.PlayerDatamode, &iface.DeviceDatamodeReq{Mode: player.Pull}},
		{player.PlayerDev, &iface.DeviceReq{Addr: player.Addr{Interf: player.InterfaceLaser}, Access: player.AccessOpen}},
		{player.PlayerData, nil},
	} {
		b, err := request(r.subtype, r.payload)
		if err != nil {
			return err
		}
		if _, err := d.conn.Write(b); err != nil {
			return err
		}
	}
	for {
		head, err := in.Peek(player.HeaderSize)
		if err != nil {
			return err
		}
		h, err := player.ParseHeader(head)
		if err != nil {
			return err
		}
		if _, err := in.Discard(player.HeaderSize + int(h.Size)); err != nil {
			return err
		}
		switch {
		case h.Type == player.Data:
			d.skipped.Add(1)
		case h.Type == player.Synch:
			if _, err := d.conn.Write(pull); err != nil {
				return err
			}
		case h.Type == player.Nack:
			return fmt.Errorf("%s: %w", h, io.ErrUnexpectedEOF)
		case h.Type == player.Ack && h.Subtype == player.PlayerDev:
			close(d.opened)
		}
	}
}

func request(subtype uint8, payload any) ([]byte, error) {
	body, err := iface.Append(nil, payload)
	if err != nil {
		return nil, err
	}
	h := player.Header{Addr: player.Addr{Interf: player.InterfacePlayer}, Type: player.Request, Subtype: subtype, Size: uint32(len(body))}
	return append(h.Append(nil), body...), nil
}
