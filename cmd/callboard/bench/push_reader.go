package bench

import (
	"bufio"
	"fmt"
	"net"
	"sync/atomic"

	"callboard/player"
	"callboard/player/iface"
)

// reader is a client that pulls scans and skips them.
type reader struct {
	conn     net.Conn
	opened   chan struct{} // closed once the laser is open
	messages atomic.Uint64
}

// run opens the laser and reads until the connection is closed.
func (r *reader) run() error {
	in := bufio.NewReaderSize(r.conn, 4096)
	if _, err := in.Discard(player.BannerSize); err != nil {
		return err
	}
	if err := r.ask(player.PlayerDatamode, &iface.DeviceDatamodeReq{Mode: player.Pull}); err != nil {
		return err
	}
	if err := r.ask(player.PlayerDev, &iface.DeviceReq{Addr: player.Addr{Interf: player.InterfaceLaser}, Access: player.AccessOpen}); err != nil {
		return err
	}
	if err := r.ask(player.PlayerData, nil); err != nil {
		return err
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
		switch h.Type {
		case player.Data:
			r.messages.Add(1)
		case player.Synch:
			if err := r.ask(player.PlayerData, nil); err != nil {
				return err
			}
		case player.Nack:
			return fmt.Errorf("got %s", h)
		case player.Ack:
			if h.Subtype == player.PlayerDev {
				close(r.opened)
			}
		}
	}
}

// ask sends a request to the server itself.
func (r *reader) ask(subtype uint8, payload any) error {
	h := player.Header{Addr: player.Addr{Interf: player.InterfacePlayer}, Type: player.Request, Subtype: subtype}
	b, err := iface.AppendMessage(nil, h, payload)
	if err == nil {
		_, err = r.conn.Write(b)
	}
	return err
}
