package push

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gorilla/websocket"
	"go.uber.org/goleak"

	"callboard/bridge/attach"
	"callboard/subscribe/protocol"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience is how long a test waits for what must happen.
const patience = 20 * time.Second

// fakeBroker answers simply and notes what it is told.
type fakeBroker struct {
	mu      sync.Mutex
	next    uint64
	outs    map[uint64]attach.Outbox
	calls   chan string // what was called, in order; big enough for each test
	command func(ctx context.Context, m protocol.Command) (any, error)
	hello   func(out attach.Outbox, m protocol.Hello) error
	warning string // that subscribed carries
}

func newFakeBroker() *fakeBroker {
	return &fakeBroker{outs: map[uint64]attach.Outbox{}, calls: make(chan string, 100_000)}
}

func (b *fakeBroker) note(format string, args ...any) { b.calls <- fmt.Sprintf(format, args...) }

func (b *fakeBroker) out(conn uint64) attach.Outbox {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.outs[conn]
}

func (b *fakeBroker) Connect(out attach.Outbox, remote string) uint64 {
	b.mu.Lock()
	b.next++
	n := b.next
	b.outs[n] = out
	b.mu.Unlock()
	b.note("connect %d", n)
	return n
}

func (b *fakeBroker) Hello(_ context.Context, conn uint64, m protocol.Hello, g attach.Grant) error {
	text, _ := json.Marshal(m)
	b.note("hello %d %s %q", conn, text, g.Token)
	if b.hello != nil {
		return b.hello(b.out(conn), m)
	}
	b.out(conn).Send(&protocol.Welcome{Broker: "b1", Client: m.Client, Session: "s1", Attachment: 1, Heartbeat: 1, Window: 1024, Brokers: []protocol.BrokerURL{}})
	return nil
}

func (b *fakeBroker) Subscribe(_ context.Context, conn uint64, m protocol.Subscribe) error {
	text, _ := json.Marshal(m.Subscription)
	b.note("subscribe %d %s", conn, text)
	if m.Condition == "1 +" {
		return &protocol.Problem{Code: protocol.BadCondition, Message: "it ends too early", Position: &protocol.Position{Line: 1, Column: 4}}
	}
	b.out(conn).Send(&protocol.Subscribed{ID: m.ID, Sources: []string{"b1"}, Robots: 2, Warning: b.warning})
	return nil
}

func (b *fakeBroker) Update(_ context.Context, conn uint64, m protocol.Update) error {
	text, _ := json.Marshal(m)
	b.note("update %d %s", conn, text)
	return nil
}

func (b *fakeBroker) Unsubscribe(_ context.Context, conn uint64, m protocol.Unsubscribe) error {
	b.note("unsubscribe %d %s", conn, m.ID)
	b.out(conn).Send(&protocol.Reply{ID: m.ID, OK: true})
	return nil
}

func (b *fakeBroker) Ack(_ context.Context, conn uint64, m protocol.Ack) error {
	b.note("ack %d %s %d", conn, m.Source, m.Num)
	return nil
}

func (b *fakeBroker) Task(_ context.Context, conn uint64, m any) error {
	b.note("task %d %s", conn, protocol.AppendMessage(nil, m))
	return nil
}

func (b *fakeBroker) Disconnect(conn uint64, how attach.Ending) {
	if how.Goodbye {
		b.note("disconnect %d goodbye", conn)
	} else {
		b.note("disconnect %d", conn)
	}
}

func (b *fakeBroker) Command(ctx context.Context, g attach.Grant, m protocol.Command) (any, error) {
	if b.command != nil {
		return b.command(ctx, m)
	}
	return map[string]any{"did": m.Name, "args": m.Args}, nil
}

func (b *fakeBroker) List(_ context.Context, what string, g attach.Grant) (any, error) {
	return []map[string]string{{"what": what, "token": g.Token}}, nil
}

// expect waits for a call that begins so, and returns it.
func (b *fakeBroker) expect(t testing.TB, prefix string) string {
	t.Helper()
	timeout := time.NewTimer(patience)
	defer timeout.Stop()
	for {
		select {
		case call := <-b.calls:
			if strings.HasPrefix(call, prefix) {
				return call
			}
		case <-timeout.C:
			t.Fatalf("the broker was not told %q", prefix)
		}
	}
}

// started is a running server.
type started struct {
	*Server
	broker *fakeBroker
	addr   string
	stop   func() error
}

// start runs a server for the test's time, on a port of its own if c names no
// listener.
func start(t testing.TB, c Config) *started {
	t.Helper()
	if c.Listener == nil {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		c.Listener = listener
	}
	broker := newFakeBroker()
	if c.Broker == nil {
		c.Broker = broker
	}
	s, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- s.Run(ctx) }()
	stop := sync.OnceValue(func() error {
		cancel()
		return <-done
	})
	t.Cleanup(func() {
		if err := stop(); err != nil {
			t.Errorf("Run: %v", err)
		}
		http.DefaultClient.CloseIdleConnections()
	})
	return &started{Server: s, broker: broker, addr: c.Listener.Addr().String(), stop: stop}
}

// client is a WebSocket client of a test.
type client struct {
	*websocket.Conn
	t testing.TB
}

func (s *started) dial(t testing.TB, d *websocket.Dialer, header http.Header) *client {
	t.Helper()
	if d == nil {
		d = &websocket.Dialer{Subprotocols: []string{protocol.Subprotocol}}
	}
	scheme := "ws"
	if s.config.TLS != nil {
		scheme = "wss"
	}
	ws, _, err := d.Dial(scheme+"://"+s.addr+"/ws", header)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ws.Close() })
	return &client{Conn: ws, t: t}
}

func (c *client) send(text string) {
	c.t.Helper()
	if err := c.WriteMessage(websocket.TextMessage, []byte(text)); err != nil {
		c.t.Fatal(err)
	}
}

// next returns the next message.
func (c *client) next() string {
	c.t.Helper()
	_ = c.SetReadDeadline(time.Now().Add(patience))
	_, text, err := c.ReadMessage()
	if err != nil {
		c.t.Fatal(err)
	}
	return string(text)
}

func (c *client) expect(want string) {
	c.t.Helper()
	if got := c.next(); got != want {
		c.t.Fatalf("got  %s\nwant %s", got, want)
	}
}

// closed waits for the close frame.
func (c *client) closed(status int) {
	c.t.Helper()
	_ = c.SetReadDeadline(time.Now().Add(patience))
	for {
		_, text, err := c.ReadMessage()
		if err == nil {
			c.t.Logf("before the close: %.200s", text)
			continue
		}
		if !websocket.IsCloseError(err, status) {
			c.t.Fatalf("closed with %v, expected status %d", err, status)
		}
		return
	}
}

const welcome = `{"op":"welcome","broker":"b1","client":"","session":"s1","attachment":1,"heartbeat":1,"window":1024,"brokers":[]}`

// greeted dials and says hello.
func (s *started) greeted(t testing.TB) *client {
	t.Helper()
	c := s.dial(t, nil, nil)
	c.send(`{"op":"hello"}`)
	c.expect(welcome)
	return c
}

// get does an HTTP request and returns status and body.
func (s *started) get(t testing.TB, path string, edit func(*http.Request)) (int, string, http.Header) {
	t.Helper()
	r, err := http.NewRequest(http.MethodGet, "http://"+s.addr+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	if edit != nil {
		edit(r)
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	var body strings.Builder
	if _, err := bufio.NewReader(response.Body).WriteTo(&body); err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, body.String(), response.Header
}
