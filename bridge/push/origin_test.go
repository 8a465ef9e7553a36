package push

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/gorilla/websocket"

	"callboard/bridge/attach"
	"callboard/bridge/metric"
)

// Pages of configured origins may open the WebSocket and read the API, as the
// broker's own may; what a browser asks before is answered without a token.
func TestConfiguredOrigins(t *testing.T) {
	s := start(t, Config{Tokens: labTokens, Origins: []string{"https://lab.example.org", "http://localhost:3000"}})
	for _, tt := range []struct {
		origin  string
		allowed bool
	}{
		{"https://lab.example.org", true},
		{"https://LAB.example.org:443", true},
		{"http://localhost:3000", true},
		{"http://lab.example.org", false},
		{"https://lab.example.org:8443", false},
		{"https://lab.example.org.evil.example", false},
		{"http://localhost", false},
		{"null", false},
	} {
		ws, response, err := websocket.DefaultDialer.Dial("ws://"+s.addr+"/ws", http.Header{"Origin": {tt.origin}})
		if (err == nil) != tt.allowed {
			t.Errorf("%s: WebSocket: %v, expected allowed = %v", tt.origin, err, tt.allowed)
		}
		if err == nil {
			ws.Close()
		} else if response == nil || response.StatusCode != 403 {
			t.Errorf("%s: WebSocket: %v", tt.origin, err)
		}
		shared, status := "", 403
		if tt.allowed {
			shared, status = tt.origin, 204
		}
		for _, path := range []string{"/api/robots", "/api/worlds/cave"} {
			got, _, header := s.get(t, path, func(r *http.Request) {
				r.Method = http.MethodOptions
				r.Header.Set("Origin", tt.origin)
				r.Header.Set("Access-Control-Request-Method", "GET")
				r.Header.Set("Access-Control-Request-Headers", "authorization")
			})
			if got != status || header.Get("Access-Control-Allow-Origin") != shared {
				t.Errorf("%s: preflight of %s: %d %v", tt.origin, path, got, header)
			}
			if tt.allowed && (header.Get("Access-Control-Allow-Headers") != "Authorization" || header.Get("Access-Control-Allow-Methods") != "GET") {
				t.Errorf("%s: preflight of %s: %v", tt.origin, path, header)
			}
		}
		for token, status := range map[string]int{"s3cret": 200, "guessed": 401} {
			got, _, header := s.get(t, "/api/robots", func(r *http.Request) {
				bearer(token)(r)
				r.Header.Set("Origin", tt.origin)
			})
			if got != status || header.Get("Access-Control-Allow-Origin") != shared || header.Get("Vary") != "Origin" {
				t.Errorf("%s: /api/robots: %d %v", tt.origin, got, header)
			}
		}
	}
	if _, _, header := s.get(t, "/metrics", func(r *http.Request) { r.Header.Set("Origin", "http://localhost:3000") }); header.Get("Access-Control-Allow-Origin") != "" {
		t.Errorf("/metrics: %v", header)
	}
}

// What is shown is shown by the rights of the token: of metrics those of its
// robots, worlds as the broker says, and what tells of everything only to those
// who may see everything.
func TestRightsOfWhatIsShown(t *testing.T) {
	metrics := metric.New()
	f := metric.NewFamily("callboard_robots_readings_total", "Readings.", "robot")
	g := metric.NewFamily("callboard_robots_player_bytes_total", "Bytes.", "player")
	metrics.Add(func(to *metric.Scrape) {
		for _, robot := range []string{"r1", "r2", "x1"} {
			to.Give(f, 1, robot)
		}
		to.Give(g, 1, "lab:6665")
	}, f, g)
	s := start(t, Config{
		Tokens: append(labTokens, Token{Secret: "boss", Grant: attach.Grant{Token: "operator", Robots: []string{"*"}}}), Metrics: metrics, Page: fstest.MapFS{},
		Extra: map[string]func() any{"roam": func() any { return "all programs" }},
		World: func(_ context.Context, name string, grant attach.Grant) ([]byte, bool) {
			return []byte(`{}`), name == "cave" && grant.Token == "lab"
		},
	})
	for _, tt := range []struct {
		token, path string
		status      int
		with        []string
		without     []string
	}{
		{"boss", "/metrics", 200, []string{`"r1"`, `"r2"`, `"x1"`, `"lab:6665"`, "callboard_push_sessions"}, nil},
		{"look", "/metrics", 200, []string{`"r1"`, `"x1"`, `"lab:6665"`}, nil},
		{"s3cret", "/metrics", 200, []string{`"r1"`, `"r2"`, "callboard_push_sessions"}, []string{`"x1"`, "lab:6665", "player_bytes"}},
		{"boss", "/api/roam", 200, []string{"all programs"}, nil},
		{"s3cret", "/api/roam", 403, nil, []string{"all programs"}},
		{"s3cret", "/api/worlds/cave", 200, nil, nil},
		{"boss", "/api/worlds/cave", 404, nil, nil},
	} {
		status, body, _ := s.get(t, tt.path, bearer(tt.token))
		if status != tt.status {
			t.Errorf("%s, %s: %d", tt.token, tt.path, status)
		}
		for _, text := range tt.with {
			if !strings.Contains(body, text) {
				t.Errorf("%s, %s: %s is not there", tt.token, tt.path, text)
			}
		}
		for _, text := range tt.without {
			if strings.Contains(body, text) {
				t.Errorf("%s, %s: %s is there", tt.token, tt.path, text)
			}
		}
	}
}

// The pages of the network's brokers may open the WebSocket, but not act for the user
// by the API.
func TestOriginsOfPeers(t *testing.T) {
	s := start(t, Config{
		Peers: func(context.Context) []string {
			return []string{"ws://b1.example:8800/ws", "wss://b2.example/ws", "%", ""}
		},
		Actions: map[string]func(context.Context, []byte) (any, error){"do": func(context.Context, []byte) (any, error) { return nil, nil }},
	})
	for _, tt := range []struct {
		origin  string
		allowed bool
	}{
		{"http://b1.example:8800", true},
		{"https://b2.example", true},
		{"https://b2.example:443", true},
		{"http://b1.example", false},
		{"https://b1.example:8800", false},
		{"http://b1.example:8800.evil.example", false},
		{"null", false},
	} {
		ws, response, err := websocket.DefaultDialer.Dial("ws://"+s.addr+"/ws", http.Header{"Origin": {tt.origin}})
		if (err == nil) != tt.allowed {
			t.Errorf("%s: WebSocket: %v, expected allowed = %v", tt.origin, err, tt.allowed)
		}
		if err == nil {
			ws.Close()
		} else if response == nil || response.StatusCode != 403 {
			t.Errorf("%s: WebSocket: %v", tt.origin, err)
		}
		status, _, _ := s.get(t, "/api/do", func(r *http.Request) { r.Method = http.MethodPost; r.Header.Set("Origin", tt.origin) })
		if status != 403 {
			t.Errorf("%s: an action answers %d, expected 403", tt.origin, status)
		}
	}
}
