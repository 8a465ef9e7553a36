package bridge_test

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"sync"
	"testing"
	"time"

	"callboard/bridge"
	"callboard/bridge/config"
	"callboard/player"
	"callboard/player/iface"
	"callboard/player/playerlog"
	"callboard/player/replay"
	runs "callboard/player/run"
	"callboard/player/server"
	"callboard/subscribe/protocol"

	"github.com/gorilla/websocket"
)

// serveReplay serves recorded runs as fast as possible until the test ends, and
// returns the replay and its Player servers' addresses, in the order of its ports.
func serveReplay(t *testing.T, cfg replay.Config) (*replay.Replay, []string) {
	t.Helper()
	r, err := replay.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	var addresses []string
	for _, port := range r.Ports() {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		s, err := server.New(server.Config{Listener: listener, Drivers: []server.Driver{port}, Clock: port.Clock})
		if err != nil {
			t.Fatal(err)
		}
		addresses = append(addresses, listener.Addr().String())
		running.Go(func() {
			if err := s.Run(ctx); err != nil {
				t.Errorf("Player server: %v", err)
			}
		})
	}
	running.Go(func() {
		if err := r.Run(ctx); err != nil {
			t.Errorf("replay: %v", err)
		}
	})
	t.Cleanup(func() { cancel(); running.Wait() })
	return r, addresses
}

// recorded opens a recorded run from memory.
func recorded(t *testing.T, name string, content []byte) replay.Source {
	t.Helper()
	f, err := fileOf(name, content)
	if err != nil {
		t.Fatal(err)
	}
	s, err := f.Survey(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	return replay.Source{File: f, Survey: s}
}

func fileOf(name string, content []byte) (*runs.File, error) {
	return runs.New(runs.Config{R: bytes.NewReader(content), Size: int64(len(content)), Name: name})
}

// TestReplayWaitsForSubscribers: a replay as fast as possible goes as fast as
// the slowest subscriber that keeps all takes it. It loses nothing to one that
// does not read at all for a while, although the run has several times what an
// inbox holds.
func TestReplayWaitsForSubscribers(t *testing.T) {
	const n = 20_000
	var text bytes.Buffer
	w, err := playerlog.NewWriter(playerlog.WriterConfig{W: &text})
	if err != nil {
		t.Fatal(err)
	}
	for i := range n {
		h := player.Header{Addr: player.Addr{Robot: 6665, Interf: player.InterfacePosition2D}, Type: player.Data, Subtype: 1, Timestamp: float64(i) / 10}
		if err := w.Write(h, &iface.Position2DData{Pos: iface.Pose2D{Px: float64(i)}}); err != nil {
			t.Fatal(err)
		}
	}
	_, addresses := serveReplay(t, replay.Config{Sources: []replay.Source{recorded(t, "a.log", text.Bytes())}})
	gate := make(chan struct{})
	b := startWith(t, bridge.Config{Dial: func(ctx context.Context, address string) (net.Conn, error) {
		select {
		case <-gate:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		return new(net.Dialer).DialContext(ctx, "tcp", address)
	}}, config.Player{Address: addresses[0], Robot: "r0"})

	slow := raw(t, b)
	say(t, slow, `{"op":"hello","client":"slow"}`)
	say(t, slow, `{"op":"subscribe","id":"a","condition":"position.x >= 0","select":{"x":"position.x"}}`)
	c := attach(t, b)
	subscribe(t, c, protocol.Subscription{ID: "a", Condition: "position.x >= 0"})
	close(gate)
	flows(t, c, "r0", 3000)
	stuck, looks := uint64(0), 0
	until(t, "the replay is held back", func() bool {
		looks++
		if now := robotsNow(t, b)["r0"].Readings; now != stuck {
			stuck, looks = now, 0
		}
		return looks == 50
	})
	if stuck == n {
		t.Fatalf("all %d messages were read while a subscriber took none", n)
	}
	done := make(chan struct{})
	go func() { defer close(done); flows(t, c, "r0", n-3000) }()
	for i := 1; i <= n; i++ {
		source := expectSeq(t, slow, i)
		if i%500 == 0 {
			ack := fmt.Sprintf(`{"op":"ack","source":%q,"num":%d}`, source, i)
			if err := slow.WriteMessage(websocket.TextMessage, []byte(ack)); err != nil {
				t.Fatal(err)
			}
		}
	}
	<-done
}

// expectSeq reads up to the next notification, which is to be the i-th, and
// returns its source.
func expectSeq(t *testing.T, ws *websocket.Conn, i int) string {
	t.Helper()
	for {
		var m struct {
			Op, Source    string
			Seq           int
			Subscriptions []struct{ Values map[string]float64 }
		}
		if err := ws.SetReadDeadline(time.Now().Add(patience)); err != nil {
			t.Fatal(err)
		}
		if err := ws.ReadJSON(&m); err != nil {
			t.Fatalf("before notification %d: %v", i, err)
		}
		switch m.Op {
		case protocol.OpGap:
			t.Fatalf("a gap before notification %d: %+v", i, m)
		case protocol.OpNotify:
			if m.Seq != i || m.Subscriptions[0].Values["x"] != float64(i-1) {
				t.Fatalf("got %+v, expected notification %d, of x %d", m, i, i-1)
			}
			return m.Source
		}
	}
}
