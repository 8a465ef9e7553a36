package push

import (
	"fmt"
	"net"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gorilla/websocket"

	"callboard/subscribe/protocol"
)

// pipes is a listener in memory: sockets would stop the fake time.
type pipes struct {
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func newPipes() *pipes { return &pipes{conns: make(chan net.Conn), closed: make(chan struct{})} }

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case conn := <-p.conns:
		return conn, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error   { p.once.Do(func() { close(p.closed) }); return nil }
func (p *pipes) Addr() net.Addr { return &net.UnixAddr{Name: "pipe", Net: "pipe"} }

func (p *pipes) dial(string, string) (net.Conn, error) {
	near, far := net.Pipe()
	select {
	case p.conns <- far:
		return near, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

// For a client without an id the broker is told what was written: much of it
// soon, but not in the same moment, in which other clients are yet to read the
// same; little of it a while after the first.
func TestWrittenIsAcknowledged(t *testing.T) {
	small, big := []byte(`{}`), []byte(`"`+strings.Repeat("9", 256<<10)+`"`)
	for _, tt := range []struct {
		name     string
		readings int
		reading  []byte
		rest     int           // readings that follow, one each millisecond
		from, to time.Duration // after the readings are written
		upTo     int
	}{
		{"many", 64, small, 0, time.Millisecond, 10 * time.Millisecond, 64},
		{"large", 1, big, 0, time.Millisecond, 10 * time.Millisecond, 1},
		{"many, and more follow", 64, small, 50, time.Millisecond, 10 * time.Millisecond, 64},
		{"few", 63, small, 0, time.Second, time.Second, 63},
		{"few, and few more", 1, small, 50, time.Second, time.Second, 51},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				listener := newPipes()
				s := start(t, Config{Listener: listener})
				c := s.dial(t, &websocket.Dialer{NetDial: listener.dial}, nil)
				c.send(`{"op":"hello"}`)
				c.expect(welcome)
				notify := func(seq int) { // and the client has it
					s.broker.out(1).Notify(protocol.Notify{Source: "b1", Seq: uint64(seq), Reading: tt.reading}, time.Now())
					c.next()
				}
				for i := range tt.readings {
					notify(i + 1)
				}
				written, rest := time.Now(), tt.rest
				tick := time.NewTicker(time.Millisecond)
				defer tick.Stop()
				call := ""
				for after := time.Duration(0); !strings.HasPrefix(call, "ack "); after = time.Since(written) {
					if after > patience {
						t.Fatal("the broker is not told")
					}
					select {
					case call = <-s.broker.calls:
					case <-tick.C:
						if rest > 0 {
							notify(tt.readings + tt.rest - rest + 1)
							rest--
						}
					}
				}
				if after := time.Since(written); after < tt.from || after > tt.to {
					t.Errorf("the broker is told after %v, expected between %v and %v", after, tt.from, tt.to)
				}
				upTo := 0
				if _, err := fmt.Sscanf(call, "ack 1 b1 %d", &upTo); err != nil || upTo < tt.upTo || upTo > tt.readings+tt.rest-rest {
					t.Errorf("the broker is told %q, expected of b1 what was written, %d at least", call, tt.upTo)
				}
			})
		})
	}
}

// What only latest subscriptions name counts as acknowledged when a client
// without an id has read it, and not when its socket has it: else a slow one
// would read what is old.
func TestLatestIsAcknowledgedWhenRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		listener := newPipes()
		s := start(t, Config{Listener: listener})
		c := s.dial(t, &websocket.Dialer{NetDial: listener.dial}, nil)
		c.send(`{"op":"hello"}`)
		c.expect(welcome)
		notify := func(seq uint64, latest bool) {
			s.broker.out(1).Notify(protocol.Notify{Source: "b1", Seq: seq, Reading: []byte(`{}`), Latest: latest}, time.Now())
		}
		quiet := func() {
			t.Helper()
			time.Sleep(2 * ackDelay)
			for len(s.broker.calls) > 0 {
				if call := <-s.broker.calls; strings.HasPrefix(call, "ack ") {
					t.Fatalf("the broker is told %q of a client that does not read", call)
				}
			}
		}
		notify(1, true)
		c.next() // but for the ping behind it
		quiet()
		notify(2, false) // an acknowledgement would be of 1 too
		quiet()
		c.next() // past the ping
		s.broker.expect(t, "ack 1 b1 1")
		s.broker.expect(t, "ack 1 b1 2") // as always
		notify(3, true)
		c.next()
		quiet()
		go c.ReadMessage()
		s.broker.expect(t, "ack 1 b1 3")
	})
}
