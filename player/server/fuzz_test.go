package server_test

import (
	"bytes"
	"io"
	"testing"
	"time"

	"callboard/player"
	"callboard/player/iface"
	"callboard/player/server"
)

// FuzzClientStream throws bytes at the server. It must survive and end, each
// request that fits must have one answer, and another client must be served.
func FuzzClientStream(f *testing.F) {
	for _, capture := range loadCaptures(f, "*", 50) {
		f.Add(capture.C2S)
	}
	request := func(a player.Addr, typ player.Type, subtype uint8, payload any) []byte {
		return encode(f, player.Header{Addr: a, Type: typ, Subtype: subtype}, payload)
	}
	f.Add(bytes.Join([][]byte{
		request(self, player.Request, player.PlayerDev, &iface.DeviceReq{Addr: position, Access: 1}),
		request(self, player.Request, player.PlayerAddReplaceRule, &iface.AddReplaceRuleReq{Interf: -1, Index: -1, Type: 1, Subtype: -1, Replace: 1}),
		request(self, player.Request, player.PlayerDatamode, &iface.DeviceDatamodeReq{Mode: 2}),
		request(self, player.Request, player.PlayerData, nil),
		request(position, player.Request, uint8(iface.ReqGetStrprop), &iface.StrpropReq{Key: "k\x00", Value: "v\x00"}),
		request(sim, player.Request, 1, &iface.SimulationPose2DReq{Name: "r0\x00"}),
		request(ranger, player.Request, uint8(iface.ReqRangerSetConfig), &iface.RangerConfig{}),
	}, nil))
	r := start(f, func(cfg *server.Config) { cfg.MaxBody = 1 << 20 })
	r.driver.answer = func(c *server.Call) {
		if c.Header.Subtype%2 == 0 {
			c.Ack(c.Payload)
			return
		}
		c.Nack(nil)
	}
	f.Fuzz(func(t *testing.T, stream []byte) {
		mine := &rig{t: t, driver: r.driver, pipe: r.pipe, server: r.server}
		c := mine.raw()
		c.nc.SetDeadline(time.Now().Add(20 * time.Second))
		go func() {
			c.nc.Write(stream)
			c.nc.(interface{ CloseWrite() error }).CloseWrite()
		}()
		got, err := io.ReadAll(c.nc)
		if err != nil || len(got) < player.BannerSize {
			t.Fatalf("read %d bytes, %v", len(got), err)
		}
		answers := 0
		for b := got[player.BannerSize:]; len(b) > 0; {
			h, err := player.ParseHeader(b)
			if err != nil || len(b) < player.HeaderSize+int(h.Size) {
				t.Fatalf("the server's stream is cut at %x: %v", b, err)
			}
			if h.Type == player.Ack || h.Type == player.Nack {
				answers++
			}
			b = b[player.HeaderSize+int(h.Size):]
		}
		if want := countRequests(stream); answers > want.most || answers < want.least {
			t.Errorf("%d answers, expected %d to %d", answers, want.least, want.most)
		}
		other := mine.client()
		other.ask(player.PlayerDevlist, nil)
		other.nc.Close()
	})
}

// countRequests counts the messages in a stream that are to be answered. A
// rule may swallow answers: least then is 0.
func countRequests(stream []byte) (n struct{ least, most int }) {
	ruled := false
	for b := stream; len(b) >= player.HeaderSize; {
		h, err := player.ParseHeader(b)
		if err != nil || h.Size > 1<<20 || len(b) < player.HeaderSize+int(h.Size) {
			break
		}
		if h.Type == player.Request || h.Interf == player.InterfacePlayer && h.Type != player.Nack {
			n.most++
		}
		ruled = ruled || h.Interf == player.InterfacePlayer && h.Subtype == player.PlayerAddReplaceRule
		b = b[player.HeaderSize+int(h.Size):]
	}
	if !ruled {
		n.least = n.most
	}
	return n
}
