package link

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"callboard/bridge/overlay"
)

// fragile is a connection that ends after a number of bytes.
type fragile struct {
	net.Conn
	left atomic.Int64
}

func (f *fragile) Write(b []byte) (int, error) {
	left := f.left.Add(-int64(len(b)))
	if left < 0 {
		n, _ := f.Conn.Write(b[:max(0, int64(len(b))+left)]) // cut inside
		f.Conn.Close()
		return n, net.ErrClosed
	}
	return f.Conn.Write(b)
}

// chatty sends frames in every session, and checks what comes.
type chatty struct {
	t     *testing.T
	id    overlay.BrokerID
	links *Links
	stop  chan struct{}
	wg    sync.WaitGroup
	rng   *rand.Rand // of the sessions' goroutine

	down     chan struct{} // closed when the session that is up ends
	up       uint64        // the session that is up; 0: none
	last     uint64
	theirs   string // the neighbour's name for it
	got      uint64
	sessions int
	frames   int
}

func (c *chatty) Up(n overlay.BrokerID, session uint64) {
	if c.up != 0 || session <= c.last {
		c.t.Errorf("%s: session %d begins while %d is up and %d was the last", c.id, session, c.up, c.last)
	}
	c.up, c.last, c.theirs, c.got = session, session, "", 0
	c.sessions++
	seed := c.rng.Uint64()
	c.down = make(chan struct{})
	down := c.down
	c.wg.Go(func() {
		rng := rand.New(rand.NewPCG(seed, 1))
		late := 20 // frames that go on being sent in a session that has ended
		for i := uint64(1); late > 0; i++ {
			m := head(i)
			m.Key.Client = fmt.Sprintf("%s-%d", c.id, session)
			m.Key.Stamp = overlay.Stamp(rng.IntN(5))
			r := reading(int(i))
			c.links.Send(frameTo(n, session, m, r))
			select {
			case <-down:
				late--
			default:
			}
			select {
			case <-c.stop:
				return
			case <-time.After(time.Duration(rng.IntN(40)) * time.Millisecond):
			}
		}
	})
}

func (c *chatty) Frame(n overlay.BrokerID, session uint64, messages []overlay.Message) {
	if session != c.up || len(messages) != 2 {
		c.t.Errorf("%s: a frame with %d messages of session %d while %d is up", c.id, len(messages), session, c.up)
		return
	}
	m := messages[0].(*overlay.HeadMessage)
	r := messages[1].(*overlay.NotifyMessage)
	if c.theirs == "" {
		c.theirs = m.Key.Client
	}
	if m.Key.Client != c.theirs || m.Last != c.got+1 || r.Hits[0].Seq != m.Last {
		c.t.Errorf("%s: frame %d of %s; expected %d of %s", c.id, m.Last, m.Key.Client, c.got+1, c.theirs)
	}
	c.got = m.Last
	c.frames++
}

func (c *chatty) Down(n overlay.BrokerID, session uint64) {
	if session != c.up {
		c.t.Errorf("%s: session %d ends while %d is up", c.id, session, c.up)
	}
	c.up = 0
	close(c.down)
}

// Whatever breaks, each session delivers the beginning of what was sent in one
// session of the other side, in order, and sessions come one after the other.
func TestASessionDeliversABeginning(t *testing.T) {
	cut, sessions := 0, 0
	for seed := range uint64(8) {
		bubble(t, fmt.Sprint(seed), func(t *testing.T) {
			c, n := breakOften(t, seed)
			cut += c
			sessions += n
		})
	}
	if cut == 0 || sessions < 50 {
		t.Errorf("%d connections were cut in their handshake, %d sessions; expected more of them", cut, sessions)
	}
}

// breakOften returns how many connections were cut in their handshake, and how
// many became sessions.
func breakOften(t *testing.T, seed uint64) (cut, sessions int) {
	rng := rand.New(rand.NewPCG(seed, 0))
	var memory memoryNet
	listener, err := memory.Listen("b2")
	if err != nil {
		t.Fatal(err)
	}
	stop := make(chan struct{})
	newChatty := func(id overlay.BrokerID) *chatty {
		return &chatty{t: t, id: id, stop: stop, rng: rand.New(rand.NewPCG(seed, uint64(len(id))))}
	}
	one, two := newChatty("b1"), newChatty("b2")
	dials := 0
	compress := seed%2 == 0
	segments := func() []Segment { return nil }
	if lossy := newLossyNet(seed, 0.05); seed%4 > 1 {
		segments = func() []Segment { return []Segment{{Group: lossy.join()}} }
	}
	one.links, err = New(Config{
		Self: "b1", Neighbours: []Neighbour{{ID: "b2", Address: "b2"}}, Handler: one, DialMin: time.Millisecond, Compress: compress, Segments: segments(),
		Transport: dialing{dial: func(ctx context.Context, address string) (net.Conn, error) {
			conn, err := memory.Dial(ctx, address)
			if err != nil {
				return nil, err
			}
			dials++
			f := &fragile{Conn: conn}
			f.left.Store(rng.Int64N([]int64{300, 5_000, 40_000}[rng.IntN(3)])) // in the handshake, too
			return f, nil
		}},
	})
	if err != nil {
		t.Fatal(err)
	}
	two.links, err = New(Config{Self: "b2", Neighbours: []Neighbour{{ID: "b1"}}, Handler: two, Listener: listener, Compress: compress, Segments: segments()})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	wg.Go(func() { one.links.Run(ctx) })
	wg.Go(func() { two.links.Run(ctx) })
	<-time.After(20 * time.Second)
	cancel()
	wg.Wait()
	close(stop)
	one.wg.Wait()
	two.wg.Wait()
	synctest.Wait()
	if one.up != 0 || two.up != 0 {
		t.Error("a session goes on after the end")
	}
	if one.sessions < 2 || two.sessions < 2 || one.frames < 20 || two.frames < 20 {
		t.Errorf("%d and %d sessions of %d connections, %d and %d frames", one.sessions, two.sessions, dials, one.frames, two.frames)
	}
	return dials - one.sessions, one.sessions
}
