package push

import (
	"bytes"
	"context"
	"crypto/tls"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"callboard/bridge/attach"
	"callboard/subscribe/protocol"
)

// pair is a dialect that is as unlike callboard.v1 as may be: its clients do not
// say hello, and a notification is two messages, text and binary, or none.
type pair struct{ over chan struct{} } // over: a Speaker was told that its connection has ended

func (pair) Choose(offered []string) (string, bool) {
	return "pair.v1", len(offered) > 0 && offered[0] == "pair.v1"
}

func (p pair) Attach(ctx context.Context, c attach.Conn, _ string) attach.Speaker {
	c.Hello(ctx, protocol.Hello{})
	return &pairSpeaker{c, p.over}
}

type pairSpeaker struct {
	conn attach.Conn
	over chan struct{}
}

// word is a message of the dialect's own.
type word struct{}

func (*word) Op() string { return "word" }

func (p *pairSpeaker) Receive(ctx context.Context, binary bool, message []byte) error {
	switch {
	case !binary:
		return &protocol.Problem{ID: "x", Code: protocol.BadMessage, Message: "a text"}
	case message[0] == 0:
		return attach.ErrTooLarge
	case message[0] == 1:
		if g := p.conn.Grant(); !p.conn.Known() || !g.Allows("r0") || g.Allows("x0") {
			return &protocol.Problem{Message: "not what the token allows"}
		}
		p.conn.Send(&word{})
		return nil
	}
	return p.conn.Command(ctx, protocol.Command{Robot: string(message), Name: "stop"}, func(_ any, err error) {
		p.conn.Send(&protocol.Reply{OK: err == nil})
	})
}

func (p *pairSpeaker) Notify(to attach.Messages, n *protocol.Notify) {
	if n.Reading == nil {
		return
	}
	to.EndWith(append(to.Begin(false), "first "...), n.Reading, []byte(" end"))
	to.EndWith(append(to.Begin(true), 1, 2), n.Reading, nil)
}

func (p *pairSpeaker) Send(to attach.Messages, m any) {
	to.End(fmt.Appendf(to.Begin(false), "%T", m))
}

func (p *pairSpeaker) End() { close(p.over) }

// TestAnyDialect: whatever is spoken, and however the connection is made, each
// message comes whole and in order, and rights are those of the token.
func TestAnyDialect(t *testing.T) {
	certFile, keyFile, roots := certificate(t)
	secure, err := LoadTLS(certFile, keyFile)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name   string
		config Config
		dialer websocket.Dialer
	}{
		{"plain", Config{}, websocket.Dialer{}},
		{"compressed", Config{}, websocket.Dialer{EnableCompression: true}},
		{"secure", Config{TLS: secure}, websocket.Dialer{TLSClientConfig: &tls.Config{RootCAs: roots}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			over := make(chan struct{})
			tt.config.dialects = map[string]attach.Dialect{"/ws": pair{over}}
			tt.config.Tokens = labTokens
			s := start(t, tt.config)
			if tt.config.TLS == nil {
				_, response, err := tt.dialer.Dial("ws://"+s.addr+"/ws", http.Header{"Authorization": {"Bearer s3cret"}})
				if err == nil || response.StatusCode != http.StatusBadRequest {
					t.Errorf("without its subprotocol: %v", err)
				}
			}
			tt.dialer.Subprotocols = []string{"pair.v1"}
			c := s.dial(t, &tt.dialer, http.Header{"Authorization": {"Bearer s3cret"}})
			if c.Subprotocol() != "pair.v1" {
				t.Fatalf("the subprotocol is %q", c.Subprotocol())
			}
			c.expect("*protocol.Welcome")
			c.send("x")
			c.expect("*protocol.Error")
			for _, robot := range []string{"x0", "r0"} { // one is forbidden
				if err := c.WriteMessage(websocket.BinaryMessage, []byte(robot)); err != nil {
					t.Fatal(err)
				}
				c.expect(map[string]string{"x0": "*protocol.Error", "r0": "*protocol.Reply"}[robot])
			}
			if err := c.WriteMessage(websocket.BinaryMessage, []byte{1}); err != nil {
				t.Fatal(err)
			}
			c.expect("*push.word")
			out := s.broker.out(1)
			for i, reading := range [][]byte{[]byte("small"), bytes.Repeat([]byte("large"), 20_000), nil, []byte("last")} {
				n := protocol.Notify{Source: "b1", Seq: uint64(i + 1), Reading: reading}
				for _, soon := range []bool{true, false} {
					atRest(t, out.(*outbox))
					if soon {
						out.NotifySoon(n, time.Time{})
						out.Flush()
					} else {
						out.Notify(n, time.Time{})
					}
					if reading == nil {
						continue
					}
					c.expect("first " + string(reading) + " end")
					c.expect("\x01\x02" + string(reading))
				}
			}
			s.broker.expect(t, "ack 1 b1 4") // what was written counts as acknowledged
			atRest(t, out.(*outbox))
			out.Notify(protocol.Notify{Source: "b1", Seq: 5}, time.Time{})
			s.broker.expect(t, "ack 1 b1 5") // also what the dialect had nothing to say of
			if err := c.WriteMessage(websocket.BinaryMessage, []byte{0}); err != nil {
				t.Fatal(err)
			}
			c.closed(websocket.CloseMessageTooBig)
			c.Close()
			select {
			case <-over:
			case <-time.After(patience):
				t.Error("the Speaker was not told that the connection has ended")
			}
		})
	}
}
