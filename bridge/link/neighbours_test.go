package link

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"callboard/bridge/overlay"
)

// set is Set where it cannot fail.
func (b *broker) set(t *testing.T, all ...Neighbour) {
	t.Helper()
	if err := b.Set(all); err != nil {
		t.Fatal(err)
	}
}

// TestNeighboursComeAndGo: with the side that gives up first either one.
func TestNeighboursComeAndGo(t *testing.T) {
	bubble(t, "", func(t *testing.T) {
		var memory memoryNet
		make := func(id overlay.BrokerID) *broker {
			listener, err := memory.Listen(string(id))
			if err != nil {
				t.Fatal(err)
			}
			return start(t, Config{Self: id, Listener: listener, Transport: &memory})
		}
		b1, b2, b3 := make("b1"), make("b2"), make("b3")
		n1, n2, n3 := Neighbour{ID: "b1"}, Neighbour{ID: "b2", Address: "b2"}, Neighbour{ID: "b3", Address: "b3"}
		b1.set(t, n2)
		b3.set(t, n2)
		synctest.Wait()
		if got := b1.Status()[0].Problem; got != `it refuses: broker "b1" is no neighbour of broker "b2"` {
			t.Errorf("b2 has no neighbours; b1 says %q", got)
		}
		b2.set(t, n1, n3)
		var last uint64
		for round := range 4 {
			up1 := b1.expect(t, "up")
			b2.expect(t, "up")
			if round == 0 { // b3's link, beside it, stays throughout
				b3.expect(t, "up")
				b2.expect(t, "up")
			}
			if up1.session <= last {
				t.Errorf("session %d after %d", up1.session, last)
			}
			last = up1.session
			b1.Send(frameTo("b2", up1.session, head(uint64(round))))
			b2.expect(t, "frame")

			gives, is, left := b1, b2, []Neighbour(nil)
			if round%2 == 1 {
				gives, is, left = b2, b1, []Neighbour{n3}
			}
			gives.set(t, left...)
			gives.set(t, left...) // ends nothing twice
			b1.expect(t, "down")
			b2.expect(t, "down")
			if len(gives.Status()) != len(left) {
				t.Errorf("%+v; expected only the neighbours that are left", gives.Status())
			}
			if got := is.Status()[0].Problem; got != "it ended the session: the broker gives up the link with this neighbour" {
				t.Errorf("round %d: the other side says %q", round, got)
			}
			<-time.After(20 * time.Second)
			if n := len(b1.events) + len(b2.events); n > 0 {
				t.Errorf("%d calls about who is no neighbour", n)
			}
			gives.Send(frameTo(is.cfg.Self, last, head(1))) // to nobody
			if round%2 == 0 {
				b1.set(t, n2)
			} else {
				b2.set(t, n1, n3)
			}
		}
		if n := len(b3.all); n != 1 {
			t.Errorf("b3's link did not stay: %+v", b3.all)
		}
	})
}

// TestANeighbourChanges: the session stays, the next one is with the neighbour as it
// is configured then.
func TestANeighbourChanges(t *testing.T) {
	bubble(t, "", func(t *testing.T) {
		var memory memoryNet
		there := func(at string) *broker {
			listener, err := memory.Listen(at)
			if err != nil {
				t.Fatal(err)
			}
			return start(t, Config{Self: "b2", Neighbours: []Neighbour{{ID: "b1", Compress: true}}, Listener: listener})
		}
		old := there("old")
		b1 := start(t, Config{Self: "b1", Neighbours: []Neighbour{{ID: "b2", Address: "old"}}, Transport: &memory})
		b1.expect(t, "up")
		b1.set(t, Neighbour{ID: "b2", Address: "new", Compress: true})
		<-time.After(time.Minute)
		if s := b1.Status()[0]; !s.Up || s.Compressed || s.Neighbour.Address != "new" {
			t.Errorf("%+v; expected the session to stay", s)
		}
		there("new")
		old.stop()
		b1.expect(t, "down")
		b1.expect(t, "up")
		if s := b1.Status()[0]; !s.Compressed {
			t.Errorf("%+v; expected the new session to be compressed", s)
		}
	})
}

// TestWrongSets: nothing changes.
func TestWrongSets(t *testing.T) {
	b1, b2 := pair(t, networks(t)[0], nil)
	b1.expect(t, "up")
	b2.expect(t, "up")
	for _, all := range [][]Neighbour{{{ID: "b3", Address: "a:1"}, {ID: "b3", Address: "a:2"}}, {{ID: "b1"}}, {{ID: "b3"}}} {
		if err := b1.Set(all); err == nil || !strings.HasPrefix(err.Error(), `links of broker "b1": neighbour "b`) {
			t.Errorf("%+v: %v", all, err)
		}
	}
	if s := b1.Status(); len(s) != 1 || !s[0].Up || s[0].Neighbour.ID != "b2" {
		t.Errorf("%+v", s)
	}
}

// TestWhoComesBackWaits: a handler that is still busy with the old link of a
// neighbour is not told of the new one before the old one is down.
func TestWhoComesBackWaits(t *testing.T) {
	bubble(t, "", func(t *testing.T) {
		h := &blocking{recorder: newRecorder(), release: make(chan struct{})}
		b2, s := begunWith(t, h)
		neighbours := b2.cfg.Neighbours
		s.write(framePiece(t, head(1)))
		for range 3 {
			b2.set(t)
			b2.set(t, neighbours...)
		}
		again := connect(t, b2.cfg.Transport.(*memoryNet), "b2")
		again.write(helloPiece(func(h *hello) { h.Attempt = 2 }))
		again.expect(pieceHello, "b2")
		again.write(beginning)
		synctest.Wait()
		if n := len(h.events); n > 0 {
			t.Errorf("%d calls while the handler was busy", n)
		}
		close(h.release)
		s.expect(pieceBye, "gives up the link")
		down, up := h.expect(t, "down"), h.expect(t, "up")
		if up.session <= down.session {
			t.Errorf("session %d after %d", up.session, down.session)
		}
		synctest.Wait()
		if n := len(b2.leaving); n > 0 {
			t.Errorf("%d neighbours that have left are remembered", n)
		}
	})
}

// TestSetBesideTheEnd: whoever sets neighbours while Run ends, or later, begins
// nothing that Run does not wait for.
func TestSetBesideTheEnd(t *testing.T) {
	for range 200 {
		b1 := start(t, Config{Self: "b1", Transport: dialing{dial: func(ctx context.Context, _ string) (_ net.Conn, err error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}}})
		var wg sync.WaitGroup
		wg.Go(func() {
			for i := range 20 {
				b1.set(t, Neighbour{ID: overlay.BrokerID(fmt.Sprint("c", i)), Address: "there"})
			}
		})
		b1.stop()
		b1.Links.mu.Lock()
		for _, p := range b1.neighbours.Load().all {
			select {
			case <-p.ended:
			default:
				if p.stop != nil {
					t.Errorf("Run has returned while the link with %s goes on", p.id)
				}
			}
		}
		b1.Links.mu.Unlock()
		wg.Wait()
		b1.set(t, Neighbour{ID: "late", Address: "there"})
		if b1.neighbour("late").stop != nil {
			t.Error("a link began after Run")
		}
	}
}

// several dispatches to a chatty for each neighbour.
type several map[overlay.BrokerID]*chatty

func (s several) Up(n overlay.BrokerID, session uint64)   { s[n].Up(n, session) }
func (s several) Down(n overlay.BrokerID, session uint64) { s[n].Down(n, session) }
func (s several) Frame(n overlay.BrokerID, session uint64, m []overlay.Message) {
	s[n].Frame(n, session, m)
}

// TestWhateverIsSet: brokers take each other and give each other up at random, from
// several goroutines. Each session delivers a beginning of what was sent in it, one
// at a time, and who is taken by both sides in the end is linked.
func TestWhateverIsSet(t *testing.T) {
	for seed := range uint64(4) {
		bubble(t, fmt.Sprint(seed), func(t *testing.T) { comeAndGo(t, seed) })
	}
}

func comeAndGo(t *testing.T, seed uint64) {
	ids := []overlay.BrokerID{"b1", "b2", "b3"}
	var memory memoryNet
	brokers, handlers := map[overlay.BrokerID]*broker{}, map[overlay.BrokerID]several{}
	others := map[overlay.BrokerID][]Neighbour{}
	quiet := make(chan struct{})
	for _, id := range ids {
		listener, err := memory.Listen(string(id))
		if err != nil {
			t.Fatal(err)
		}
		handlers[id] = several{}
		brokers[id] = start(t, Config{Self: id, Listener: listener, Transport: &memory, Handler: handlers[id]})
		for i, other := range ids {
			if other != id {
				others[id] = append(others[id], Neighbour{ID: other, Address: string(other)})
				handlers[id][other] = &chatty{t: t, id: id, stop: quiet, links: brokers[id].Links, rng: rand.New(rand.NewPCG(seed, uint64(i)))}
			}
		}
	}
	var wg sync.WaitGroup
	for _, id := range ids {
		for worker := range uint64(2) {
			wg.Go(func() {
				rng := rand.New(rand.NewPCG(seed, worker<<8|uint64(id[1])))
				for range 100 {
					var some []Neighbour
					for _, n := range others[id] {
						if rng.IntN(3) > 0 {
							some = append(some, n)
						}
					}
					brokers[id].set(t, some...)
					<-time.After(time.Duration(rng.IntN(1+200*rng.IntN(2))) * time.Millisecond)
				}
			})
		}
	}
	wg.Wait()
	sessions := 0
	for _, id := range ids {
		brokers[id].set(t, others[id]...)
	}
	<-time.After(20 * time.Second)
	for _, id := range ids {
		for _, s := range brokers[id].Status() {
			if !s.Up {
				t.Errorf("%s has no link with %s: %s", id, s.Neighbour.ID, s.Problem)
			}
		}
		brokers[id].Links.mu.Lock()
		if n := len(brokers[id].leaving); n > 0 {
			t.Errorf("%s remembers %d that left", id, n)
		}
		brokers[id].Links.mu.Unlock()
	}
	for _, id := range ids {
		brokers[id].stop()
	}
	close(quiet)
	for _, id := range ids {
		for _, c := range handlers[id] {
			c.wg.Wait()
			sessions += c.sessions
			if c.up != 0 || c.frames < 20 {
				t.Errorf("%s: session %d goes on after the end, %d frames came", id, c.up, c.frames)
			}
		}
	}
	if sessions < 100 {
		t.Errorf("%d sessions; expected more of them", sessions)
	}
}

// TestGivenUpWithinItsHandshake: who is no neighbour any more when its handshake
// ends is told so.
func TestGivenUpWithinItsHandshake(t *testing.T) {
	bubble(t, "", func(t *testing.T) {
		b2, memory := accepting(t, nil)
		s := connect(t, memory, "b2")
		s.write(helloPiece(nil))
		s.expect(pieceHello, "b2")
		b2.set(t)
		s.write(beginning)
		s.expect(pieceBye, "gives up the link")
		if len(b2.all) > 0 {
			t.Errorf("%+v", b2.all)
		}
	})
}

// TestThereIsRoomForWhoCame: connections of neighbours that were set later are kept
// like those of the first, however many strangers come.
func TestThereIsRoomForWhoCame(t *testing.T) {
	bubble(t, "", func(t *testing.T) {
		b2, memory := accepting(t, nil)
		var all []Neighbour
		for i := range 50 {
			all = append(all, Neighbour{ID: overlay.BrokerID(fmt.Sprint("a", i))})
		}
		b2.set(t, all...)
		for _, n := range all {
			s := connect(t, memory, "b2")
			s.write(helloPiece(func(h *hello) { h.ID = string(n.ID) }))
			s.expect(pieceHello, "b2")
			s.write(beginning)
			b2.expect(t, "up")
		}
		for range 5 * maxOpening {
			connect(t, memory, "b2")
		}
		synctest.Wait()
		for _, s := range b2.Status() {
			if !s.Up {
				t.Errorf("%s: %s", s.Neighbour.ID, s.Problem)
			}
		}
	})
}
