package push

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"math"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"callboard/bridge/attach"
	"callboard/player/deadline/deadlinetest"
	"callboard/subscribe/protocol"
)

// TestStoodStill: a server that stood still until all deadlines had passed goes
// on with the clients that have said something.
func TestStoodStill(t *testing.T) {
	for _, secure := range []bool{false, true} {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		var still deadlinetest.Standstill
		config, dialer := Config{Listener: still.Listen(listener)}, (*websocket.Dialer)(nil)
		if secure {
			certFile, keyFile, roots := certificate(t)
			if config.TLS, err = LoadTLS(certFile, keyFile); err != nil {
				t.Fatal(err)
			}
			dialer = &websocket.Dialer{Subprotocols: []string{protocol.Subprotocol}, TLSClientConfig: &tls.Config{RootCAs: roots}}
		}
		c := start(t, config).dial(t, dialer, nil)
		still.End() // while hello is waited for
		c.send(`{"op":"hello"}`)
		c.expect(welcome)
		for range 3 {
			still.End()
			c.send(`{"op":"list","id":"l","what":"brokers"}`)
			c.expect(`{"op":"reply","id":"l","ok":true,"result":[{"token":"","what":"brokers"}]}`)
		}
	}
}

func TestTranscript(t *testing.T) {
	s := start(t, Config{})
	c := s.dial(t, nil, nil)
	for _, step := range []struct{ say, told, want string }{
		{`{"op":"hello","client":"c1","attachment":4,"session":"s0","num":{"b1":7},"subscriptions":[{"id":"a","condition":"true"}],"more":1}`,
			`hello 1 {"op":"hello","client":"c1","attachment":4,"session":"s0","num":{"b1":7},"subscriptions":[{"id":"a","condition":"true"}]} ""`,
			strings.Replace(welcome, `"client":""`, `"client":"c1"`, 1)},
		{`{"op":"subscribe","id":"b","condition":"laser.min < 1","robots":["r*"],"devices":["laser:0"],"trigger":"rising","min_interval":0.5,"for":2,"select":{"m":"laser.min"},"keep":"latest"}`,
			`subscribe 1 {"id":"b","condition":"laser.min \u003c 1","robots":["r*"],"devices":["laser:0"],"trigger":"rising","min_interval":0.5,"for":2,"select":{"m":"laser.min"},"keep":"latest"}`,
			`{"op":"subscribed","id":"b","sources":["b1"],"robots":2}`},
		{`{"op":"subscribe","id":"c","condition":"1 +"}`, `subscribe 1 `,
			`{"op":"error","id":"c","code":"bad_condition","message":"it ends too early","position":{"line":1,"column":4}}`},
		{`{"op":"unsubscribe","id":"b"}`, `unsubscribe 1 b`, `{"op":"reply","id":"b","ok":true}`},
		{`{"op":"command","id":"d","robot":"r0","interface":"position2d","index":0,"name":"velocity","args":[0.5,null,"<"],"ttl":2}`, ``,
			`{"op":"reply","id":"d","ok":true,"result":{"args":[0.5,null,"<"],"did":"velocity"}}`},
		{`{"op":"list","id":"e","what":"robots"}`, ``, `{"op":"reply","id":"e","ok":true,"result":[{"token":"","what":"robots"}]}`},
		{`{"op":"hello"}`, ``, `{"op":"error","code":"bad_message","message":"hello for the second time; expected it once a connection"}`},
	} {
		c.send(step.say)
		if step.told != "" {
			s.broker.expect(t, step.told)
		}
		c.expect(step.want)
	}
	c.send(`{"op":"update","id":"b","trigger":"change","select":{},"robots":[],"for":0}`)
	s.broker.expect(t, `update 1 {"op":"update","id":"b","robots":[],"trigger":"change","for":0,"select":{}}`)
	c.send(`{"op":"ack","source":"b1","num":18446744073709551615}`)
	s.broker.expect(t, `ack 1 b1 18446744073709551615`)
	if err := c.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(4000, "bye"), time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	c.closed(4000)
	s.broker.expect(t, `disconnect 1`)
}

func TestWhatTheBrokerSends(t *testing.T) {
	s := start(t, Config{})
	c := s.greeted(t)
	out := s.broker.out(1)
	yes, to, lost := true, uint64(9), uint64(3)
	out.Notify(protocol.Notify{
		Source: "b1:\"1", Seq: 3, Skipped: 1, Robot: "r\n\x01\xff\u2028é", Interface: "laser", Index: 1, Time: 12.25,
		Subscriptions: []protocol.Matched{{ID: "a"}, {ID: "b", State: &yes}, {ID: "c", Values: []byte(`{"m":1}`)}}, Reading: []byte(`{"min":0.5}`),
	}, time.Now())
	out.Notify(protocol.Notify{Source: "b1", Seq: 1, Robot: "r0", Interface: "laser", Time: math.NaN(), Subscriptions: []protocol.Matched{{ID: "c", Values: []byte(`{}`)}}}, time.Time{})
	out.Send(&protocol.Gap{Source: "b1", From: 4, To: &to, Why: "limit"})
	out.Send(&protocol.Gap{Source: "b1", From: 4, Why: "lost", Next: "b1:2"})
	out.Send(&protocol.Robot{Robot: "r0", Source: "b1", State: protocol.RobotOverflow, Lost: &lost, Since: 1.5})
	out.Send(&protocol.Error{Code: protocol.Conflict, Message: "taken", Attachment: &to})
	for _, want := range []string{
		`{"op":"notify","source":"b1:\"1","seq":3,"skipped":1,"robot":"r\n\u0001\ufffd\u2028é","interface":"laser","index":1,"time":12.25,"subscriptions":[{"id":"a"},{"id":"b","state":true},{"id":"c","values":{"m":1}}],"reading":{"min":0.5}}`,
		`{"op":"notify","source":"b1","seq":1,"robot":"r0","interface":"laser","index":0,"time":null,"subscriptions":[{"id":"c","values":{}}]}`,
		`{"op":"gap","source":"b1","from":4,"to":9,"why":"limit"}`,
		`{"op":"gap","source":"b1","from":4,"why":"lost","next":"b1:2"}`,
		`{"op":"robot","robot":"r0","source":"b1","state":"overflow","lost":3,"since":1.5}`,
		`{"op":"error","code":"conflict","message":"taken","attachment":9}`,
	} {
		c.expect(want)
	}
	out.Send(&protocol.Heartbeat{Broker: "b1", Time: 1e9})
	c.expect(`{"op":"heartbeat","broker":"b1","time":1000000000}`)
	out.Close(protocol.Conflict, "another connection has taken over")
	c.closed(4409)
	s.broker.expect(t, "disconnect 1")
	out.Notify(protocol.Notify{}, time.Time{})
	out.Send(&protocol.Gap{})
	out.Close("", "")
}

// A message that is wrong gets an answer, and the connection goes on.
func TestGarbage(t *testing.T) {
	s := start(t, Config{})
	deep := strings.Repeat("[", 500_000)
	tests := []struct{ say, message string }{
		{``, "not JSON: it ends too early"},
		{`{"op":`, "not JSON: it ends too early"},
		{`{"op":"ack"} {}`, "behind the object"},
		{deep, "expected an object"},
		{`{"a":` + deep, "exceeded max depth"},
		{`null`, "expected an object"},
		{`{}`, "`op`: missing"},
		{`{"op":"shout","id":"x"}`, "is unknown"},
		{`{"op":"subscribe","id":"x","condition":"true","intervall":1}`, "`intervall`: unknown field"},
		{`{"op":"update","id":"x","conditon":"true"}`, "`conditon`: unknown field"},
		{`{"op":"ack","source":"b1","num":-1}`, "`num`: this is the number -1"},
		{`{"op":"command","id":"q","robot":"r0"}`, "`name`: missing"},
		{`{"op":"list","id":"x","what":"cats"}`, "cats"},
		{`{"op":"command","id":"q","robot":"r0","name":"x","args":[` + strings.Repeat(`[],`, 340_000) + `[]]}`, ""},
	}
	c := s.greeted(t)
	for _, tt := range tests {
		c.send(tt.say)
		got := c.next()
		if tt.message == "" && strings.HasPrefix(got, `{"op":"reply","id":"q","ok":true`) {
			continue // it is allowed
		}
		if !strings.Contains(got, `"op":"error"`) || !strings.Contains(got, `"code":"bad_message"`) || !strings.Contains(got, tt.message) {
			t.Errorf("%.100s: got %s, expected bad_message: %s", tt.say, got, tt.message)
		}
	}
	if err := c.WriteMessage(websocket.BinaryMessage, []byte(`{"op":"list"}`)); err != nil {
		t.Fatal(err)
	}
	c.expect(`{"op":"error","code":"bad_message","message":"a binary frame; expected JSON in a text frame"}`)
	c.send(`{"op":"list","id":"still here","what":"brokers"}`)
	if got := c.next(); !strings.Contains(got, `"ok":true`) {
		t.Errorf("afterwards: %s", got)
	}
}

func TestBeforeHello(t *testing.T) {
	s := start(t, Config{MaxSubscriptions: 2})
	c := s.dial(t, nil, nil)
	for _, tt := range []struct{ say, want string }{
		{`{"op":"list","id":"a","what":"robots"}`, `{"op":"reply","id":"a","ok":false,"error":{"code":"bad_message","message":"list before hello; expected hello first"}}`},
		{`{"op":"subscribe","id":"a","condition":"true"}`, `{"op":"error","id":"a","code":"bad_message","message":"subscribe before hello; expected hello first"}`},
		{`{"op":"ack","source":"b","num":1}`, `{"op":"error","code":"bad_message","message":"ack before hello; expected hello first"}`},
		{`{"op":"hello","num":[1]}`, `{"op":"error","code":"bad_message"`},
		{`{"op":"hello","subscriptions":[3]}`, `{"op":"error","code":"bad_message"`},
		{`{"op":"hello","subscriptions":[{},{},{}],"client":"` + strings.Repeat("x", 4<<10) + `"}`, `{"op":"error","code":"overloaded","message":"3 subscriptions in one message; expected at most 2"}`},
	} {
		c.send(tt.say)
		if got := c.next(); !strings.HasPrefix(got, tt.want) {
			t.Errorf("%.100s: got %s, expected %s", tt.say, got, tt.want)
		}
	}
	// It may be said right after all that, others following without waiting.
	c.send(`{"op":"hello"}`)
	c.send(`{"op":"subscribe","id":"b","condition":"true"}`)
	c.expect(welcome)
	c.expect(`{"op":"subscribed","id":"b","sources":["b1"],"robots":2}`)
}

func TestHelloThatTheBrokerRefuses(t *testing.T) {
	newest := uint64(7)
	s := start(t, Config{})
	s.broker.hello = func(out attach.Outbox, m protocol.Hello) error {
		if m.Attachment != nil {
			return &protocol.Problem{Code: protocol.Conflict, Message: "a newer attachment is known", Attachment: &newest}
		}
		return errors.New("the registry does not answer")
	}
	c := s.dial(t, nil, nil)
	c.send(`{"op":"hello","attachment":3}`)
	c.expect(`{"op":"error","code":"conflict","message":"a newer attachment is known","attachment":7}`)
	c.send(`{"op":"hello"}`)
	c.expect(`{"op":"error","code":"unavailable","message":"the registry does not answer"}`)
}

func TestNoHello(t *testing.T) {
	s := start(t, Config{HelloTimeout: 50 * time.Millisecond})
	c := s.dial(t, nil, nil)
	c.expect(`{"op":"error","code":"bad_message","message":"no hello came within 50ms; expected it first"}`)
	c.closed(1008)
	// Garbage gives no more time, nor do pings.
	c = s.dial(t, nil, nil)
	c.send("x")
	if err := c.WriteControl(websocket.PingMessage, nil, time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	c.closed(1008)
}

// allGivenBack waits until no message takes of what is there for large ones: it
// is given back behind the answer.
func (s *started) allGivenBack(t testing.TB) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := s.large.Acquire(ctx, s.maxLarge); err != nil {
		t.Fatal("some bytes for large messages are still taken")
	}
	s.large.Release(s.maxLarge)
}

func TestSizes(t *testing.T) {
	const maxHello = 4 << 20
	s := start(t, Config{maxHello: maxHello})
	pad := func(text string, size int) string { return text + strings.Repeat(" ", size-len(text)) }
	c := s.dial(t, nil, nil)
	c.send(pad(`{"op":"hello"}`, maxHello))
	c.expect(welcome)
	s.allGivenBack(t)
	c.send(pad(`{"op":"list","id":"a","what":"robots"}`, protocol.MaxMessage))
	if got := c.next(); !strings.Contains(got, `"ok":true`) {
		t.Errorf("a message of the largest size: %s", got)
	}
	c.send(pad(`{"op":"list","id":"a","what":"robots"}`, protocol.MaxMessage+1))
	c.closed(1009)

	c = s.dial(t, nil, nil)
	_ = c.WriteMessage(websocket.TextMessage, []byte(pad(`{"op":"hello"}`, maxHello+1)))
	c.closed(1009)

	c = s.dial(t, nil, nil)
	c.send(pad(`{"op":"hello","num":7}`, protocol.MaxMessage+1))
	if got := c.next(); !strings.Contains(got, "bad_message") {
		t.Errorf("a large hello that is wrong: %s", got)
	}
	c.send(`{"op":"hello","subscriptions":[` + strings.Repeat(`{},`, 1<<20) + `{}]}`)
	if got := c.next(); !strings.Contains(got, "overloaded") {
		t.Errorf("a hello with a million subscriptions: %s", got)
	}
	c.send(pad(`{"op":"list","id":"a","what":"robots"}`, protocol.MaxMessage+1))
	c.closed(1009)
	s.allGivenBack(t)
}

// Faults in the frames end a connection with 1002, and a close frame says so.
func TestBadFrames(t *testing.T) {
	s := start(t, Config{})
	c := s.greeted(t)
	if _, err := c.NetConn().Write([]byte{0xF1, 0x80, 1, 2, 3, 4}); err != nil { // reserved bits
		t.Fatal(err)
	}
	// The close frame arrives though more comes than is read: no reset.
	for range 64 {
		_, _ = c.NetConn().Write(make([]byte, 64<<10)) // as long as it is read
	}
	c.closed(1002)
	s.broker.expect(t, "disconnect 1")
	c = s.greeted(t)
	if err := c.NetConn().(*net.TCPConn).SetLinger(0); err != nil {
		t.Fatal(err)
	}
	c.Close()
	s.broker.expect(t, "disconnect 2")
}

func TestClientsWithoutIDAreAcknowledgedWhenWritten(t *testing.T) {
	s := start(t, Config{})
	c := s.greeted(t)
	out := s.broker.out(1)
	out.Notify(protocol.Notify{Source: "b1", Seq: 41}, time.Time{})
	s.broker.expect(t, "ack 1 b1 41")
	c.next()
	d := s.dial(t, nil, nil)
	d.send(`{"op":"hello","client":"lasting"}`)
	d.next()
	s.broker.out(2).Notify(protocol.Notify{Source: "b1", Seq: 41}, time.Time{})
	d.next()
	d.send(`{"op":"ack","source":"b1","num":40}`)
	if call := s.broker.expect(t, "ack 2"); call != "ack 2 b1 40" {
		t.Errorf("the broker was told %q for a client with an id", call)
	}
}

// Commands to one robot keep their order; one that hangs holds up no other.
func TestCommandLanes(t *testing.T) {
	s := start(t, Config{})
	hang := make(chan struct{})
	s.broker.command = func(ctx context.Context, m protocol.Command) (any, error) {
		if m.Robot == "hangs" {
			select {
			case <-hang:
			case <-ctx.Done():
			}
		}
		return nil, nil
	}
	c := s.greeted(t)
	c.send(`{"op":"command","id":"h1","robot":"hangs","name":"stop"}`)
	c.send(`{"op":"command","id":"h2","robot":"hangs","name":"stop"}`)
	c.send(`{"op":"command","id":"r1","robot":"r0","name":"stop"}`)
	c.expect(`{"op":"reply","id":"r1","ok":true}`)
	for i := 0; i < maxPending-2; i++ {
		c.send(fmt.Sprintf(`{"op":"command","id":"x%d","robot":"hangs","name":"stop"}`, i))
	}
	c.send(`{"op":"command","id":"y","robot":"r0","name":"stop"}`)
	for range 2 { // the lane of r0 may have room again or not: the count bounds
		if got := c.next(); strings.Contains(got, `"id":"y"`) && strings.Contains(got, "overloaded") {
			break
		} else if strings.Contains(got, `"id":"y"`) {
			t.Fatalf("got %s, expected overloaded", got)
		}
	}
	close(hang)
	c.expect(`{"op":"reply","id":"h1","ok":true}`)
	c.expect(`{"op":"reply","id":"h2","ok":true}`)
	for i := 0; i < maxPending-2; i++ {
		c.expect(fmt.Sprintf(`{"op":"reply","id":"x%d","ok":true}`, i))
	}
}

// A client that goes for good says so in its close frame; what is said with another
// status, or otherwise, is no goodbye.
func TestGoodbye(t *testing.T) {
	for _, tt := range []struct {
		status int
		reason string
		want   string
	}{{1000, "goodbye", "disconnect 1 goodbye"}, {1000, "", "disconnect 1"}, {1000, "good", "disconnect 1"}, {1001, "goodbye", "disconnect 1"}} {
		s := start(t, Config{})
		c := s.greeted(t)
		if err := c.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(tt.status, tt.reason), time.Now().Add(patience)); err != nil {
			t.Fatal(err)
		}
		if got := s.broker.expect(t, "disconnect 1"); got != tt.want {
			t.Errorf("%d %q: %q, expected %q", tt.status, tt.reason, got, tt.want)
		}
		s.stop()
	}
}

func TestShutdown(t *testing.T) {
	s := start(t, Config{})
	c := s.greeted(t)
	silent := s.dial(t, nil, nil) // reads nothing, answers no close frame
	s.broker.expect(t, "connect 2")
	began := time.Now()
	stopped := make(chan error, 1)
	go func() { stopped <- s.stop() }()
	c.closed(1001)
	if err := <-stopped; err != nil {
		t.Error(err)
	}
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("it took %v, promised are 5 s", took)
	}
	silent.closed(1001)
	if _, _, err := websocket.DefaultDialer.Dial("ws://"+s.addr+"/ws", nil); err == nil {
		t.Error("a connection was taken after the end")
	}
}
