package bridge_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"callboard/bridge/benchtest"
	callboard "callboard/clients/go"
	"callboard/player"
	"callboard/player/iface"
	"callboard/player/playertest"
	"callboard/subscribe/protocol"
)

// velocities counts the velocities that a robot was given, in mm/s.
func velocities(t *testing.T, robot *playertest.Server) map[int]int {
	t.Helper()
	count := map[int]int{}
	for _, m := range robot.Received() {
		if player.Type(m.Type) != player.Command || player.Interface(m.Interf) != player.InterfacePosition2D {
			continue
		}
		var c iface.Position2DCmdVel
		if err := iface.Decode(m.Body, &c); err == nil {
			count[int(math.Round(c.Vel.Px*1000))]++
		}
	}
	return count
}

// replyOnce has a robot commanded by the key once, and returns the answer, which it does
// not acknowledge.
func replyOnce(t *testing.T, url string, velocity int) (reply protocol.Reply) {
	t.Helper()
	dialer := websocket.Dialer{Subprotocols: []string{protocol.Subprotocol}}
	ws, _, err := dialer.Dial("ws"+strings.TrimPrefix(url, "http")+"/ws", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer ws.Close()
	ws.SetReadDeadline(time.Now().Add(patience))
	if err := ws.WriteJSON(&protocol.Hello{Op: protocol.OpHello, Client: "once"}); err != nil {
		t.Fatal(err)
	}
	for reply.Op != protocol.OpReply || reply.Error != nil && reply.Error.Code == protocol.NotFound { // the robot is not up yet
		if reply.Op == "" || reply.Op == protocol.OpReply {
			command := &protocol.Command{Op: protocol.OpCommand, ID: "c", Robot: "r0", Name: "velocity", Args: []any{float64(velocity) / 1000}, Key: "once", TTL: 60}
			if err := ws.WriteJSON(command); err != nil {
				t.Fatal(err)
			}
		}
		reply = protocol.Reply{}
		for reply.Op == "" {
			var m protocol.Reply
			if err := ws.ReadJSON(&m); err != nil {
				t.Fatal(err)
			}
			if m.Op == protocol.OpReply {
				reply = m
			}
		}
	}
	return reply
}

// TestCommandKey has a robot commanded by keys while its broker is killed again and
// again: the robot is given each once if the answer is that it was done, and at most
// once if nobody can know. The same key again, of an answer that was not acknowledged, has
// the same answer, and the robot is given nothing.
func TestCommandKey(t *testing.T) {
	robot := playertest.Fake(t, playertest.Good)
	dir := t.TempDir()
	file := filepath.Join(dir, "callboard.toml")
	text := fmt.Sprintf("[broker]\nid = \"b1\"\nlisten = %q\ndata = \"data\"\n[[player]]\naddress = %q\nrobot = \"r0\"\n", freeAddress(t), robot.Addr())
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	broker := startProcess(t, file)
	ctx, cancel := context.WithTimeout(context.Background(), 3*patience)
	defer cancel()
	c, err := callboard.Dial(ctx, callboard.Config{Brokers: []string{broker.URL}, Client: "pilot", BackoffMax: 200 * time.Millisecond, Handle: func(callboard.Event) {}})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	command := func(n int) protocol.Code {
		_, err := c.Command(ctx, callboard.Command{Robot: "r0", Name: "velocity", Args: []any{float64(n) / 1000}, Key: fmt.Sprint("k", n), TTL: 60})
		var refused *callboard.Error
		switch {
		case err == nil:
			return ""
		case errors.As(err, &refused):
			return refused.Code
		}
		t.Fatal(err)
		return ""
	}
	outcomes := map[int]protocol.Code{}
	next := 1
	until := func(what string, enough func() bool) {
		for !enough() {
			if ctx.Err() != nil {
				t.Fatalf("waited in vain: %s", what)
			}
			outcomes[next] = command(next)
			next++
		}
	}
	// A robot that is not up yet, or again, is not found.
	done := func(least int) func() bool {
		from := next
		return func() bool {
			n := 0
			for i := from; i < next; i++ {
				if outcomes[i] == "" {
					n++
				}
			}
			return n >= least
		}
	}
	until("the robot is up", done(5))
	for range 3 {
		began := make(chan error, 1)
		go func() {
			broker.Kill()
			var err error
			broker, err = benchtest.StartProcess(file, t.Output())
			began <- err
		}()
		until("commands go on through a kill", done(5))
		if err := <-began; err != nil {
			t.Fatal(err)
		}
		t.Cleanup(broker.Kill)
	}
	const unacknowledged = 5000
	for range 2 {
		if reply := replyOnce(t, broker.URL, unacknowledged); reply.Key != "once" || !reply.OK {
			t.Errorf("it is answered by %+v", reply)
		}
		broker.Kill()
		broker = startProcess(t, file)
	}
	outcomes[unacknowledged] = ""
	got := velocities(t, robot)
	for n, code := range outcomes {
		switch {
		case got[n] > 1, code == "" && got[n] != 1, code != "" && code != protocol.Unknown && got[n] > 0:
			t.Errorf("the robot was given k%d %d times, and the answer is %q", n, got[n], code)
		}
	}
	t.Logf("%d commands", len(outcomes))
}
