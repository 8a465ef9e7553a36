package callboard

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"callboard/subscribe/protocol"

	"github.com/google/go-cmp/cmp"
)

// A broker that falls silent is left for the next one, and one that swallows
// connections costs no more than its turn.
func TestSilentBrokerIsLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNetwork(t, "a", "b")
		r, a := roaming(t, n, Config{Brokers: []string{"ws://a/ws", "ws://nowhere/ws", "ws://b/ws"}})
		a.send(notify("s1", 1, 0))
		r.numbers(1)
		synctest.Wait()
		began := time.Now()
		b := n["b"].accept()
		if waited := time.Since(began); waited != 3*time.Second+stagger {
			t.Errorf("after %s", waited)
		}
		if hello := b.welcomeAt("b", "one"); *hello.Attachment != 2 || hello.Session != "one" || hello.Num["s1"] != 1 || len(hello.Subscriptions) != 1 {
			t.Errorf("%+v", hello)
		}
		next[*Detached](r)
		at := next[*Attached](r)
		if h := at.Handover; h.Moved || h.From != "ws://a/ws" || h.Took != stagger || h.Silent != 3*time.Second+stagger {
			t.Errorf("%+v", h)
		}
	})
}

// A lost connection is tried where it was first, and elsewhere if its broker
// said goodbye; a broker that refuses is passed over.
func TestLostConnection(t *testing.T) {
	for name, c := range map[string]struct {
		lose func(*peer)
		host string
	}{
		"cut":      {func(p *peer) { p.cut() }, "a"},
		"shutdown": {func(p *peer) { p.socket.WriteMessage(8, []byte("\x03\xe9")); p.end() }, "b"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := newNetwork(t, "a", "b", "c")
				r, a := roaming(t, n, Config{Brokers: []string{"ws://a/ws", "ws://b/ws", "ws://c/ws"}})
				<-time.After(2 * time.Second)
				began := time.Now()
				c.lose(a)
				p := n[c.host].accept()
				if waited := time.Since(began); waited > time.Second/2 {
					t.Errorf("tried again after %s", waited)
				}
				expect[protocol.Hello](p, protocol.OpHello)
				p.send(protocol.Error{Op: protocol.OpError, Code: protocol.Unauthorized, Message: "not here"})
				other := map[string]string{"a": "b", "b": "c"}[c.host]
				n[other].accept().welcomeAt(other, "one")
				next[*Detached](r)
				if at := next[*Attached](r); at.Broker != other {
					t.Errorf("%+v", at)
				}
			})
		})
	}
}

// Brokers that a welcome names are gone to when all others are lost.
func TestNamedBrokers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNetwork(t, "a", "b", "c")
		r := start(t, nil, Config{Brokers: []string{"ws://a/ws"}, Client: "me", Token: "secret", Dial: n.dial})
		p := n["a"].accept()
		hello := expect[protocol.Hello](p, protocol.OpHello)
		w := welcomeFor(hello, "one")
		w.Broker, w.Brokers = "a", []protocol.BrokerURL{{ID: "a", URL: "ws://a/ws"}, {ID: "b", URL: "ws://b/ws"}, {ID: "x", URL: "gopher://x"}}
		p.send(w)
		next[*Attached](r)
		var urls []string
		for _, b := range r.Known() {
			urls = append(urls, fmt.Sprint(b.ID, " ", b.URL, " ", b.Configured, b.Named, b.Taken))
		}
		if diff := cmp.Diff([]string{"a ws://a/ws true true true", "b ws://b/ws false true false"}, urls); diff != "" {
			t.Error(diff)
		}
		n["a"].pipes.Close()
		p.cut()
		p = n["b"].accept()
		hello = expect[protocol.Hello](p, protocol.OpHello)
		w = welcomeFor(hello, "one") // which names others
		w.Broker, w.Brokers = "b", []protocol.BrokerURL{{ID: "c", URL: "ws://c/ws"}}
		p.send(w)
		next[*Detached](r)
		next[*Attached](r)
		n["b"].pipes.Close()
		p.cut()
		n["c"].accept().welcomeAt("c", "one")
	})
}

func TestChoose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNetwork(t, "a", "b")
		reports := make(chan func(id, url string), 1)
		best := "ws://a/ws"
		r, a := roaming(t, n, Config{
			Heard: func(ctx context.Context, report func(id, url string)) { reports <- report; <-ctx.Done() },
			Choose: func(current string, known []Broker) []string {
				for _, b := range known {
					if !b.Heard.IsZero() { // always the one that was heard
						best = b.URL
					}
				}
				return []string{best, "ftp://no/broker"}
			},
		})
		go func() {
			for a.socket.WriteMessage(1, []byte(`{"op":"heartbeat"}`)) == nil {
				<-time.After(time.Second)
			}
		}()
		report := <-reports
		report("b", "b:80")
		b := n["b"].accept()
		expect[protocol.Hello](b, protocol.OpHello)
		b.send(protocol.Error{Op: protocol.OpError, Code: protocol.Overloaded})
		next[*Stayed](r)
		// It is asked again with the next beacon, but not at once.
		tries := 0
		for range 12 {
			<-time.After(time.Second)
			report("b", "b:80")
			synctest.Wait()
			select {
			case b = <-n["b"].peers:
				tries++
				expect[protocol.Hello](b, protocol.OpHello)
				b.send(protocol.Error{Op: protocol.OpError, Code: protocol.Overloaded})
				next[*Stayed](r)
			default:
			}
		}
		if tries != 2 {
			t.Errorf("%d tries", tries)
		}
		<-time.After(10 * time.Second)
		report("b", "b:80")
		n["b"].accept().welcomeAt("b", "one")
		if at := next[*Attached](r); !at.Handover.Moved {
			t.Errorf("%+v", at.Handover)
		}
	})
}

// A program that has no broker finds one by its beacons.
func TestHeardBroker(t *testing.T) {
	for name, c := range map[string]struct {
		token string
		finds bool
	}{"open": {"", true}, "with a token": {"secret", false}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := newNetwork(t, "b")
				r := start(t, nil, Config{
					Brokers: []string{}, Token: c.token, Dial: n.dial, BackoffMin: time.Hour, BackoffMax: time.Hour,
					Heard: func(ctx context.Context, report func(id, url string)) {
						<-time.After(time.Second)
						report("x", "://")
						report("b", "ws://b/ws")
						<-ctx.Done()
					},
				})
				<-time.After(2 * time.Second)
				synctest.Wait()
				select {
				case p := <-n["b"].peers:
					if !c.finds {
						t.Error("the token was sent to who knows whom")
					}
					p.welcomeAt("b", "one")
					next[*Attached](r)
				default:
					if c.finds {
						t.Error("not found")
					}
				}
			})
		})
	}
}

func TestRoster(t *testing.T) {
	now := time.Unix(1000, 0)
	r := newRoster(Config{Brokers: []string{"wss://a/ws"}, Token: "t"})
	r.name([]string{"b", "c"}, []string{"ws://b/ws", "wss://c/ws"})
	// A token for wss does not go out in the clear.
	if k := r.known(now); len(k) != 2 || k[1].ID != "c" {
		t.Errorf("%+v", k)
	}
	r = newRoster(Config{Brokers: []string{"ws://a/ws"}})
	for i := range 10 * maxBrokers {
		now = now.Add(time.Millisecond)
		r.hear("", fmt.Sprintf("h%d", i), now)
	}
	if len(r.list) != maxBrokers || r.list[0].URL != "ws://a/ws" || r.find("ws://h2559/ws") == nil {
		t.Errorf("%d brokers, first %+v", len(r.list), r.list[0])
	}
	if k := r.known(now.Add(heardFor + time.Second)); len(k) != 1 {
		t.Errorf("%d brokers are still heard", len(k))
	}

	known := []Broker{
		{URL: "cfg"}, {URL: "far", RoundTrip: 9}, {URL: "cur", ID: "k", RoundTrip: 1}, {URL: "near", RoundTrip: 2}, {URL: "alias", ID: "k"},
	}
	if diff := cmp.Diff([]string{"cur", "alias", "near", "far", "cfg"}, order(known, "cur", false)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"near", "far", "cfg", "cur", "alias"}, order(known, "cur", true)); diff != "" {
		t.Error(diff)
	}
}
