package push

import (
	"io"
	"net"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"callboard/player/listener"
	"callboard/subscribe/protocol"
)

// tcp opens a connection and writes what it is to begin with.
func (s *started) tcp(t testing.TB, begin string) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", s.addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	if _, err := io.WriteString(conn, begin); err != nil {
		t.Fatal(err)
	}
	return conn
}

// eof waits until the server has closed a connection.
func eof(t testing.TB, conn net.Conn) {
	t.Helper()
	_ = conn.SetReadDeadline(time.Now().Add(patience))
	if _, err := io.Copy(io.Discard, conn); isTimeout(err) {
		t.Fatal("the connection was not closed")
	}
}

// Silent sockets, half requests, requests whose body does not come and clients
// that do not say hello keep nobody out: the oldest of them give way. Who has said
// hello stays.
func TestSilentSocketsKeepNobodyOut(t *testing.T) {
	s := start(t, Config{MaxSessions: 40, limits: listener.Limits{Reserve: 8}, PingInterval: time.Hour, HelloTimeout: time.Hour})
	c := s.greeted(t)
	for _, begin := range []string{
		"",
		"GET /ws HTTP/1.1\r\nHost: localhost\r\n",
		"GET /healthz HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\n",
		"GET /ws HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n\x81",
	} {
		first := s.tcp(t, begin)
		for range 40 {
			s.tcp(t, begin)
		}
		eof(t, first)
		if status, _, _ := s.get(t, "/healthz", nil); status != 200 {
			t.Errorf("/healthz: %d", status)
		}
		s.greeted(t).Close()
	}
	c.send(`{"op":"list","id":"a","what":"robots"}`)
	c.next()
	if gone := s.limit.Stats().GaveWay; gone < 4*20 {
		t.Errorf("%d connections gave way", gone)
	}
}

// However many clients have said hello, an operator gets in; a further client of
// the address is told that there is no room, whether it comes now or has come
// before.
func TestOperatorsKeepAPlace(t *testing.T) {
	s := start(t, Config{MaxSessions: 16, limits: listener.Limits{Reserve: 4}})
	early := s.dial(t, nil, nil)
	var clients []*client
	for range 4 { // a quarter
		clients = append(clients, s.greeted(t))
	}
	early.send(`{"op":"hello"}`)
	early.expect(`{"op":"error","code":"overloaded","message":"` + noRoom + `"}`)
	early.closed(1013)
	for range 20 {
		if _, response, err := websocket.DefaultDialer.Dial("ws://"+s.addr+"/ws", nil); err == nil || response == nil || response.StatusCode != 503 {
			t.Fatalf("a client too many: %v", err)
		}
		for _, path := range []string{"/healthz", "/readyz", "/metrics", "/api/robots"} {
			if status, _, _ := s.get(t, path, nil); status != 200 {
				t.Errorf("%s: %d", path, status)
			}
		}
	}
	clients[0].Close()
	for deadline := time.Now().Add(patience); s.limit.Stats().Kept == 4; runtime.Gosched() { // until its place is given back
		if time.Now().After(deadline) {
			t.Fatal("the place of a client that has gone is still taken")
		}
	}
	s.greeted(t)
}

// Before its token is known a client can say little: what is larger, also once it
// is inflated, and what claims to be, ends at once. With a token in the request
// it may say much.
func TestFirstMessageIsSmall(t *testing.T) {
	s := start(t, Config{Tokens: labTokens, maxHello: 4 << 20})
	hello := func(size int) string {
		return `{"op":"hello","token":"s3cret"` + strings.Repeat(" ", size-31) + `}`
	}
	c := s.dial(t, nil, nil)
	c.send(hello(protocol.MaxFirst))
	c.expect(welcome)
	for _, deflated := range []bool{false, true} {
		c = s.dial(t, &websocket.Dialer{EnableCompression: deflated, Subprotocols: []string{protocol.Subprotocol}}, nil)
		_ = c.WriteMessage(websocket.TextMessage, []byte(hello(protocol.MaxFirst+1)))
		c.closed(1009)
	}
	c = s.dial(t, nil, nil)
	if _, err := c.NetConn().Write([]byte{0x81, 0xff, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0, '{'}); err != nil {
		t.Fatal(err)
	}
	c.closed(1009)
	header := map[string][]string{"Authorization": {"Bearer s3cret"}}
	c = s.dial(t, nil, header)
	c.send(hello(4 << 20))
	c.expect(welcome)
	ws, _, err := websocket.DefaultDialer.Dial("ws://"+s.addr+"/ws?token=s3cret", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer ws.Close()
	c = &client{ws, t}
	c.send(strings.Replace(hello(3<<20), `,"token":"s3cret"`, "", 1))
	c.expect(welcome)
	if _, response, err := websocket.DefaultDialer.Dial("ws://"+s.addr+"/ws?token=guessed", nil); err == nil || response.StatusCode != 401 {
		t.Errorf("an unknown token in the address: %v", err)
	}
	if status, _, _ := s.get(t, "/api/robots?token=s3cret", nil); status != 401 {
		t.Errorf("a token in the address of /api: %d", status)
	}
}

// Large hellos that do not come on keep nobody else out: each takes only as much
// as has come.
func TestSlowLargeHellos(t *testing.T) {
	s := start(t, Config{})
	for range 20 {
		c := s.dial(t, nil, nil)
		begun := append([]byte{0x81, 0xff, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0}, make([]byte, 2<<20)...)
		if _, err := c.NetConn().Write(begun); err != nil {
			t.Fatal(err)
		}
	}
	c := s.dial(t, nil, nil)
	c.send(`{"op":"hello"` + strings.Repeat(" ", 8<<20) + `}`)
	c.expect(welcome)
}

// Large messages are decoded a few at a time; who says little does not wait for that.
func TestFewAreDecoded(t *testing.T) {
	s := start(t, Config{})
	large, small := s.greeted(t), s.greeted(t)
	if !s.decoded.TryAcquire(maxDecoded) { // others are being decoded
		t.Fatal("something is being decoded")
	}
	large.send(`{"op":"list","id":"large","what":"brokers"` + strings.Repeat(" ", protocol.MaxFirst) + `}`)
	for s.large.TryAcquire(s.maxLarge) { // until it has come
		s.large.Release(s.maxLarge)
		runtime.Gosched()
	}
	for range 50 {
		small.send(`{"op":"list","id":"small","what":"brokers"}`)
		small.expect(`{"op":"reply","id":"small","ok":true,"result":[{"token":"","what":"brokers"}]}`)
	}
	if s.large.TryAcquire(s.maxLarge) {
		t.Error("a large message was dealt with while others were being decoded")
		s.large.Release(s.maxLarge)
	}
	s.decoded.Release(maxDecoded)
	large.expect(`{"op":"reply","id":"large","ok":true,"result":[{"token":"","what":"brokers"}]}`)
	s.allGivenBack(t)
	if !s.decoded.TryAcquire(maxDecoded) {
		t.Error("its bytes are still counted as being decoded")
	}
}

// A broker of little memory has little room for large messages: one that takes
// more is refused at once.
func TestLittleMemory(t *testing.T) {
	s := start(t, Config{Memory: 1 << 20})
	c := s.dial(t, nil, nil)
	_ = c.WriteMessage(websocket.TextMessage, []byte(`{"op":"hello"`+strings.Repeat(" ", minLarge)+`}`))
	c.expect(`{"op":"error","code":"overloaded","message":"too many large messages come at a time; try again later"}`)
	c.closed(websocket.CloseTryAgainLater)
	s.allGivenBack(t)
}

// What comes at the least pace goes on for as long as it takes; what is slower
// does not.
func TestPace(t *testing.T) {
	s := start(t, Config{messageGrace: time.Second})
	c := s.dial(t, nil, nil)
	const size = 60 << 10 // 3.75 s at the least pace
	if _, err := c.NetConn().Write(append([]byte{0x81, 0xfe, size >> 8, 0, 0, 0, 0, 0}, `{"op":"hello"`...)); err != nil {
		t.Fatal(err)
	}
	tick := time.NewTicker(25 * time.Millisecond) // so it takes longer than the grace
	defer tick.Stop()
	rest := strings.Repeat(" ", size-len(`{"op":"hello"}`)) + "}"
	for rest != "" {
		<-tick.C
		n := min(len(rest), 1000)
		if _, err := io.WriteString(c.NetConn(), rest[:n]); err != nil {
			t.Fatal(err)
		}
		rest = rest[n:]
	}
	c.expect(welcome)

	if _, err := c.NetConn().Write([]byte{0x81, 0xfe, size >> 8, 0, 0, 0, 0, 0, '{'}); err != nil {
		t.Fatal(err)
	}
	c.expect(`{"op":"error","code":"bad_message","message":"a message came too slowly; expected it within 1s, or 16384 bytes a second"}`)
	c.closed(1008)
}
