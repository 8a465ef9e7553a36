package callboard

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"sync"
	"testing"
	"time"

	"callboard/subscribe/protocol"

	"github.com/gorilla/websocket"
)

// pipes is a network in memory: a listener whose dialer hands it one end.
type pipes struct {
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
	wrap   func(net.Conn) net.Conn // of the listener's end; nil: as it is
}

func newPipes() *pipes { return &pipes{conns: make(chan net.Conn), closed: make(chan struct{})} }

func (p *pipes) dial(ctx context.Context, network, address string) (net.Conn, error) {
	near, far := net.Pipe()
	if p.wrap != nil {
		far = p.wrap(far)
	}
	select {
	case p.conns <- far:
		return near, nil
	case <-p.closed:
		return nil, errors.New("connection refused")
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}
func (p *pipes) Close() error   { p.once.Do(func() { close(p.closed) }); return nil }
func (p *pipes) Addr() net.Addr { return &net.UnixAddr{Name: "pipe", Net: "pipe"} }

// fakeBroker upgrades what comes and hands the peers to the test, which plays
// the broker by hand.
type fakeBroker struct {
	t     *testing.T
	pipes *pipes
	peers chan *peer
}

func newFakeBroker(t *testing.T) *fakeBroker {
	f := &fakeBroker{t: t, pipes: newPipes(), peers: make(chan *peer)}
	server := &http.Server{Handler: f}
	var serving sync.WaitGroup
	serving.Go(func() { server.Serve(f.pipes) })
	t.Cleanup(func() {
		server.Close()
		serving.Wait()
	})
	return f
}

func (f *fakeBroker) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	upgrader := websocket.Upgrader{Subprotocols: []string{protocol.Subprotocol}}
	socket, err := upgrader.Upgrade(w, r, nil)
	if err != nil {
		return
	}
	p := &peer{t: f.t, socket: socket, authorization: r.Header.Get("Authorization"), ended: make(chan struct{})}
	select {
	case f.peers <- p:
	case <-f.pipes.closed:
		socket.Close()
		return
	}
	select {
	case <-p.ended:
	case <-f.pipes.closed:
	}
	socket.Close()
}

// accept waits for the next connection.
func (f *fakeBroker) accept() *peer {
	f.t.Helper()
	select {
	case p := <-f.peers:
		return p
	case <-time.After(time.Minute):
		f.t.Fatal("no connection came")
		return nil
	}
}

// peer is the broker's end of one connection.
type peer struct {
	t             *testing.T
	socket        *websocket.Conn
	authorization string // of the request
	ended         chan struct{}
	once          sync.Once
}

// expect reads the next message, which must have the op, and decodes it.
func expect[T any](p *peer, op string) T {
	p.t.Helper()
	var into T
	p.socket.SetReadDeadline(time.Now().Add(time.Minute))
	_, text, err := p.socket.ReadMessage()
	if err != nil {
		p.t.Fatalf("waiting for %s: %v", op, err)
	}
	var head struct{ Op string }
	if err := json.Unmarshal(text, &head); err != nil || head.Op != op {
		p.t.Fatalf("got %s, expected op %s", text, op)
	}
	if err := json.Unmarshal(text, &into); err != nil {
		p.t.Fatalf("%s: %v", text, err)
	}
	return into
}

// end reads until the connection's end and returns what came before it.
func (p *peer) end() (texts []string) {
	p.socket.SetReadDeadline(time.Now().Add(time.Minute))
	for {
		_, text, err := p.socket.ReadMessage()
		if err != nil {
			var timeout net.Error
			if errors.As(err, &timeout) && timeout.Timeout() {
				p.t.Fatal("the connection did not end")
			}
			p.cut()
			return texts
		}
		texts = append(texts, string(text))
	}
}

func (p *peer) send(messages ...any) {
	p.t.Helper()
	for _, m := range messages {
		text, ok := m.(string)
		if !ok {
			b, err := json.Marshal(m)
			if err != nil {
				p.t.Fatal(err)
			}
			text = string(b)
		}
		p.socket.SetWriteDeadline(time.Now().Add(time.Minute))
		if err := p.socket.WriteMessage(websocket.TextMessage, []byte(text)); err != nil {
			p.t.Fatalf("sending %.80s: %v", text, err)
		}
	}
}

// cut ends the connection without a word.
func (p *peer) cut() {
	p.once.Do(func() {
		p.socket.Close()
		close(p.ended)
	})
}

// welcome answers hello, and returns it.
func (p *peer) welcome(session string) protocol.Hello {
	p.t.Helper()
	hello := expect[protocol.Hello](p, protocol.OpHello)
	p.send(welcomeFor(hello, session))
	return hello
}

func welcomeFor(hello protocol.Hello, session string) protocol.Welcome {
	attachment := uint64(1)
	if hello.Attachment != nil {
		attachment = *hello.Attachment
	}
	return protocol.Welcome{
		Op: protocol.OpWelcome, Broker: "b1", Client: hello.Client, Session: session,
		Attachment: attachment, Heartbeat: 1, Window: 1024,
		Brokers: []protocol.BrokerURL{{ID: "b1", URL: "ws://b1/ws"}},
	}
}

func notify(source string, seq, skipped uint64) protocol.Notify {
	return protocol.Notify{
		Op: protocol.OpNotify, Source: source, Seq: seq, Skipped: skipped, Robot: "r0", Interface: "laser",
		Time: float64(seq), Subscriptions: []protocol.Matched{{ID: "near"}}, Reading: json.RawMessage(`{"min":0.5}`),
	}
}

func subscribedTo(id string) protocol.Subscribed {
	return protocol.Subscribed{Op: protocol.OpSubscribed, ID: id, Sources: []string{"s1"}, Robots: 1}
}

func number(n uint64) *uint64 { return &n }

// running is a client that runs in the test, with what it delivered.
type running struct {
	*Client
	t      *testing.T
	events chan Event
	cancel context.CancelFunc
	result chan error
}

// start runs a client against the fake broker until the test's end.
func start(t *testing.T, f *fakeBroker, config Config) *running {
	t.Helper()
	r := &running{t: t, events: make(chan Event, 10000), result: make(chan error, 1)}
	if config.Brokers == nil {
		config.Brokers = []string{"ws://broker/ws"}
	}
	if f != nil {
		config.Dial = f.pipes.dial
	}
	if config.Handle == nil && config.HandleMany == nil {
		config.Handle = func(e Event) { r.events <- e }
	}
	client, err := New(config)
	if err != nil {
		t.Fatal(err)
	}
	r.Client = client
	ctx, cancel := context.WithCancel(context.Background())
	r.cancel = cancel
	go func() { r.result <- client.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		<-client.Done()
	})
	return r
}

// next returns the next event, which must be of type T.
func next[T Event](r *running) T {
	r.t.Helper()
	select {
	case e := <-r.events:
		got, ok := e.(T)
		if !ok {
			r.t.Fatalf("got event %T %+v, expected %T", e, e, got)
		}
		return got
	case <-time.After(time.Minute):
		var want T
		r.t.Fatalf("no event came, expected %T", want)
		return want
	}
}

// attachedTo subscribes to "near" and returns the broker's end.
func (r *running) attachedTo(f *fakeBroker, session string) *peer {
	r.t.Helper()
	p := f.accept()
	p.welcome(session)
	next[*Attached](r)
	done := r.subscribe("near")
	expect[protocol.Subscribe](p, protocol.OpSubscribe)
	p.send(subscribedTo("near"))
	if err := <-done; err != nil {
		r.t.Fatal(err)
	}
	return p
}

// subscribe subscribes without waiting.
func (r *running) subscribe(id string) <-chan error {
	done := make(chan error, 1)
	go func() {
		_, err := r.Subscribe(context.Background(), Subscription{ID: id, Condition: "laser.min < 1"})
		done <- err
	}()
	return done
}
