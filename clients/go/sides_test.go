package callboard

import (
	"testing"
	"testing/synctest"

	"callboard/subscribe/protocol"
)

// TestSides: of a pair of brokers the client listens to the other side, and goes
// there as soon as that is active; it says in which term it was served. A side that
// does not know the term it refuses.
func TestSides(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNetwork(t, "a", "b")
		sided := func(hello protocol.Hello, term uint64) protocol.Welcome {
			w := welcomeFor(hello, "one")
			w.Term, w.Sides = term, []protocol.SideURL{{URL: "ws://a/ws"}, {URL: "ws://b/ws"}}
			return w
		}
		listens := func(at string, term uint64) *peer {
			t.Helper()
			p := n[at].accept()
			if hello := expect[protocol.Hello](p, protocol.OpHello); !hello.Standby || hello.Client != "" || hello.Term != term {
				t.Errorf("at %s: %+v", at, hello)
			}
			return p
		}
		r := start(t, nil, Config{Dial: n.dial, Client: "me", Brokers: []string{"ws://a/ws", "ws://b/ws"}})
		a := n["a"].accept()
		hello := expect[protocol.Hello](a, protocol.OpHello)
		if hello.Term != 0 || hello.Standby {
			t.Errorf("%+v", hello)
		}
		a.send(sided(hello, 3))
		next[*Attached](r)
		b := listens("b", 3)
		a.send(protocol.Heartbeat{Op: protocol.OpHeartbeat, Broker: "b1", Term: 5})
		synctest.Wait() // a and b are two connections: what a said is to be known first
		b.send(protocol.Standby{Op: protocol.OpStandby, Term: 5}, protocol.Active{Op: protocol.OpActive, Term: 4})
		synctest.Wait() // an older term moves nobody

		b.send(protocol.Active{Op: protocol.OpActive, Term: 6})
		now := n["b"].accept()
		if hello = expect[protocol.Hello](now, protocol.OpHello); hello.Term != 5 || hello.Session != "one" || hello.Standby {
			t.Errorf("%+v", hello)
		}
		now.send(sided(hello, 6))
		if at := next[*Attached](r); at.URL != "ws://b/ws" || !at.Resumed {
			t.Errorf("%+v", at)
		}
		b.cut()
		a.end()
		listens("a", 6).cut()
		if terms := r.State().Terms; terms["ws://a/ws"] != 6 || terms["ws://b/ws"] != 6 {
			t.Errorf("terms %v", terms)
		}

		now.cut() // and the side that was active before does not know yet
		old, again := false, false
		for !again {
			select {
			case p := <-n["a"].peers:
				if hello = expect[protocol.Hello](p, protocol.OpHello); hello.Standby {
					p.cut()
					continue
				}
				p.send(sided(hello, 5))
				p.end()
				old = true
			case p := <-n["b"].peers:
				if hello = expect[protocol.Hello](p, protocol.OpHello); hello.Term != 6 {
					t.Errorf("%+v", hello)
				}
				if !old {
					p.cut()
					continue
				}
				p.send(sided(hello, 7))
				again = true
			}
		}
		for {
			e := <-r.events
			if at, is := e.(*Attached); is {
				if at.URL != "ws://b/ws" {
					t.Errorf("it goes on with %+v", at)
				}
				break
			}
		}
	})
}
