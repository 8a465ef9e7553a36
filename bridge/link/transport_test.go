package link

import (
	"bytes"
	"context"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"callboard/bridge/overlay"
	"callboard/player/deadline/deadlinetest"
)

// network is a way for two brokers to reach each other.
type network struct {
	name   string
	listen func(t *testing.T) net.Listener
	of     func(id string) Transport // of the broker with that id
	// segments are those that a broker is on; nil: none.
	segments func() []Segment
}

func networks(t *testing.T) []network {
	var memory memoryNet
	ca := newAuthority(t)
	tcp := func(t *testing.T) net.Listener {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	inMemory := func(t *testing.T) net.Listener {
		l, err := memory.Listen(t.Name())
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	lossy := newLossyNet(1, 0.05)
	keyed := func(inner func(string) *TLS) func(string) Transport {
		return func(id string) Transport {
			k, err := NewKeyed([]byte("the network's key"), inner(id))
			if err != nil {
				t.Fatal(err)
			}
			return k
		}
	}
	return []network{
		{"memory", inMemory, func(string) Transport { return &memory }, nil},
		{"tcp", tcp, func(string) Transport { return TCP{} }, nil},
		{"tls", tcp, func(id string) Transport { return ca.sign(t, id) }, nil},
		{"keyed", tcp, keyed(func(string) *TLS { return nil }), nil},
		{"keyed, with certificates", tcp, keyed(func(id string) *TLS { return ca.sign(t, id) }), nil},
		{"segment", inMemory, func(string) Transport { return &memory }, func() []Segment { return []Segment{{Group: lossy.join()}} }},
	}
}

// dialing is TCP that dials in another way.
type dialing struct {
	TCP
	dial func(ctx context.Context, address string) (net.Conn, error)
}

func (d dialing) Dial(ctx context.Context, address string) (net.Conn, error) {
	return d.dial(ctx, address)
}

// pair starts b1, which dials, and b2.
func pair(t *testing.T, n network, change func(*Config)) (b1, b2 *broker) {
	listener := n.listen(t)
	c2 := Config{Self: "b2", Neighbours: []Neighbour{{ID: "b1"}}, Listener: listener, Transport: n.of("b2")}
	c1 := Config{Self: "b1", Neighbours: []Neighbour{{ID: "b2", Address: listener.Addr().String()}}, Transport: n.of("b1")}
	if n.segments != nil {
		c1.Segments, c2.Segments = n.segments(), n.segments()
	}
	if change != nil {
		change(&c1)
		change(&c2)
	}
	b2 = start(t, calm(c2))
	b1 = start(t, calm(c1))
	return b1, b2
}

// TestTransports is what links promise over any transport.
func TestTransports(t *testing.T) {
	for _, n := range networks(t) {
		for _, promise := range []struct {
			name string
			test func(t *testing.T, n network)
		}{
			{"frames come whole and in order", func(t *testing.T, n network) { framesComeInOrder(t, n, false) }},
			{"compressed too", func(t *testing.T, n network) { framesComeInOrder(t, n, true) }},
			{"what waits for a busy neighbour is bounded and counted", busyNeighbour},
			{"the dialing side ends it", func(t *testing.T, n network) { oneSideEnds(t, n, true) }},
			{"the other side ends it", func(t *testing.T, n network) { oneSideEnds(t, n, false) }},
			{"a neighbour that falls silent", silentNeighbour},
			{"a connection that is cut", cutConnection},
			{"a process that stood still", standstill},
			{"another broker answers", anotherBroker},
			{"who dials says nothing", silentDialer},
			{"who is dialed says nothing", silentListener},
		} {
			t.Run(n.name+"/"+promise.name, func(t *testing.T) { promise.test(t, n) })
		}
	}
}

func framesComeInOrder(t *testing.T, n network, compress bool) {
	b1, b2 := pair(t, n, func(c *Config) { c.Compress = compress })
	up1, up2 := b1.expect(t, "up"), b2.expect(t, "up")
	const frames = 300
	sent := make([][]overlay.Message, frames)
	for i := range sent {
		sent[i] = []overlay.Message{reading(i), head(uint64(i))}
	}
	long := reading(0)
	long.Reading.JSON = bytes.Repeat([]byte("long"), 1<<18)
	sent[frames/2] = []overlay.Message{long}
	for i := range sent {
		b1.Send(frameTo("b2", up1.session, sent[i]...))
		b2.Send(frameTo("b1", up2.session, sent[i]...))
	}
	for _, to := range []*broker{b1, b2} {
		for i := range sent {
			got := to.expect(t, "frame")
			if diff := cmp.Diff(sent[i], got.messages, cmpopts.IgnoreUnexported(overlay.Reading{}, overlay.Subscription{}), cmp.Comparer(bytes.Equal)); diff != "" {
				t.Fatalf("frame %d: %s", i, diff)
			}
		}
	}
	st := b1.Status()[0]
	if !st.Up || st.Compressed != compress || st.Sent.Frames != frames || st.Received.Messages != 2*frames-1 || !st.Dials {
		t.Errorf("%+v", st)
	}
	if less := st.Received.Bytes < st.Received.Plain/4; less != compress {
		t.Errorf("%d bytes for %d", st.Received.Bytes, st.Received.Plain)
	}
}

func busyNeighbour(t *testing.T, n network) {
	h := &blocking{recorder: newRecorder(), release: make(chan struct{})}
	const room = 200_000
	b1, _ := pair(t, n, func(c *Config) {
		c.QueueBytes, c.DialMin = room, time.Minute // no session follows before the test has looked
		if c.Self == "b2" {
			c.Handler = h
		}
	})
	release := sync.OnceFunc(func() { close(h.release) })
	t.Cleanup(release)
	session := b1.expect(t, "up").session
	h.expect(t, "up")
	sent := uint64(0)
	for b1.Status()[0].Dropped == 0 {
		b1.Send(frameTo("b2", session, reading(int(sent))))
		sent++
		if waiting := b1.Status()[0].Waiting; waiting > room {
			t.Fatalf("%d bytes wait", waiting)
		}
	}
	b1.expect(t, "down")
	st := b1.Status()[0]
	if !strings.Contains(st.Problem, "more waits to be sent than may") || st.Dropped+st.Sent.Messages != sent {
		t.Errorf("%q; %d dropped and %d on their way of %d", st.Problem, st.Dropped, st.Sent.Messages, sent)
	}
	release()
	h.expect(t, "down")
}

func oneSideEnds(t *testing.T, n network, dialing bool) {
	ends, other := pair(t, n, nil)
	if !dialing {
		ends, other = other, ends
	}
	session := ends.expect(t, "up").session
	other.expect(t, "up")
	ends.stop()
	if ends.err != nil {
		t.Error(ends.err)
	}
	if down := ends.expect(t, "down"); down.session != session {
		t.Errorf("session %d ended; expected %d", down.session, session)
	}
	other.expect(t, "down")
	if !dialing {
		return // the other dials again, and has another problem by now
	}
	if st := other.Status()[0]; st.Up || st.Problem != "it ended the session: the broker stops" {
		t.Errorf("%+v", st)
	}
}

// reach connects to an address as a stranger who is b1.
func (n network) reach(t *testing.T, address string) *stranger {
	t.Helper()
	transport := n.of("b1")
	conn, err := transport.Dial(t.Context(), address)
	if err == nil {
		conn, err = transport.Secure(t.Context(), conn, true)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return newStranger(t, conn)
}

func silentNeighbour(t *testing.T, n network) {
	listener := n.listen(t)
	b2 := start(t, Config{Self: "b2", Neighbours: []Neighbour{{ID: "b1"}}, Listener: listener, Transport: n.of("b2"), Handshake: time.Minute, Heartbeat: 20 * time.Millisecond})
	s := n.reach(t, listener.Addr().String())
	s.write(helloPiece(func(h *hello) { h.Heartbeat = 20_000 }))
	s.expect(pieceHello, "b2")
	s.write(beginning)
	b2.expect(t, "up")
	s.expect(pieceBye, "nothing came for 60ms")
	b2.expect(t, "down")
	if _, _, err := s.read(); err == nil {
		t.Error("the connection was not closed")
	}
}

// cutting is a transport whose first connection breaks, somewhere in a frame.
type cutting struct {
	Transport
	dials *int
}

func (c cutting) Dial(ctx context.Context, address string) (net.Conn, error) {
	conn, err := c.Transport.Dial(ctx, address)
	if *c.dials++; err != nil || *c.dials > 1 {
		return conn, err
	}
	f := &fragile{Conn: conn}
	f.left.Store(50_000)
	return f, nil
}

func cutConnection(t *testing.T, n network) {
	dials := 0
	b1, b2 := pair(t, n, func(c *Config) {
		if c.Self == "b1" {
			c.Transport = cutting{c.Transport, &dials}
		}
	})
	up, there := b1.expect(t, "up"), b2.expect(t, "up")
	for i := range 100 {
		b1.Send(frameTo("b2", up.session, reading(i)))
	}
	b1.expect(t, "down")
	came := 0
	for e := range b2.events {
		if e.what != "frame" {
			if e.what != "down" || e.session != there.session {
				t.Fatalf("%s of session %d; expected the end of %d", e.what, e.session, there.session)
			}
			break
		}
		if diff := cmp.Diff([]overlay.Message{reading(came)}, e.messages, cmpopts.IgnoreUnexported(overlay.Reading{}, overlay.Subscription{})); diff != "" {
			t.Fatalf("frame %d: %s", came, diff)
		}
		came++
	}
	if came < 10 || came > 70 {
		t.Errorf("%d frames of 0.8 kB came in 50 kB", came)
	}
	b1.Send(frameTo("b2", b1.expect(t, "up").session, head(7)))
	b2.expect(t, "up")
	if got := b2.expect(t, "frame").messages[0].(*overlay.HeadMessage); got.Last != 7 {
		t.Errorf("%+v in the next session", got)
	}
}

func standstill(t *testing.T, n network) {
	var still deadlinetest.Standstill
	b1, b2 := pair(t, n, func(c *Config) {
		if c.Self == "b2" {
			c.Listener = still.Listen(c.Listener)
		}
	})
	session := b1.expect(t, "up").session
	b2.expect(t, "up")
	for i := range 20 {
		still.End()
		b1.Send(frameTo("b2", session, reading(i)))
		b2.expect(t, "frame")
	}
	if n := len(b1.events) + len(b2.events); n > 0 {
		t.Errorf("the link did not stay: %s %s", b1.Status()[0].Problem, b2.Status()[0].Problem)
	}
}

func anotherBroker(t *testing.T, n network) {
	listener := n.listen(t)
	b9 := start(t, calm(Config{Self: "b9", Neighbours: []Neighbour{{ID: "b1"}}, Listener: listener, Transport: n.of("b9")}))
	b1 := start(t, calm(Config{Self: "b1", Neighbours: []Neighbour{{ID: "b2", Address: listener.Addr().String()}}, Transport: n.of("b1")}))
	b9.awaitLog(t, `it wants broker \"b2\"; this is \"b9\"`)
	b1.awaitLog(t, `it refuses: it wants broker \"b2\"; this is \"b9\"`)
	if len(b1.events)+len(b9.events) > 0 {
		t.Error("there was a session")
	}
}

func silentDialer(t *testing.T, n network) {
	listener := n.listen(t)
	b2 := start(t, Config{Self: "b2", Neighbours: []Neighbour{{ID: "b1"}}, Listener: listener, Transport: n.of("b2"), Handshake: 20 * time.Millisecond})
	conn, err := n.of("b1").Dial(t.Context(), listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	b2.awaitLog(t, "link refused")
	if n, err := conn.Read(make([]byte, 100)); err == nil {
		t.Errorf("%d bytes were answered", n)
	}
}

func silentListener(t *testing.T, n network) {
	listener := n.listen(t)
	b1 := start(t, Config{Self: "b1", Neighbours: []Neighbour{{ID: "b2", Address: listener.Addr().String()}}, Transport: n.of("b1"), Handshake: 20 * time.Millisecond})
	for range 3 {
		conn, err := listener.Accept()
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
	}
	b1.awaitLog(t, "no link")
	b1.stop()
	listener.Close()
}
