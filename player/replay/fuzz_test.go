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
	add(iface.ReqLogSetReadState, &iface.LogSetReadState{State: 0})
	add(iface.ReqLogSetWriteState, nil)
	add(iface.ReqLogGetState, &iface.LogGetState{Type: 9, State: 9})
	f.Add(iface.ReqLogSetReadState, []byte{1}) // too short, as 4 bytes stand for the state
	f.Add(iface.ReqLogSetReadState, []byte{0, 0, 0, 1, 0, 0, 0, 1})
	f.Add(iface.ReqLogSetReadRewind, []byte{0, 0, 0, 1})
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
		obeyed := false
		for i, want := range []uint8{subtype, iface.ReqLogGetState} {
			head := make([]byte, player.HeaderSize)
			if _, err := io.ReadFull(nc, head); err != nil {
				t.Fatalf("answer %d: %v", i+1, err)
			}
			h, err := player.ParseHeader(head)
			if err != nil || h.Subtype != want || h.Type != player.Ack && h.Type != player.Nack {
				t.Fatalf("answer %d is %s, %v, expected one to %d", i+1, h, err, want)
			}
			answer := make([]byte, h.Size)
			if _, err := io.ReadFull(nc, answer); err != nil {
				t.Fatal(err)
			}
			if i == 0 {
				obeyed = h.Type == player.Ack
				continue
			}
			checkState(t, answer, subtype, body, obeyed)
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

// checkState checks the state that log:0 reports after a request: that of a
// reader, and what was asked for if it was asked as it should be.
func checkState(t *testing.T, answer []byte, subtype uint8, body []byte, obeyed bool) {
	t.Helper()
	var state iface.LogGetState
	get, _ := iface.Lookup(player.InterfaceLog, player.Request, iface.ReqLogGetState)
	if err := get.Decode(answer, &state); err != nil || state.Type != iface.LogTypeRead || state.State > 1 {
		t.Fatalf("the state is %x, %v", answer, err)
	}
	switch subtype {
	case iface.ReqLogSetWriteState, iface.ReqLogSetFilename:
		if obeyed {
			t.Fatalf("request %d, which is for a writer, was obeyed", subtype)
		}
	case iface.ReqLogSetReadState:
		var asked iface.LogSetReadState
		set, _ := iface.Lookup(player.InterfaceLog, player.Request, subtype)
		fits := set.Decode(body, &asked) == nil
		if fits != obeyed || fits && (asked.State != 0) != (state.State != 0) {
			t.Fatalf("%x was obeyed: %v; then the state is %d", body, obeyed, state.State)
		}
	}
}
