package bridge_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"callboard/bridge"
	"callboard/bridge/config"
	"callboard/player/playertest"
	"callboard/subscribe/protocol"
)

// heard is what a program was told until its connection ended, or until enough.
type heard struct {
	ops    []string // what was told, with codes
	robots []string // of notifications
	fields map[string]any
	last   uint64 // of the notifications
	passed uint64 // of them
}

// listen reads until the connection's end, or until enough says so.
func listen(t *testing.T, ws *websocket.Conn, enough func(*heard) bool) *heard {
	t.Helper()
	h := &heard{fields: map[string]any{}}
	for !enough(h) {
		_ = ws.SetReadDeadline(time.Now().Add(patience))
		_, text, err := ws.ReadMessage()
		if err != nil {
			return h
		}
		var m struct {
			Op, Code, Robot, Session, Source string
			Seq, Skipped                     uint64
		}
		if err := json.Unmarshal(text, &m); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		switch m.Op {
		case protocol.OpHeartbeat, protocol.OpRobot:
			continue
		case protocol.OpNotify:
			h.robots = append(h.robots, m.Robot)
			h.last, h.passed = m.Seq, h.passed+m.Skipped
			h.fields["source"] = m.Source
			continue
		case protocol.OpWelcome:
			h.fields["session"] = m.Session
		}
		h.ops = append(h.ops, strings.TrimSpace(m.Op+" "+m.Code))
	}
	return h
}

func ended(*heard) bool { return false }

// TestRights: what a token may not see it gets in no way, and a client id and its
// session are its token's, at every broker.
func TestRights(t *testing.T) {
	tokens := []config.Token{
		{Name: "lab", Secret: "lab-secret", Robots: []string{"*"}, May: []string{config.MaySubscribe}},
		{Name: "other", Secret: "other-secret", Robots: []string{"x*"}},
		{Name: "driver", Secret: "driver-secret", May: []string{config.MayCommand}},
	}
	r1, x1 := playertest.Fake(t, playertest.Good), playertest.Fake(t, playertest.Good)
	links := []string{freeAddress(t), freeAddress(t)}
	configured := func(i int) *config.Config {
		c := config.Default()
		c.Broker.ID, c.Broker.Listen, c.Broker.Links, c.Broker.Data = fmt.Sprint("b", i+1), "127.0.0.1:0", links[i], t.TempDir()
		c.Broker.Heartbeat, c.Registry.Broker, c.Tokens = 0.2, "b1", slices.Clone(tokens)
		c.Neighbours = []config.Neighbour{{ID: fmt.Sprint("b", 2-i), Address: links[1-i]}}
		return c
	}
	first := configured(0)
	first.Players = []config.Player{{Address: r1.Addr(), Robot: "r1", World: "cave"}, {Address: x1.Addr(), Robot: "x1", World: "yard"}}
	start := func(c *config.Config) (*bridge.Bridge, func()) {
		c.Complete()
		if err := c.Validate().Err(); err != nil {
			t.Fatal(err)
		}
		b, err := bridge.New(bridge.Config{Config: c})
		if err != nil {
			t.Fatal(err)
		}
		return b, run(t, b)
	}
	b1, stop := start(first)
	b2, _ := start(configured(1))

	const subscription = `"subscriptions":[{"id":"a","condition":"position.x >= 0"}]`
	hello := func(b *bridge.Bridge, format string, args ...any) *websocket.Conn {
		t.Helper()
		ws := raw(t, b)
		if err := ws.WriteMessage(websocket.TextMessage, fmt.Appendf(nil, `{"op":"hello",`+format+`}`, args...)); err != nil {
			t.Fatal(err)
		}
		return ws
	}
	both := func(h *heard) bool { return slices.Contains(h.robots, "r1") && slices.Contains(h.robots, "x1") }
	client := hello(b1, `"client":"c","token":"lab-secret",%s`, subscription)
	told := listen(t, client, both)
	session, source := told.fields["session"], told.fields["source"]

	// Others say the client's id, with and without what else they know of it.
	resumes := fmt.Sprintf(`"client":"c","session":%q,"num":{%q:1},"attachment":4000000000000000`, session, source)
	for _, token := range []string{"other", "driver"} {
		for _, b := range []*bridge.Bridge{b1, b2} {
			h := listen(t, hello(b, `%s,"token":"%s-secret"`, resumes, token), ended)
			if got := strings.Join(h.ops, ", "); got != "error forbidden" || len(h.robots) > 0 {
				t.Errorf("%s: %s; notifications of %v", token, got, h.robots)
			}
		}
		h := listen(t, hello(b1, `"client":"c","token":"%s-secret"`, token), ended)
		if got := strings.Join(h.ops, ", "); got != "error forbidden" {
			t.Errorf("%s, its id alone: %s", token, got)
		}
		h = listen(t, hello(b2, `"client":"c","token":"%s-secret"`, token), ended) // the registry tells
		if got := strings.Join(h.ops, ", "); got != "welcome, error forbidden" && got != "error forbidden" || len(h.robots) > 0 {
			t.Errorf("%s, its id alone, elsewhere: %s; notifications of %v", token, got, h.robots)
		}
	}
	before := told.last
	if told = listen(t, client, both); told.last <= before || len(told.ops) > 0 {
		t.Errorf("the client was told %v", told.ops)
	}
	before = told.last
	client.Close()

	// Lists, metrics and worlds.
	get := func(b *bridge.Bridge, path, token string) (int, string) {
		t.Helper()
		r, err := http.NewRequest(http.MethodGet, b.URL()+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+token+"-secret")
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		body, err := io.ReadAll(answer.Body)
		if err != nil {
			t.Fatal(err)
		}
		return answer.StatusCode, string(body)
	}
	for _, b := range []*bridge.Bridge{b1, b2} {
		for _, path := range []string{"/metrics", "/api/robots", "/api/brokers", "/api/subscriptions"} {
			_, all := get(b, path, "lab")
			_, some := get(b, path, "other")
			if strings.Contains(some, `"r1"`) || strings.Contains(some, `"c"`) || strings.Contains(some, r1.Addr()) {
				t.Errorf("%s shows a token for x*: %s", path, some)
			}
			if path != "/metrics" && path != "/api/brokers" && !strings.Contains(all, map[string]string{"/api/robots": `"r1"`, "/api/subscriptions": `"c"`}[path]) {
				t.Errorf("%s does not show a token for all robots: %s", path, all)
			}
		}
		if status, _ := get(b, "/api/worlds/cave", "other"); status != http.StatusNotFound {
			t.Errorf("the world of others' robots: %d", status)
		}
	}

	// The token is for fewer robots now: of the others nothing that waits comes.
	until(t, "more waits", func() bool {
		_, text := get(b1, "/api/brokers", "lab")
		var all []struct{ Waiting int }
		return json.Unmarshal([]byte(text), &all) == nil && all[0].Waiting > 100
	})
	stop()
	first.Tokens[0].Robots = []string{"x*"}
	b1, _ = start(first)
	client = hello(b1, `"client":"c","token":"lab-secret","session":%q,"num":{%q:%d},%s`, session, source, before, subscription)
	told = listen(t, client, func(h *heard) bool { return h.last > before+150 })
	if slices.Contains(told.robots, "r1") || told.passed == 0 || told.last != before+told.passed+uint64(len(told.robots)) {
		t.Errorf("from %d to %d: %d passed over, notifications of %v", before, told.last, told.passed, told.robots)
	}
}
