package link

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/netip"
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

// onSegment runs b0 and n neighbours of it, on a segment in memory.
func onSegment(t *testing.T, n int, s *lossyNet, memory *memoryNet, change func(*Config)) (middle *broker, around []*broker, to []overlay.Link) {
	configure := func(c Config) Config {
		c.Transport, c.Segments = memory, []Segment{{Group: s.join()}}
		if change != nil {
			change(&c)
		}
		return c
	}
	middleConfig := Config{Self: "b0"}
	var listeners []net.Listener
	for i := range n {
		id := overlay.BrokerID(fmt.Sprintf("b%02d", i+1))
		listener, err := memory.Listen(string(id))
		if err != nil {
			t.Fatal(err)
		}
		listeners = append(listeners, listener)
		middleConfig.Neighbours = append(middleConfig.Neighbours, Neighbour{ID: id, Address: string(id), Compress: i == 1})
	}
	middle = start(t, configure(middleConfig)) // the first port
	for i, listener := range listeners {
		around = append(around, start(t, configure(Config{Self: overlay.BrokerID(fmt.Sprintf("b%02d", i+1)), Neighbours: []Neighbour{{ID: "b0", Compress: i == 1}}, Listener: listener})))
	}
	for range n {
		up := middle.expect(t, "up")
		to = append(to, overlay.Link{Neighbour: up.neighbour, Session: up.session})
	}
	for _, b := range around {
		b.expect(t, "up")
	}
	return middle, around, to
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

// conversation has one broker say things to others and keeps what it said.
type conversation struct {
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

func converse(middle *broker, around []*broker, to []overlay.Link) *conversation {
	return &conversation{middle: middle, around: around, to: to, want: map[overlay.BrokerID][]overlay.Message{}, rng: rand.New(rand.NewPCG(7, 7))}
}

// TestOnASegment: whatever goes by multicast and whatever over links, each neighbour
// gets all, in order and once, while datagrams are lost.
func TestOnASegment(t *testing.T) {
	for _, loss := range []float64{0, 0.01, 0.1} {
		t.Run(fmt.Sprint(loss), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, memory := newLossyNet(1, loss), new(memoryNet)
				middle, around, to := onSegment(t, 5, s, memory, nil)
				c := converse(middle, around, to)
				for range 200 { // some of it while they join
					c.say()
					time.Sleep(3 * time.Millisecond)
				}
				c.check(t)
				middle.await(t, 5)
				before := middle.datagrams()
				for range 500 {
					for range c.rng.IntN(5) {
						c.say()
					}
					time.Sleep(time.Duration(c.rng.IntN(3000)) * time.Microsecond)
				}
				c.check(t)
				if went := middle.datagrams() - before; went < 300 {
					t.Errorf("%d datagrams", went)
				}
				middle.stop()
				for _, b := range around {
					b.stop()
				}
			})
		})
	}
}

// TestDeafNeighbour: a neighbour that hears nothing more gets all over its link,
// and by multicast again when it hears again.
func TestDeafNeighbour(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, memory := newLossyNet(1, 0.01), new(memoryNet)
		middle, around, to := onSegment(t, 3, s, memory, nil)
		middle.await(t, 3)
		c := converse(middle, around, to)
		s.set(0.01, 3)
		for range 1000 {
			c.say()
			time.Sleep(time.Millisecond)
		}
		if n := middle.members(); n != 2 {
			t.Errorf("%d members", n)
		}
		c.check(t)
		s.set(0.01)
		for range 120 {
			c.say()
			time.Sleep(100 * time.Millisecond)
		}
		if n := middle.members(); n != 3 {
			t.Errorf("%d members", n)
		}
		c.check(t)
		middle.stop()
		for _, b := range around {
			b.stop()
		}
	})
}

// TestSessionsOnASegment: a neighbour that begins anew is another member.
func TestSessionsOnASegment(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, memory := newLossyNet(1, 0), new(memoryNet)
		middle, around, to := onSegment(t, 2, s, memory, nil)
		middle.await(t, 2)
		c := converse(middle, around, to)
		for range 100 {
			c.say()
		}
		c.check(t)
		around[0].stop()
		middle.expect(t, "down")
		around[0].expect(t, "down")
		if n := middle.members(); n != 1 {
			t.Errorf("%d members", n)
		}
		listener, err := memory.Listen("b01")
		if err != nil {
			t.Fatal(err)
		}
		again := start(t, Config{Self: "b01", Neighbours: []Neighbour{{ID: "b0"}}, Listener: listener, Transport: memory, Segments: []Segment{{Group: s.join()}}})
		up := middle.expect(t, "up")
		again.expect(t, "up")
		middle.await(t, 2)
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
		middle.stop()
		again.stop()
		around[1].stop()
	})
}

// TestGivenUpOnASegment: the key that a neighbour had is of no use once it is none any
// more, and what is forged is logged once a minute.
func TestGivenUpOnASegment(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, memory := newLossyNet(1, 0), new(memoryNet)
		middle, around, to := onSegment(t, 3, s, memory, nil)
		middle.await(t, 3)
		before := middle.Segments()[0].Stream
		var left []Neighbour
		for _, n := range middle.cfg.Neighbours {
			if n.ID != "b01" {
				left = append(left, n)
			}
		}
		if err := middle.Set(left); err != nil {
			t.Fatal(err)
		}
		middle.expect(t, "down")
		time.Sleep(time.Second)
		middle.await(t, 2)
		if middle.Segments()[0].Stream == before {
			t.Error("the stream goes on")
		}
		var stay []overlay.Link
		for _, l := range to {
			if l.Neighbour != "b01" {
				stay = append(stay, l)
			}
		}
		c := converse(middle, around[1:], stay)
		for range 50 {
			c.say()
		}
		c.check(t)
		stranger := s.join()
		stranger.Send([]Datagram{{Content: []byte("hello")}, {Content: make([]byte, 100)}})
		time.Sleep(61 * time.Second)
		middle.awaitLog(t, "datagrams were refused on the segment")
		middle.stop()
		for _, b := range around {
			b.stop()
		}
	})
}

// TestBytesOfAScan: what one scan that five neighbours want takes on the wire, by
// multicast and over links.
func TestBytesOfAScan(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, memory := newLossyNet(1, 0), new(memoryNet)
		middle, around, to := onSegment(t, 5, s, memory, nil)
		middle.await(t, 5)
		scan := func(i int) []*overlay.Frame {
			r := &overlay.Reading{Robot: "r0", Interface: "ranger", Time: float64(i), JSON: bytes.Repeat([]byte("x"), 1127)}
			var frames []*overlay.Frame
			for n, l := range to {
				frames = append(frames, &overlay.Frame{To: []overlay.Link{l}, Messages: []overlay.Message{
					&overlay.NotifyMessage{Reading: r, Hits: []overlay.KeyHit{{Key: overlay.Key{Client: fmt.Sprint("client", n), Source: "b0"}, Seq: uint64(i)}}}}})
			}
			return frames
		}
		const scans = 1000
		before := middle.datagrams()
		s.mu.Lock()
		s.sent = 0
		s.mu.Unlock()
		for i := range scans {
			middle.Send(scan(i)...)
			time.Sleep(time.Millisecond)
		}
		time.Sleep(time.Second)
		s.mu.Lock()
		shared := float64(s.sent) / scans
		s.mu.Unlock()
		link := 0.0
		const heads = 66 // Ethernet, IP, TCP with a time stamp
		for _, st := range middle.Status() {
			link += float64(st.Sent.Plain)/float64(st.Sent.Frames) + 1127 + pieceHead + heads
		}
		t.Logf("%.0f bytes a scan by multicast, %.0f over links: %.2f; %d datagrams", shared, link, shared/link, middle.datagrams()-before)
		if shared > 0.3*link {
			t.Errorf("%.0f bytes by multicast, %.0f over links", shared, link)
		}
		middle.stop()
		for _, b := range around {
			b.stop()
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
