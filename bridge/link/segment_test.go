package link

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"callboard/bridge/multicast"
	"callboard/bridge/overlay"
)

// lossyNet is a segment in memory: datagrams are lost, and take their time.
type lossyNet struct {
	mu     sync.Mutex
	rng    *rand.Rand
	loss   float64 // share that each receiver loses
	deaf   map[uint16]bool
	groups map[uint16]*lossyGroup // by the port of each
	sent   int                    // bytes, with their UDP, IP and Ethernet heads
}

func newLossyNet(seed uint64, loss float64) *lossyNet {
	return &lossyNet{rng: rand.New(rand.NewPCG(seed, 1)), loss: loss, groups: map[uint16]*lossyGroup{}, deaf: map[uint16]bool{}}
}

// lossyGroup is a broker's way to it.
type lossyGroup struct {
	net    *lossyNet
	port   uint16
	in     chan []byte
	closed chan struct{}
	once   sync.Once
}

var testGroup = netip.MustParseAddrPort("239.255.67.66:8803")

func (n *lossyNet) join() *lossyGroup {
	n.mu.Lock()
	defer n.mu.Unlock()
	g := &lossyGroup{net: n, port: uint16(len(n.groups) + 1), in: make(chan []byte, 100_000), closed: make(chan struct{})}
	n.groups[g.port] = g
	return g
}

func (n *lossyNet) set(loss float64, deaf ...uint16) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.loss = loss
	clear(n.deaf)
	for _, port := range deaf {
		n.deaf[port] = true
	}
}

func (g *lossyGroup) Address() netip.AddrPort { return testGroup }
func (g *lossyGroup) Port() uint16            { return g.port }
func (g *lossyGroup) Window() int             { return 512 }

func (g *lossyGroup) Send(all []Datagram) {
	n := g.net
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, d := range all {
		n.sent += len(d.Content) + 42
		content := bytes.Clone(d.Content)
		for port, to := range n.groups {
			if d.To.Port() != 0 && d.To.Port() != port || port != g.port && n.rng.Float64() < n.loss || n.deaf[port] && d.To.Port() == 0 {
				continue
			}
			select {
			case to.in <- content:
			default:
			}
		}
	}
}

func (g *lossyGroup) Receive(take func(netip.Addr, []byte, uint32)) error {
	for {
		select {
		case d := <-g.in:
			take(netip.Addr{}, d, 0)
		case <-g.closed:
			return errors.New("closed")
		}
	}
}

func (g *lossyGroup) Close() error {
	g.once.Do(func() { close(g.closed) })
	return nil
}

// onSegment runs b0 and n neighbours of it, on a segment in memory, until the test
// ends.
func onSegment(t *testing.T, n int, loss float64) *conversation {
	c := &conversation{
		net: newLossyNet(1, loss), memory: new(memoryNet),
		want: map[overlay.BrokerID][]overlay.Message{}, rng: rand.New(rand.NewPCG(7, 7)),
	}
	middle := Config{Self: "b0"}
	var listeners []net.Listener
	for i := range n {
		id := overlay.BrokerID(fmt.Sprintf("b%02d", i+1))
		listener, err := c.memory.Listen(string(id))
		if err != nil {
			t.Fatal(err)
		}
		listeners = append(listeners, listener)
		middle.Neighbours = append(middle.Neighbours, Neighbour{ID: id, Address: string(id), Compress: i == 1})
	}
	c.middle = c.start(t, middle) // the first port
	for i, listener := range listeners {
		c.around = append(c.around, c.start(t, Config{Self: overlay.BrokerID(fmt.Sprintf("b%02d", i+1)), Neighbours: []Neighbour{{ID: "b0", Compress: i == 1}}, Listener: listener}))
	}
	for range n {
		up := c.middle.expect(t, "up")
		c.to = append(c.to, overlay.Link{Neighbour: up.neighbour, Session: up.session})
	}
	for _, b := range c.around {
		b.expect(t, "up")
	}
	return c
}

// start starts a broker on the segment.
func (c *conversation) start(t *testing.T, cfg Config) *broker {
	cfg.Transport, cfg.Segments = c.memory, []Segment{{Group: c.net.join()}}
	return start(t, cfg)
}

// members counts those of a broker's stream.
func (b *broker) members() (n int) {
	g := b.segments[0]
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, p := range g.machine.Status().Peers {
		if p.Member {
			n++
		}
	}
	return n
}

func (b *broker) datagrams() uint64 {
	g := b.segments[0]
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.machine.Status().Sent.Datagrams
}

// await waits until so many are members.
func (b *broker) await(t *testing.T, members int) {
	t.Helper()
	for range 60_000 {
		if b.members() == members {
			return
		}
		time.Sleep(time.Millisecond)
	}
	t.Fatalf("%s has %d members; expected %d", b.cfg.Self, b.members(), members)
}

// conversation has one broker say things to others on a segment, and keeps what it
// said.
type conversation struct {
	net    *lossyNet
	memory *memoryNet
	middle *broker
	around []*broker
	to     []overlay.Link
	want   map[overlay.BrokerID][]overlay.Message
	rng    *rand.Rand
	said   int
}

// say says one thing in a step: to all, to some, or to one.
func (c *conversation) say() {
	c.said++
	shared := reading(c.said)
	var frames []*overlay.Frame
	for i, l := range c.to {
		if c.rng.IntN(4) == 0 {
			continue
		}
		m := []overlay.Message{&overlay.NotifyMessage{Reading: shared.Reading, Hits: []overlay.KeyHit{{Key: overlay.Key{Client: fmt.Sprint("c", i), Source: "b0"}, Seq: uint64(c.said)}}}}
		switch c.rng.IntN(8) {
		case 0:
			m = []overlay.Message{head(uint64(c.said))} // nothing in common
		case 1:
			m = append(m, head(uint64(c.said)), reading(c.said))
		}
		c.want[l.Neighbour] = append(c.want[l.Neighbour], m...)
		frames = append(frames, &overlay.Frame{To: []overlay.Link{l}, Messages: m})
	}
	c.middle.Send(frames...)
}

// check sees that each had all, in order.
func (c *conversation) check(t *testing.T) {
	t.Helper()
	for _, b := range c.around {
		want := c.want[b.cfg.Self]
		var got []overlay.Message
		for len(got) < len(want) {
			got = append(got, b.expect(t, "frame").messages...)
		}
		if diff := cmp.Diff(want, got, cmpopts.IgnoreUnexported(overlay.Reading{}, overlay.Subscription{}), cmp.Comparer(bytes.Equal)); diff != "" {
			t.Fatalf("%s: %.2000s", b.cfg.Self, diff)
		}
	}
	clear(c.want)
}

// TestOnASegment: whatever goes by multicast and whatever over links, each neighbour
// gets all, in order and once, while datagrams are lost.
func TestOnASegment(t *testing.T) {
	for _, loss := range []float64{0, 0.01, 0.1} {
		t.Run(fmt.Sprint(loss), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := onSegment(t, 5, loss)
				for range 200 { // some of it while they join
					c.say()
					time.Sleep(3 * time.Millisecond)
				}
				c.check(t)
				c.middle.await(t, 5)
				before := c.middle.datagrams()
				for range 500 {
					for range c.rng.IntN(5) {
						c.say()
					}
					time.Sleep(time.Duration(c.rng.IntN(3000)) * time.Microsecond)
				}
				c.check(t)
				if went := c.middle.datagrams() - before; went < 300 {
					t.Errorf("%d datagrams", went)
				}
			})
		})
	}
}

// TestDeafNeighbour: a neighbour that hears nothing more gets all over its link,
// and by multicast again when it hears again.
func TestDeafNeighbour(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := onSegment(t, 3, 0.01)
		c.middle.await(t, 3)
		c.net.set(0.01, 3)
		for range 1000 {
			c.say()
			time.Sleep(time.Millisecond)
		}
		if n := c.middle.members(); n != 2 {
			t.Errorf("%d members", n)
		}
		c.check(t)
		c.net.set(0.01)
		for range 120 {
			c.say()
			time.Sleep(100 * time.Millisecond)
		}
		if n := c.middle.members(); n != 3 {
			t.Errorf("%d members", n)
		}
		c.check(t)
	})
}

// TestSessionsOnASegment: a neighbour that begins anew is another member.
func TestSessionsOnASegment(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := onSegment(t, 2, 0)
		c.middle.await(t, 2)
		for range 100 {
			c.say()
		}
		c.check(t)
		c.around[0].stop()
		c.middle.expect(t, "down")
		c.around[0].expect(t, "down")
		if n := c.middle.members(); n != 1 {
			t.Errorf("%d members", n)
		}
		listener, err := c.memory.Listen("b01")
		if err != nil {
			t.Fatal(err)
		}
		again := c.start(t, Config{Self: "b01", Neighbours: []Neighbour{{ID: "b0"}}, Listener: listener})
		up := c.middle.expect(t, "up")
		again.expect(t, "up")
		c.middle.await(t, 2)
		for i := range c.to {
			if c.to[i].Neighbour == "b01" {
				c.to[i].Session = up.session
			}
		}
		c.around[0] = again
		for range 100 {
			c.say()
		}
		c.check(t)
	})
}

// TestGivenUpOnASegment: the key that a neighbour had is of no use once it is none any
// more, and what is forged is logged once a minute.
func TestGivenUpOnASegment(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := onSegment(t, 3, 0)
		c.middle.await(t, 3)
		before := c.middle.Segments()[0].Stream
		left := slices.DeleteFunc(slices.Clone(c.middle.cfg.Neighbours), func(n Neighbour) bool { return n.ID == "b01" })
		if err := c.middle.Set(left); err != nil {
			t.Fatal(err)
		}
		c.middle.expect(t, "down")
		time.Sleep(time.Second)
		c.middle.await(t, 2)
		if c.middle.Segments()[0].Stream == before {
			t.Error("the stream goes on")
		}
		c.around = c.around[1:]
		c.to = slices.DeleteFunc(c.to, func(l overlay.Link) bool { return l.Neighbour == "b01" })
		for range 50 {
			c.say()
		}
		c.check(t)
		stranger := c.net.join()
		stranger.Send([]Datagram{{Content: []byte("hello")}, {Content: make([]byte, 100)}})
		time.Sleep(61 * time.Second)
		c.middle.awaitLog(t, "datagrams were refused on the segment")
	})
}

// TestBytesOfAScan: what one scan that five neighbours want takes on the wire, by
// multicast and over links.
func TestBytesOfAScan(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := onSegment(t, 5, 0)
		c.middle.await(t, 5)
		scan := func(i int) []*overlay.Frame {
			r := &overlay.Reading{Robot: "r0", Interface: "ranger", Time: float64(i), JSON: bytes.Repeat([]byte("x"), 1127)}
			var frames []*overlay.Frame
			for n, l := range c.to {
				frames = append(frames, &overlay.Frame{To: []overlay.Link{l}, Messages: []overlay.Message{
					&overlay.NotifyMessage{Reading: r, Hits: []overlay.KeyHit{{Key: overlay.Key{Client: fmt.Sprint("client", n), Source: "b0"}, Seq: uint64(i)}}}}})
			}
			return frames
		}
		const scans = 1000
		before := c.middle.datagrams()
		c.net.mu.Lock()
		c.net.sent = 0
		c.net.mu.Unlock()
		for i := range scans {
			c.middle.Send(scan(i)...)
			time.Sleep(time.Millisecond)
		}
		time.Sleep(time.Second)
		c.net.mu.Lock()
		shared := float64(c.net.sent) / scans
		c.net.mu.Unlock()
		link := 0.0
		const heads = 66 // Ethernet, IP, TCP with a time stamp
		for _, st := range c.middle.Status() {
			link += float64(st.Sent.Plain)/float64(st.Sent.Frames) + 1127 + pieceHead + heads
		}
		t.Logf("%.0f bytes a scan by multicast, %.0f over links: %.2f; %d datagrams", shared, link, shared/link, c.middle.datagrams()-before)
		if shared > 0.3*link {
			t.Errorf("%.0f bytes by multicast, %.0f over links", shared, link)
		}
	})
}

// TestWrongPiecesOnASegment: what is wrong of what only sessions on a segment have
// ends them, and is nothing that others take.
func TestWrongPiecesOnASegment(t *testing.T) {
	offer := func(change func(*multicast.Offer)) []byte {
		o := &multicast.Offer{Group: testGroup, Port: 5, Stream: multicast.Stream{ID: multicast.StreamID{1}}, Datagram: 1400, Window: 100}
		change(o)
		return piece(pieceStream, o.Append(nil))
	}
	first := framePiece(t, head(1))
	for _, tt := range []struct {
		name    string
		segment bool
		sends   []byte
		want    string
	}{
		{"a number without a segment", false, piece(pieceNumber, []byte{0, 0, 0, 1}), "begins no piece that is expected here"},
		{"a message without a segment", false, offer(func(*multicast.Offer) {}), "begins no piece that is expected here"},
		{"a short number", true, piece(pieceNumber, []byte{1}), "a frame's number of 1 bytes; expected 4"},
		{"a frame again", true, append(piece(pieceNumber, []byte{0, 0, 0, 1}), first...), "frame 1 comes again; expected 2"},
		{"no message", true, piece(pieceStream, []byte{9}), "a message of a stream of kind 9; expected 1 to 7"},
		{"another group", true, offer(func(o *multicast.Offer) { o.Group = netip.MustParseAddrPort("239.1.1.1:5") }), "it offers a stream to the group 239.1.1.1:5; expected 239.255.67.66:8803"},
	} {
		bubble(t, tt.name, func(t *testing.T) {
			b2, memory := accepting(t, func(c *Config) {
				if tt.segment {
					c.Segments = []Segment{{Group: newLossyNet(1, 0).join()}}
				}
			})
			s := connect(t, memory, "b2")
			s.write(helloPiece(func(h *hello) { h.Groups = []string{testGroup.String()} }))
			s.expect(pieceHello, "b2")
			s.write(beginning)
			b2.expect(t, "up")
			if tt.segment {
				s.expect(pieceStream, "")
			}
			s.write(first)
			b2.expect(t, "frame")
			go s.write(tt.sends)
			s.expect(pieceBye, tt.want)
			b2.expect(t, "down")
			if got := b2.Status()[0].Problem; !strings.Contains(got, tt.want) {
				t.Errorf("%q; expected %q", got, tt.want)
			}
			s.conn.Close()
			b2.stop()
		})
	}
}
