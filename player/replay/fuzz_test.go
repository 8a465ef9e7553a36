package replay_test

import (
	"context"
	"io"
	"testing"
	"time"

	"callboard/player"
	"callboard/player/iface"
	"callboard/player/replay"
)

// Whatever a client asks of log:0 is answered once, and the replay answers on.
func FuzzLogDevice(f *testing.F) {
	add := func(subtype uint8, payload any) {
		body, err := iface.Append(nil, payload)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(subtype, body)
	}
	add(iface.ReqLogGetState, nil)
	add(iface.ReqLogSetReadState, &iface.LogSetReadState{State: 1})
	add(iface.ReqLogSetReadState, nil)
	add(iface.ReqLogSetReadRewind, nil)
	add(iface.ReqLogSetWriteState, &iface.LogSetWriteState{State: 1})
	add(iface.ReqLogSetFilename, &iface.LogSetFilename{Filename: iface.CString("x")})
	add(iface.ReqGetDblprop, &iface.DblpropReq{Key: iface.CString(replay.SpeedProperty)})
	add(iface.ReqSetDblprop, &iface.DblpropReq{Key: iface.CString(replay.SpeedProperty), Value: 3})
	add(iface.ReqGetStrprop, &iface.StrpropReq{Key: iface.CString(replay.FilenameProperty)})
	add(iface.ReqCapabilities, &iface.CapabilitiesReq{Type: 3, Subtype: 4})
	g := start(f, replay.Config{Sources: []replay.Source{source(f, "a.log", logText(f, every(6665, 0, 1, 50)...))}})
	f.Fuzz(func(t *testing.T, subtype uint8, body []byte) {
		nc, err := g.pipes[0].Dial(context.Background(), "")
		if err != nil {
			t.Fatal(err)
		}
		defer nc.Close()
		nc.SetDeadline(time.Now().Add(20 * time.Second))
		ask := func(subtype uint8, body []byte) {
			h := player.Header{Addr: logDev, Type: player.Request, Subtype: subtype, Size: uint32(len(body))}
			if _, err := nc.Write(append(h.Append(nil), body...)); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := io.ReadFull(nc, make([]byte, player.BannerSize)); err != nil {
			t.Fatal(err)
		}
		ask(subtype, body)
		ask(iface.ReqLogGetState, nil)
		for i, want := range []uint8{subtype, iface.ReqLogGetState} {
			head := make([]byte, player.HeaderSize)
			if _, err := io.ReadFull(nc, head); err != nil {
				t.Fatalf("answer %d: %v", i+1, err)
			}
			h, err := player.ParseHeader(head)
			if err != nil || h.Subtype != want || h.Type != player.Ack && h.Type != player.Nack {
				t.Fatalf("answer %d is %s, %v, expected one to %d", i+1, h, err, want)
			}
			if _, err := io.ReadFull(nc, make([]byte, h.Size)); err != nil {
				t.Fatal(err)
			}
		}
		// The server ends it, too, before the next: it serves only so many at once.
		if err := nc.(interface{ CloseWrite() error }).CloseWrite(); err != nil {
			t.Fatal(err)
		}
		if n, err := io.Copy(io.Discard, nc); n != 0 || err != nil {
			t.Fatalf("%d bytes behind the answers, %v", n, err)
		}
	})
}
