package bridge_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"callboard/bridge"
	"callboard/bridge/config"
	callboard "callboard/clients/go"
	"callboard/player"
	"callboard/player/iface"
	"callboard/player/playertest"
	"callboard/player/server"
	"callboard/subscribe/protocol"

	"github.com/gorilla/websocket"
)

const patience = 20 * time.Second

// subscribe asks for a subscription and waits until it is in force.
func subscribe(t *testing.T, c *callboard.Client, s protocol.Subscription) protocol.Subscribed {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	got, err := c.Subscribe(ctx, s)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// flows waits for n notifications of a robot; gaps and faults fail the test.
func flows(t *testing.T, c *callboard.Client, robot string, n int) {
	t.Helper()
	deadline := time.After(patience)
	for n > 0 {
		select {
		case e, ok := <-c.Events():
			switch e := e.(type) {
			case *callboard.Notification:
				if e.Robot == robot {
					n--
				}
			case *callboard.Gap, *callboard.Fault, *callboard.Failure, *callboard.Detached:
				t.Fatalf("unexpected %T %+v", e, e)
			}
			if !ok {
				t.Fatalf("the client ended: %v", c.Err())
			}
		case <-deadline:
			t.Fatalf("no notification of %s any more, %d missing", robot, n)
		}
	}
}

// robotNow is a robot as /api/robots shows it.
type robotNow struct {
	Robot, State, Error string
	Readings, Lost      uint64
	Skipped             map[string]uint64
}

func robotsNow(t *testing.T, b *bridge.Bridge) map[string]robotNow {
	t.Helper()
	resp, err := http.Get(b.URL() + "/api/robots")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	var all []robotNow
	if err := json.Unmarshal(body, &all); err != nil {
		t.Fatalf("%v in %s", err, body)
	}
	by := map[string]robotNow{}
	for _, r := range all {
		by[r.Robot] = r
	}
	return by
}

// until polls for what the API shows; each look is a real request.
func until(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !ok(); {
		if time.Now().After(deadline) {
			t.Fatalf("waited in vain: %s", what)
		}
	}
}

// TestBadPlayerServers: whatever a Player server does, the broker says what is
// wrong with it, and another robot's readings flow on.
func TestBadPlayerServers(t *testing.T) {
	for _, tt := range []struct {
		name  string
		fault playertest.Fault
		says  string // in the robot's error; "" if it is up
	}{
		{"absent", playertest.Absent, "refused"},
		{"hangup", playertest.Hangup, ""},
		{"cut in a header", playertest.CutHeader, ""},
		{"cut in a body", playertest.CutBody, ""},
		{"garbage", playertest.Garbage, ""},
		{"size 2^31", playertest.HugeSize, ""},
		{"refuses to open", playertest.RefuseOpen, ""},
		{"short body", playertest.ShortBody, "up"},
		{"a byte at a time", playertest.Dribble, "up"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			good, bad := playertest.Fake(t, playertest.Good), playertest.Fake(t, tt.fault)
			b := startWith(t, bridge.Config{},
				config.Player{Address: good.Addr(), Robot: "good"}, config.Player{Address: bad.Addr(), Robot: "bad"})
			c := attach(t, b)
			subscribe(t, c, protocol.Subscription{ID: "all", Condition: "position.x >= 0", Robots: []string{"good", "bad"}})
			flows(t, c, "good", 20)
			until(t, "the bad robot's state", func() bool {
				r := robotsNow(t, b)["bad"]
				if tt.says == "up" {
					return r.State == protocol.RobotUp && r.Readings > 3
				}
				return r.Error != "" && strings.Contains(r.Error, tt.says)
			})
			flows(t, c, "good", 20)
		})
	}
}

// lasers is a driver that publishes one scan whenever it is told.
type lasers struct{ publisher server.Publisher }

func (l *lasers) Devices() []server.DeviceInfo {
	return []server.DeviceInfo{{Interf: player.InterfaceLaser, Driver: "test"}}
}
func (l *lasers) Attach(p server.Publisher) { l.publisher = p }
func (l *lasers) Open(player.Addr) error    { return nil }
func (l *lasers) Close(player.Addr)         {}
func (l *lasers) Handle(c *server.Call)     { c.Nack(nil) }
func (l *lasers) scan(at float64, ranges ...float32) {
	l.publisher.Publish(player.Addr{Interf: player.InterfaceLaser}, iface.DataLaserScan, at, &iface.LaserData{
		MinAngle: -1, MaxAngle: 1, Resolution: 0.5, MaxRange: 8, Ranges: ranges,
	})
}

// serveDriver serves a driver on loopback until the test ends.
func serveDriver(t *testing.T, d server.Driver) (address string) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s, err := server.New(server.Config{Listener: listener, Drivers: []server.Driver{d}})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- s.Run(ctx) }()
	t.Cleanup(func() { cancel(); <-done })
	return listener.Addr().String()
}

// TestNotFinite: NaN and infinities in a scan count as the maximum, and what
// goes out is JSON.
func TestNotFinite(t *testing.T) {
	l := &lasers{}
	b := startWith(t, bridge.Config{}, config.Player{Address: serveDriver(t, l), Robot: "r0"})
	c := attach(t, b)
	until(t, "r0 is up", func() bool { return robotsNow(t, b)["r0"].State == protocol.RobotUp })
	subscribe(t, c, protocol.Subscription{ID: "a", Condition: "laser.min >= 2 and laser.max == 8"})
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	l.scan(1, 1, 2, 3)
	l.scan(2, nan, 2, inf, -inf, 9)
	l.scan(3, nan, nan, nan)
	got := collect(t, c, 2)
	want := [][]float64{{8, 2, 8, 8, 8}, {8, 8, 8}}
	for i, r := range got {
		if fmt.Sprint(r.Values) != fmt.Sprint(want[i]) {
			t.Errorf("scan %v came as %v, expected %v", r.Time, r.Values, want[i])
		}
	}
}

// raw opens a WebSocket without the client library.
func raw(t *testing.T, b *bridge.Bridge) *websocket.Conn {
	t.Helper()
	dialer := websocket.Dialer{Subprotocols: []string{protocol.Subprotocol}}
	ws, _, err := dialer.Dial(b.WebSocketURL(), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ws.Close() })
	return ws
}

// say sends a text and returns the next message but heartbeats and states.
func say(t *testing.T, ws *websocket.Conn, text string) map[string]any {
	t.Helper()
	if text != "" {
		if err := ws.WriteMessage(websocket.TextMessage, []byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	for {
		if err := ws.SetReadDeadline(time.Now().Add(patience)); err != nil {
			t.Fatal(err)
		}
		_, got, err := ws.ReadMessage()
		if err != nil {
			t.Fatalf("after %.60s: %v", text, err)
		}
		var m map[string]any
		if err := json.Unmarshal(got, &m); err != nil {
			t.Fatalf("not JSON: %s", got)
		}
		if m["op"] != protocol.OpHeartbeat && m["op"] != protocol.OpRobot && m["op"] != protocol.OpNotify {
			return m
		}
	}
}

// TestBadClients: every bad text gets its answer with the right code, and
// another client's notifications flow on.
func TestBadClients(t *testing.T) {
	good := playertest.Fake(t, playertest.Good)
	b := startWith(t, bridge.Config{}, config.Player{Address: good.Addr(), Robot: "r0"})
	c := attach(t, b)
	subscribe(t, c, protocol.Subscription{ID: "all", Condition: "true"})
	flows(t, c, "r0", 5)
	ws := raw(t, b)
	if m := say(t, ws, `{"op":"hello"}`); m["op"] != "welcome" {
		t.Fatalf("hello was answered by %v", m)
	}
	condition := func(text string) string {
		body, err := json.Marshal(map[string]any{"op": "subscribe", "id": "x", "condition": text})
		if err != nil {
			t.Fatal(err)
		}
		return string(body)
	}
	for _, tt := range []struct {
		text string
		code protocol.Code
		at   float64 // column of the position, 0 for none
	}{
		{`not json`, protocol.BadMessage, 0},
		{`{"op":"shout"}`, protocol.BadMessage, 0},
		{`{"op":"subscribe","id":"x","condition":"true","keap":"all"}`, protocol.BadMessage, 0},
		{`{"op":"update","id":"nobody","condition":"true"}`, protocol.NotFound, 0},
		{`{"op":"subscribe","id":"x","condition":"true","trigger":"sometimes"}`, protocol.BadMessage, 0},
		{condition("laser.min < "), protocol.BadCondition, 12},
		{condition("laser.mim < 1"), protocol.BadCondition, 7},
		{condition("laser.min"), protocol.BadCondition, 7},
		{condition("now() > 1"), protocol.BadCondition, 1},
		{condition(strings.Repeat("(", 500_000)), protocol.TooCostly, 0},
		{condition(strings.Repeat("(", 100) + "true" + strings.Repeat(")", 100)), protocol.TooCostly, 33},
		{condition("any(laser.ranges, any(laser.ranges, any(laser.ranges, any(laser.ranges, # < 1))))"), protocol.TooCostly, 0},
	} {
		m := say(t, ws, tt.text)
		position, _ := m["position"].(map[string]any)
		if m["op"] != "error" || m["code"] != string(tt.code) || tt.at > 0 && (position["column"] != tt.at || position["line"] != 1.0) {
			t.Errorf("%.80s: got %v, expected %s at column %v", tt.text, m, tt.code, tt.at)
		}
	}
	if m := say(t, ws, condition("laser.min < 100")); m["op"] != "subscribed" {
		t.Errorf("after all that a right condition was answered by %v", m)
	}
	flows(t, c, "r0", 20)
}

// TestSilentReader: a client that never reads keeps nobody else from their
// notifications, and what cannot be kept for it is bounded.
func TestSilentReader(t *testing.T) {
	l := &lasers{}
	b := startWith(t, bridge.Config{}, config.Player{Address: serveDriver(t, l), Robot: "r0"})
	silent := raw(t, b)
	if m := say(t, silent, `{"op":"hello","client":"silent"}`); m["op"] != "welcome" {
		t.Fatal(m)
	}
	if m := say(t, silent, `{"op":"subscribe","id":"a","condition":"true"}`); m["op"] != "subscribed" {
		t.Fatal(m)
	}
	c := attach(t, b)
	subscribe(t, c, protocol.Subscription{ID: "a", Condition: "true"})
	until(t, "r0 is up", func() bool { return robotsNow(t, b)["r0"].State == protocol.RobotUp })
	ranges := make([]float32, 181)
	const batch, batches = 500, 30 // 15,000 scans: more than the inbox may hold
	for i := range batches {
		for j := range batch {
			ranges[0] = float32(j)
			l.scan(float64(i*batch+j), ranges...)
		}
		flows(t, c, "r0", batch)
	}
	resp, err := http.Get(b.URL() + "/api/brokers")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var brokers []struct {
		Waiting int
		Bytes   int64
	}
	if err := json.NewDecoder(resp.Body).Decode(&brokers); err != nil {
		t.Fatal(err)
	}
	if n := brokers[0].Waiting; n == 0 || n > 10_000+1024+batch { // and what is on its way to the other
		t.Errorf("%d notifications wait, expected those of the silent client, 10,000 at the most, and a window", n)
	}
	if n := brokers[0].Bytes; n > 17<<20 {
		t.Errorf("%d bytes wait, expected 16 MiB at the most", n)
	}
}

// TestTwoConnectionsOneClient: the one with the higher attachment takes over,
// the older is told and closed.
func TestTwoConnectionsOneClient(t *testing.T) {
	b := startWith(t, bridge.Config{})
	first, second := raw(t, b), raw(t, b)
	if m := say(t, first, `{"op":"hello","client":"c","attachment":5}`); m["op"] != "welcome" || m["attachment"] != 5.0 {
		t.Fatal(m)
	}
	if m := say(t, second, `{"op":"hello","client":"c","attachment":5}`); m["code"] != string(protocol.Conflict) || m["attachment"] != 5.0 {
		t.Errorf("an attachment that is not above the current one was answered by %v", m)
	}
	third := raw(t, b)
	if m := say(t, third, `{"op":"hello","client":"c","attachment":6}`); m["op"] != "welcome" || m["attachment"] != 6.0 {
		t.Fatal(m)
	}
	if m := say(t, first, ""); m["op"] != "error" || m["code"] != string(protocol.Conflict) || m["attachment"] != 6.0 {
		t.Errorf("the older connection was told %v", m)
	}
	if _, _, err := first.ReadMessage(); !websocket.IsCloseError(err, 4409) {
		t.Errorf("the older connection ended with %v, expected close status 4409", err)
	}
}

// TestCostlyClient: one client's conditions may cost so much together, and no
// more; what it gives back it may use again.
func TestCostlyClient(t *testing.T) {
	b := startWith(t, bridge.Config{})
	ws := raw(t, b)
	if m := say(t, ws, `{"op":"hello"}`); m["op"] != "welcome" {
		t.Fatal(m)
	}
	ask := func(id int) map[string]any {
		return say(t, ws, fmt.Sprintf(`{"op":"subscribe","id":"s%d","condition":"sum(map(laser.ranges, # * %d)) > mean(map(laser.ranges, # + 1))"}`, id, id))
	}
	n := 0
	m := ask(n)
	for ; m["op"] == "subscribed" && n < 9_000; n++ {
		m = ask(n + 1)
	}
	if m["code"] != string(protocol.TooCostly) || n < 100 {
		t.Fatalf("after %d costly conditions: %v, expected %s", n, m, protocol.TooCostly)
	}
	if m := say(t, ws, `{"op":"unsubscribe","id":"s0"}`); m["ok"] != true {
		t.Fatal(m)
	}
	if m := ask(n + 2); m["op"] != "subscribed" {
		t.Errorf("after one was given back: %v", m)
	}
	for id := 1; id <= 10; id++ { // refused, so that what the id counts stays
		m := say(t, ws, fmt.Sprintf(`{"op":"subscribe","id":"s%d","condition":"true"}`, id))
		if m["code"] != string(protocol.Conflict) {
			t.Fatalf("an id that is in use: %v, expected %s", m, protocol.Conflict)
		}
	}
	if m := ask(n + 3); m["code"] != string(protocol.TooCostly) {
		t.Errorf("after ten ids were refused as in use: %v, expected %s", m, protocol.TooCostly)
	}
	if m := say(t, ws, `{"op":"update","id":"s1","condition":"true"}`); m["op"] != "subscribed" {
		t.Fatal(m)
	}
	if m := ask(n + 3); m["op"] != "subscribed" {
		t.Errorf("after one has become cheap: %v", m)
	}
}

// TestEachIsAnswered: changes that follow each other at once have an answer
// each. Those that the broker's state decides have them in order; what is wrong
// by itself is refused before.
func TestEachIsAnswered(t *testing.T) {
	robot := playertest.Fake(t, playertest.Good)
	b := startWith(t, bridge.Config{}, config.Player{Address: robot.Addr(), Robot: "r0"})
	until(t, "r0 is up", func() bool { return robotsNow(t, b)["r0"].State == protocol.RobotUp })
	ws := raw(t, b)
	if m := say(t, ws, `{"op":"hello"}`); m["op"] != "welcome" {
		t.Fatal(m)
	}
	const subscribe, update, unsubscribe = `{"op":"subscribe","id":%q,"condition":"position.x > 1e9"}`, `{"op":"update","id":%q,"min_interval":%d}`, `{"op":"unsubscribe","id":%q}`
	kinds := []struct{ say, want []string }{
		{[]string{subscribe, unsubscribe}, []string{"subscribed", "reply"}},
		{[]string{subscribe, unsubscribe, unsubscribe, subscribe, unsubscribe}, []string{"subscribed", "reply", "reply", "subscribed", "reply"}},
		{[]string{subscribe, subscribe, unsubscribe}, []string{"subscribed", "error", "reply"}},
		{[]string{subscribe, update, update, unsubscribe}, []string{"subscribed", "subscribed", "subscribed", "reply"}},
		{[]string{update, subscribe, `{"op":"subscribe","id":%q,"condition":"position.x >"}`}, []string{"error", "error", "subscribed"}},
	}
	const rounds = 200
	ws.SetReadDeadline(time.Now().Add(patience))
	written := make(chan struct{})
	defer func() { ws.Close(); <-written }()
	go func() { // what it fails to write is missed below
		defer close(written)
		for i := range rounds {
			for k, kind := range kinds {
				for n, text := range kind.say {
					args := []any{fmt.Sprintf("%d.%d", k, i), n}
					if ws.WriteMessage(websocket.TextMessage, fmt.Appendf(nil, text, args[:strings.Count(text, "%")]...)) != nil {
						return
					}
				}
			}
		}
	}()
	left := 0
	for _, k := range kinds {
		left += rounds * len(k.want)
	}
	got := map[string][]string{}
	for left > 0 {
		_, text, err := ws.ReadMessage()
		if err != nil {
			t.Fatalf("%d answers are missing: %v", left, err)
		}
		var m struct{ Op, ID string }
		if err := json.Unmarshal(text, &m); err != nil {
			t.Fatal(err)
		}
		if m.Op != protocol.OpHeartbeat && m.Op != protocol.OpRobot {
			got[m.ID] = append(got[m.ID], m.Op)
			left--
		}
	}
	for k, kind := range kinds {
		for i := range rounds {
			id := fmt.Sprintf("%d.%d", k, i)
			if slices.Contains(kind.want, "error") {
				slices.Sort(got[id])
				slices.Sort(kind.want)
			}
			if !slices.Equal(got[id], kind.want) {
				t.Errorf("%s: %v, expected %v", id, got[id], kind.want)
			}
		}
	}
}
