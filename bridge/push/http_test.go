package push

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/fstest"
	"time"

	"github.com/gorilla/websocket"

	"callboard/bridge/attach"
	"callboard/subscribe/protocol"
)

var labTokens = []Token{
	{Secret: "s3cret", Grant: attach.Grant{Token: "lab", Robots: []string{"r*"}, Subscribe: true, Command: true}},
	{Secret: "look", Grant: attach.Grant{Token: "watcher", Subscribe: true}},
	{Secret: "drive", Grant: attach.Grant{Token: "driver", Command: true}},
}

func bearer(token string) func(*http.Request) {
	return func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+token) }
}

func TestHTTP(t *testing.T) {
	var ready atomic.Bool
	s := start(t, Config{
		Page: fstest.MapFS{"index.html": {Data: []byte("<h1>Callboard</h1>")}, "app.js": {Data: []byte("x")}},
		World: func(_ context.Context, name string, _ attach.Grant) ([]byte, bool) {
			return []byte(`{"name":"cave"}`), name == "cave"
		},
		Actions: map[string]func(context.Context, []byte) (any, error){"echo": func(_ context.Context, body []byte) (any, error) {
			switch string(body) {
			case "conflict":
				return nil, errors.New("not now")
			case "bad":
				return nil, &protocol.Problem{Code: protocol.BadMessage, Message: "what is that?"}
			case "":
				return nil, nil
			}
			return string(body), nil
		}},
		Words: func() any { return map[string]int{"laser": 13} },
		Ready: func() error {
			if !ready.Load() {
				return errors.New("the store is not open")
			}
			return nil
		},
	})
	if status, body, _ := s.get(t, "/readyz", nil); status != 503 || body != "not ready: the store is not open\n" {
		t.Errorf("/readyz: %d %q", status, body)
	}
	ready.Store(true)
	for _, tt := range []struct {
		path   string
		status int
		body   string
	}{
		{"/healthz", 200, "ok\n"},
		{"/readyz", 200, "ready\n"},
		{"/", 200, "<h1>Callboard</h1>"},
		{"/app.js", 200, "x"},
		{"/../server.go", 404, "404 page not found\n"},
		{"/api/robots", 200, "[{\"token\":\"\",\"what\":\"robots\"}]\n"},
		{"/api/brokers", 200, "[{\"token\":\"\",\"what\":\"brokers\"}]\n"},
		{"/api/subscriptions", 200, "[{\"token\":\"\",\"what\":\"subscriptions\"}]\n"},
		{"/api/words", 200, "{\"laser\":13}\n"},
		{"/api/worlds/cave", 200, `{"name":"cave"}`},
		{"/api/worlds/moon", 404, `{"code":"not_found","message":"no floor plan of this world"}`},
		{"/api/cats", 404, `{"code":"not_found","message":"no such path: /api/cats"}`},
		{"/ws", 400, "Bad Request\n"},
	} {
		status, body, header := s.get(t, tt.path, nil)
		if status != tt.status || body != tt.body {
			t.Errorf("%s: %d %q, expected %d %q", tt.path, status, body, tt.status, tt.body)
		}
		if tt.path == "/" && !strings.Contains(header.Get("Content-Security-Policy"), "default-src 'self'") {
			t.Errorf("the page has no policy: %v", header)
		}
	}
	if _, body, _ := s.get(t, "/metrics", nil); !strings.Contains(body, "callboard_push_sessions 0") || !strings.Contains(body, "callboard_push_delivery_seconds_bucket") {
		t.Errorf("/metrics lacks push's: %s", body)
	}
	for _, tt := range []struct {
		body   string
		status int
		want   string
	}{
		{"hello", 200, "\"hello\"\n"},
		{"", 200, "{}\n"},
		{"conflict", 409, `{"code":"conflict","message":"not now"}`},
		{"bad", 400, `{"code":"bad_message","message":"what is that?"}`},
		{strings.Repeat("x", maxAction+1), 400, `{"code":"bad_message","message":"http: request body too large"}`},
	} {
		r, err := http.Post("http://"+s.addr+"/api/echo", "application/json", strings.NewReader(tt.body))
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(r.Body)
		r.Body.Close()
		if err != nil || r.StatusCode != tt.status || string(got) != tt.want {
			t.Errorf("POST /api/echo %.20q: %d %q %v, want %d %q", tt.body, r.StatusCode, got, err, tt.status, tt.want)
		}
	}
	response, err := http.Post("http://"+s.addr+"/api/robots", "text/plain", nil)
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	if response.StatusCode == 200 {
		t.Error("/api/robots was posted to")
	}
}

func TestTokensOverHTTP(t *testing.T) {
	s := start(t, Config{ID: "b1", Tokens: labTokens, Page: fstest.MapFS{"index.html": {Data: []byte("page")}}})
	for _, path := range []string{"/", "/metrics", "/api/robots", "/api/worlds/x", "/api/x"} {
		status, _, header := s.get(t, path, nil)
		if status != 401 || !strings.HasPrefix(header.Get("WWW-Authenticate"), `Basic realm="callboard b1`) {
			t.Errorf("%s without a token: %d %v", path, status, header)
		}
		if status, _, _ := s.get(t, path, bearer("wrong")); status != 401 {
			t.Errorf("%s with a wrong token: %d", path, status)
		}
		if status, _, _ := s.get(t, path, func(r *http.Request) { r.SetBasicAuth("any", "s3cret") }); status == 401 {
			t.Errorf("%s with the token as password: %d", path, status)
		}
	}
	if status, body, _ := s.get(t, "/api/robots", bearer("look")); status != 200 || !strings.Contains(body, `"token":"watcher"`) {
		t.Errorf("/api/robots: %d %s", status, body)
	}
	for _, path := range []string{"/healthz", "/readyz"} {
		if status, _, _ := s.get(t, path, nil); status != 200 {
			t.Errorf("%s needs a token: %d", path, status)
		}
	}
	for _, header := range []string{"Bearer", "Bearer ", "Basic x", "Digest s3cret", "s3cret"} {
		if status, _, _ := s.get(t, "/api/robots", func(r *http.Request) { r.Header.Set("Authorization", header) }); status != 401 {
			t.Errorf("Authorization %q: %d", header, status)
		}
	}
}

func TestTokensOverWebSocket(t *testing.T) {
	s := start(t, Config{Tokens: labTokens})
	for say, want := range map[string]string{
		`{"op":"hello"}`:                 `{"op":"error","code":"unauthorized","message":"no token; expected one in hello or as Authorization: Bearer"}`,
		`{"op":"hello","token":"wrong"}`: `{"op":"error","code":"unauthorized","message":"the token is not known"}`,
	} {
		c := s.dial(t, nil, nil)
		c.send(say)
		c.expect(want)
		c.closed(4401)
	}
	_, response, err := websocket.DefaultDialer.Dial("ws://"+s.addr+"/ws", http.Header{"Authorization": {"Bearer wrong"}})
	if err == nil || response.StatusCode != 401 {
		t.Errorf("upgrade with a wrong token: %v", err)
	}

	c := s.dial(t, nil, nil)
	c.send(`{"op":"hello","token":"s3cret"}`)
	c.expect(welcome)
	if call := s.broker.expect(t, "hello"); !strings.HasSuffix(call, `{"op":"hello"} "lab"`) {
		t.Errorf("the broker was told %s: expected the token's name and not its secret", call)
	}
	c.send(`{"op":"command","id":"a","robot":"x0","name":"stop"}`)
	c.expect(`{"op":"reply","id":"a","ok":false,"error":{"code":"forbidden","message":"the token does not allow to command robot \"x0\""}}`)
	c.send(`{"op":"command","id":"a","robot":"r0","name":"stop"}`)
	c.expect(`{"op":"reply","id":"a","ok":true,"result":{"args":null,"did":"stop"}}`)

	c = s.dial(t, nil, http.Header{"Authorization": {"bearer look"}})
	c.send(`{"op":"hello"}`)
	c.expect(welcome)
	c.send(`{"op":"command","id":"a","robot":"r0","name":"stop"}`)
	c.expect(`{"op":"reply","id":"a","ok":false,"error":{"code":"forbidden","message":"the token does not allow command"}}`)

	c = s.dial(t, nil, http.Header{"Authorization": {"Bearer drive"}})
	c.send(`{"op":"hello","subscriptions":[{"id":"a","condition":"true"}]}`)
	c.expect(`{"op":"error","code":"forbidden","message":"the token does not allow subscribe; expected hello without subscriptions"}`)
	c.send(`{"op":"hello"}`)
	c.expect(welcome)
	for _, say := range []string{`{"op":"subscribe","id":"a","condition":"true"}`, `{"op":"update","id":"a","condition":"true"}`} {
		c.send(say)
		if got := c.next(); !strings.Contains(got, `"op":"error","id":"a","code":"forbidden"`) {
			t.Errorf("%s: %s", say, got)
		}
	}
}

func TestOrigins(t *testing.T) {
	s := start(t, Config{Hosts: []string{"robots.example.org"}})
	_, port, _ := net.SplitHostPort(s.addr)
	for _, tt := range []struct {
		origin, host string
		allowed      bool
	}{
		{"", "", true},
		{"http://" + s.addr, "", true},
		{"http://localhost:" + port, "localhost:" + port, true},
		{"http://evil.example", "", false},
		{"http://127.0.0.1:1", "", false},
		{"null", "", false},
		{"http://evil.example:" + port, "evil.example:" + port, false}, // a name that was made to lead here
		{"", "evil.example", false},
		{"https://robots.example.org", "robots.example.org", true},
	} {
		header := http.Header{}
		if tt.origin != "" {
			header.Set("Origin", tt.origin)
		}
		if tt.host != "" {
			header.Set("Host", tt.host)
		}
		ws, response, err := websocket.DefaultDialer.Dial("ws://"+s.addr+"/ws", header)
		if (err == nil) != tt.allowed {
			t.Errorf("origin %q, host %q: %v, expected allowed = %v", tt.origin, tt.host, err, tt.allowed)
		}
		if err == nil {
			ws.Close()
		} else if response == nil || response.StatusCode != 403 {
			t.Errorf("origin %q, host %q: %v", tt.origin, tt.host, response)
		}
	}
	if status, _, _ := s.get(t, "/api/robots", func(r *http.Request) { r.Host = "evil.example" }); status != 403 {
		t.Errorf("/api/robots under a foreign name: %d", status)
	}
	if status, _, _ := s.get(t, "/healthz", func(r *http.Request) { r.Host = "evil.example" }); status != 200 {
		t.Errorf("/healthz under a foreign name: %d", status)
	}
}

func TestMaxSessions(t *testing.T) {
	s := start(t, Config{MaxSessions: 1})
	c := s.greeted(t)
	_, response, err := websocket.DefaultDialer.Dial("ws://"+s.addr+"/ws", nil)
	if err == nil || response.StatusCode != 503 || response.Header.Get("Retry-After") == "" {
		t.Errorf("a second session: %v", err)
	}
	c.Close()
	s.broker.expect(t, "disconnect 1")
	s.waitForNone(t)
	s.greeted(t)
}

// waitForNone waits until no session is there.
func (s *started) waitForNone(t *testing.T) {
	t.Helper()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for range tick.C {
		if s.limit.Stats().Kept == 0 {
			return
		}
	}
}

func TestTLS(t *testing.T) {
	certFile, keyFile, roots := certificate(t)
	secure, err := LoadTLS(certFile, keyFile)
	if err != nil {
		t.Fatal(err)
	}
	s := start(t, Config{TLS: secure})
	dialer := &websocket.Dialer{TLSClientConfig: &tls.Config{RootCAs: roots}}
	c := s.dial(t, dialer, nil)
	c.send(`{"op":"hello"}`)
	c.expect(welcome)
	// More than a record, and more than a frame header of four bytes.
	reading := `{"ranges":"` + strings.Repeat("9", 100_000) + `"}`
	s.broker.out(1).Notify(protocol.Notify{Source: "b1", Seq: 1, Reading: []byte(reading)}, time.Time{})
	if got := c.next(); !strings.HasSuffix(got, reading+"}") {
		t.Errorf("got %d bytes", len(got))
	}
	s.broker.out(1).Close("", "")
	c.closed(1000)
	old := &websocket.Dialer{TLSClientConfig: &tls.Config{RootCAs: roots, MaxVersion: tls.VersionTLS11}}
	if _, _, err := old.Dial("wss://"+s.addr+"/ws", nil); err == nil {
		t.Error("TLS 1.1 was spoken")
	}
	if _, err := LoadTLS(certFile, certFile); err == nil {
		t.Error("a certificate served as its key")
	}
}

// certificate makes one for 127.0.0.1, as files and as roots that trust it.
func certificate(t testing.TB) (certFile, keyFile string, roots *x509.CertPool) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	keyDER, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	certFile, keyFile = filepath.Join(dir, "c.pem"), filepath.Join(dir, "k.pem")
	cert := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	for name, text := range map[string][]byte{certFile: cert, keyFile: pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: keyDER})} {
		if err := os.WriteFile(name, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	roots = x509.NewCertPool()
	roots.AppendCertsFromPEM(cert)
	return certFile, keyFile, roots
}

// TestAClockSetBack: the delivery of a reading from the future takes no time,
// and is counted.
func TestAClockSetBack(t *testing.T) {
	s := start(t, Config{})
	c := s.greeted(t)
	s.broker.out(1).Notify(protocol.Notify{Source: "b1", Seq: 1, Reading: []byte(`{}`)}, time.Now().Add(time.Hour))
	c.next()
	body := ""
	for deadline := time.Now().Add(patience); !strings.Contains(body, "callboard_push_delivery_seconds_sum 0\ncallboard_push_delivery_seconds_count 1\n"); {
		if time.Now().After(deadline) {
			t.Fatalf("not counted: %s", body)
		}
		_, body, _ = s.get(t, "/metrics", nil)
	}
}
