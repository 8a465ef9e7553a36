package callboard

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"callboard/subscribe/protocol"

	"github.com/google/go-cmp/cmp"
)

func TestMove(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNetwork(t, "a", "b")
		r, a := roaming(t, n, Config{})
		a.send(notify("s1", 1, 0), notify("s1", 2, 0), notify("s1", 3, 0))
		r.numbers(3)
		if ack := expect[protocol.Ack](a, protocol.OpAck); ack.Num != 3 {
			t.Errorf("%+v", ack)
		}
		synctest.Wait()
		moved := r.move("b")
		b := n["b"].accept()
		hello := expect[protocol.Hello](b, protocol.OpHello)
		want := protocol.Hello{
			Op: protocol.OpHello, Client: "me", Session: "one", Attachment: number(2), Num: map[string]uint64{"s1": 3},
			Subscriptions: []Subscription{{ID: "near", Condition: "laser.min < 1"}}, Away: &[]string{},
		}
		if diff := cmp.Diff(want, hello); diff != "" {
			t.Error(diff)
		}
		// The old broker goes on meanwhile, and is told nothing: what is not in
		// the new one's hello must be there for it to fetch.
		a.send(notify("s1", 4, 0), notify("s1", 5, 0))
		<-time.After(2 * time.Second)
		if diff := cmp.Diff([]uint64{4, 5}, r.numbers(2)); diff != "" {
			t.Error(diff)
		}
		b.send(welcomeFor(hello, "one"))
		must(t, moved)
		if got := a.end(); got != nil {
			t.Errorf("the old broker was told %q", got)
		}
		at := next[*Attached](r)
		if !at.Resumed || at.Attachment != 2 || at.URL != "ws://b/ws" {
			t.Errorf("%+v", at)
		}
		if diff := cmp.Diff(&Handover{
			From: "ws://a/ws", Moved: true, Took: 2 * time.Second, Last: map[string]uint64{"s1": 5}, Silent: 2 * time.Second,
		}, at.Handover); diff != "" {
			t.Error(diff)
		}
		// The replay, from where the hello was, conflated; then what is new.
		<-time.After(500 * time.Millisecond)
		b.send(subscribedTo("near"), notify("s1", 4, 0), notify("s1", 7, 2), notify("s1", 8, 0))
		next[*Resubscribed](r)
		if diff := cmp.Diff(&HandedOver{
			Source: "s1", From: "ws://a/ws", URL: "ws://b/ws", Last: 5, First: 7, Repeated: 1,
			Took: 2500 * time.Millisecond, Silent: 2500 * time.Millisecond,
		}, next[*HandedOver](r)); diff != "" {
			t.Error(diff)
		}
		// 5 was given, so only 6 is passed over.
		seven := next[*Notification](r)
		var raw protocol.Notify
		if err := json.Unmarshal(seven.Raw, &raw); err != nil || seven.Seq != 7 || seven.Skipped != 1 || raw.Skipped != 1 {
			t.Errorf("%+v, %+v", seven, raw)
		}
		if diff := cmp.Diff([]uint64{8}, r.numbers(1)); diff != "" {
			t.Error(diff)
		}
		// Not 5 before: the new broker did not have that yet.
		if ack := expect[protocol.Ack](b, protocol.OpAck); ack.Num != 8 {
			t.Errorf("%+v", ack)
		}
		must(t, r.move("b")) // there already
	})
}

// What the old connection brought after the hello is not acknowledged over the
// new one before that has brought it, whenever the program handles it: until
// then the new broker need not have it, and would drop what it fetches.
func TestAcksWhatTheNewBrokerHas(t *testing.T) {
	for name, late := range map[string]bool{"handled before the welcome": false, "handled after it": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n, welcome := newNetwork(t, "a", "b"), make(chan struct{})
				r := start(t, nil, Config{Client: "me", Brokers: []string{"ws://a/ws"}, Dial: n.dial, Handle: func(e Event) {
					if n, ok := e.(*Notification); ok && late && n.Seq > 3 {
						<-welcome
					}
				}})
				a := n["a"].accept()
				a.welcomeAt("a", "one")
				a.send(notify("s1", 1, 0), notify("s1", 2, 0), notify("s1", 3, 0))
				if ack := expect[protocol.Ack](a, protocol.OpAck); ack.Num != 3 {
					t.Fatalf("%+v", ack)
				}
				moved := r.move("b")
				b := n["b"].accept()
				hello := expect[protocol.Hello](b, protocol.OpHello)
				if hello.Num["s1"] != 3 {
					t.Fatalf("%+v", hello)
				}
				a.send(notify("s1", 4, 0), notify("s1", 5, 0), notify("s1", 6, 0))
				synctest.Wait()
				b.send(welcomeFor(hello, "one"))
				must(t, moved)
				close(welcome)
				<-time.After(time.Second) // beyond AckDelay
				b.send(notify("s1", 4, 0))
				for _, up := range []uint64{4, 6} {
					if ack := expect[protocol.Ack](b, protocol.OpAck); ack.Num != up {
						t.Fatalf("%d of s1 is acknowledged, expected %d", ack.Num, up)
					}
					b.send(notify("s1", up+1, 0), notify("s1", up+2, 0))
				}
			})
		})
	}
}

func TestMoveFails(t *testing.T) {
	for name, refuse := range map[string]func(*peer){
		"refused": func(p *peer) {
			p.send(protocol.Error{Op: protocol.OpError, Code: protocol.Overloaded, Message: "full"})
		},
		"unauthorized": func(p *peer) {
			p.send(protocol.Error{Op: protocol.OpError, Code: protocol.Unauthorized, Message: "no"})
		},
		"cut":    func(p *peer) { p.cut() },
		"silent": func(p *peer) {},
		"heartbeats only": func(p *peer) {
			go func() {
				for p.socket.WriteMessage(1, []byte(`{"op":"heartbeat"}`)) == nil {
					<-time.After(time.Second)
				}
			}()
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := newNetwork(t, "a", "b")
				r, a := roaming(t, n, Config{ConnectTimeout: 2 * time.Second})
				moved := r.move("b")
				b := n["b"].accept()
				expect[protocol.Hello](b, protocol.OpHello)
				a.send(notify("s1", 1, 0))
				r.numbers(1)
				synctest.Wait()
				refuse(b)
				began := time.Now()
				if err := <-moved; err == nil || errors.Is(err, ErrClosed) || time.Since(began) > 2*time.Second {
					t.Errorf("after %s: %v", time.Since(began), err)
				}
				b.end()
				if s := next[*Stayed](r); s.URL != "ws://b/ws" || s.Err == nil {
					t.Errorf("%+v", s)
				}
				// All goes on at the old one.
				if ack := expect[protocol.Ack](a, protocol.OpAck); ack.Num != 1 {
					t.Errorf("%+v", ack)
				}
				a.send(notify("s1", 2, 0))
				r.numbers(1)
				synctest.Wait()
				moved = r.move("b")
				b = n["b"].accept()
				if hello := b.welcomeAt("b", "one"); *hello.Attachment != 3 || hello.Num["s1"] != 2 {
					t.Errorf("%+v", hello)
				}
				must(t, moved)
			})
		})
	}
	t.Run("out of reach", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r, _ := roaming(t, newNetwork(t, "a"), Config{})
			if err := <-r.move("refusing"); err == nil {
				t.Error("no error")
			}
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			began := time.Now()
			if err := r.Move(ctx, "ws://nowhere/ws"); err == nil || time.Since(began) != time.Second {
				t.Errorf("after %s: %v", time.Since(began), err)
			}
			if err := r.Move(ctx, "ftp://x"); err == nil {
				t.Error("no error")
			}
			r.cancel()
			<-r.Done()
			if err := r.Move(t.Context(), "ws://b/ws"); !errors.Is(err, ErrClosed) {
				t.Error(err)
			}
		})
	})
}

// A second move before the first hand-over ends, and back again.
func TestMoveOvertaken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNetwork(t, "a", "b", "c")
		r, a := roaming(t, n, Config{})
		first := r.move("b")
		b := n["b"].accept()
		expect[protocol.Hello](b, protocol.OpHello)
		second := r.move("c")
		if err := <-first; !errors.Is(err, ErrOvertaken) {
			t.Errorf("%v", err)
		}
		b.end()
		next[*Stayed](r)
		c := n["c"].accept()
		hello := expect[protocol.Hello](c, protocol.OpHello)
		if *hello.Attachment != 3 {
			t.Errorf("%+v", hello)
		}
		// The first of the two has told the old broker of the new attachment.
		a.send(protocol.Error{Op: protocol.OpError, Code: protocol.Conflict, Attachment: number(2)})
		a.end()
		synctest.Wait()
		c.send(welcomeFor(hello, "one"))
		must(t, second)
		if at := next[*Attached](r); at.URL != "ws://c/ws" || at.Attachment != 3 { // and no Detached before
			t.Errorf("%+v", at)
		}

		// There and back within a heartbeat, the way there not ended.
		first = r.move("b")
		b = n["b"].accept()
		expect[protocol.Hello](b, protocol.OpHello)
		second = r.move("c")
		if err := <-first; !errors.Is(err, ErrOvertaken) {
			t.Errorf("%v", err)
		}
		// b may have got hold of this client, so c is told again.
		c2 := n["c"].accept()
		if hello := c2.welcomeAt("c", "one"); *hello.Attachment != 5 {
			t.Errorf("%+v", hello)
		}
		must(t, second)
		c.end()
		next[*Stayed](r)
		next[*Attached](r)

		// Before b heard of it, nothing has happened.
		first = r.move("nowhere")
		synctest.Wait()
		must(t, r.move("c"))
		if err := <-first; !errors.Is(err, ErrOvertaken) {
			t.Errorf("%v", err)
		}
		// Three at once: the last one counts.
		first = r.move("nowhere")
		synctest.Wait()
		second = r.move("b")
		synctest.Wait()
		third := r.move("a")
		n["a"].accept().welcomeAt("a", "one")
		must(t, third)
		for _, done := range []<-chan error{first, second} {
			if err := <-done; err != nil && !errors.Is(err, ErrOvertaken) {
				t.Errorf("%v", err)
			}
		}
	})
}

func TestTakenOverWhileMoving(t *testing.T) {
	for name, conflict := range map[string]func(a, b *peer){
		"at the old": func(a, b *peer) {
			a.send(protocol.Error{Op: protocol.OpError, Code: protocol.Conflict, Attachment: number(3)})
		},
		"at the new": func(a, b *peer) {
			b.send(protocol.Error{Op: protocol.OpError, Code: protocol.Conflict, Attachment: number(2)})
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := newNetwork(t, "a", "b")
				r, a := roaming(t, n, Config{})
				moved := r.move("b")
				b := n["b"].accept()
				expect[protocol.Hello](b, protocol.OpHello)
				conflict(a, b)
				if err := <-r.result; !errors.Is(err, ErrTakenOver) {
					t.Errorf("ended with %v", err)
				}
				if err := <-moved; err == nil {
					t.Error("moved")
				}
				a.end()
				b.end()
			})
		})
	}
}

// A source that comes over the old connection after the hello is told to the new
// broker, and so are those of which nothing but their names has come.
func TestSourceWhileMoving(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNetwork(t, "a", "b")
		r, a := roaming(t, n, Config{Brokers: []string{"ws://a/ws", "ws://b/ws"}})
		a.send(notify("s2", 1, 0), protocol.Gap{Op: protocol.OpGap, Source: "s2", From: 2, Next: "s3"})
		r.numbers(1)
		next[*Gap](r)
		synctest.Wait()
		moved := r.move("b")
		b := n["b"].accept()
		hello := expect[protocol.Hello](b, protocol.OpHello)
		if diff := cmp.Diff(map[string]uint64{"s1": 0, "s3": 0}, hello.Num); diff != "" {
			t.Error(diff)
		}
		a.send(notify("s4", 1, 0))
		r.numbers(1)
		synctest.Wait()
		b.send(welcomeFor(hello, "one"))
		must(t, moved)
		next[*Attached](r)
		if lost := next[*Detached](r); !errors.Is(lost.Err, errUntold) {
			t.Error(lost.Err)
		}
		b.end()
		b = n["b"].accept()
		hello = expect[protocol.Hello](b, protocol.OpHello)
		if diff := cmp.Diff(map[string]uint64{"s1": 0, "s3": 0, "s4": 1}, hello.Num); diff != "" {
			t.Error(diff)
		}
		b.send(welcomeFor(hello, "one"), notify("s4", 2, 0))
		next[*Attached](r)
		next[*HandedOver](r)
		r.numbers(1)
	})
}

// A hello is said again once for each hand-over at most: what no connection has
// brought meanwhile is told. One that told nothing has nothing to be resumed.
func TestHelloAgainEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNetwork(t, "a", "b")
		r, a := roaming(t, n, Config{Brokers: []string{"ws://a/ws", "ws://b/ws"}})
		moved := r.move("b")
		b := n["b"].accept()
		hello := expect[protocol.Hello](b, protocol.OpHello)
		a.send(notify("x1", 1, 0), notify("x2", 1, 0))
		r.numbers(2)
		b.send(welcomeFor(hello, "one"))
		b.socket.WriteJSON(notify("x3", 1, 0)) // it goes on naming: the client may have gone
		must(t, moved)
		next[*Attached](r)
		b.end()
		b = n["b"].accept()
		hello = expect[protocol.Hello](b, protocol.OpHello)
		b.send(welcomeFor(hello, "one"), notify("x4", 1, 0), notify("x5", 1, 0))
		synctest.Wait()
		if got := b.still(); got != "" {
			t.Errorf("the client says %s", got)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		f := newFakeBroker(t)
		r := start(t, f, Config{Anonymous: true})
		p := f.accept()
		p.welcome("one")
		next[*Attached](r)
		p.send(notify("s1", 1, 0))
		r.numbers(1)
		<-time.After(time.Second)
		p.cut()
		next[*Detached](r)
		p = f.accept()
		p.welcome("one")
		next[*Gap](r)
		if at := next[*Attached](r); at.Resumed {
			t.Errorf("%+v", at)
		}
		p.send(notify("s1", 1, 0))
		r.numbers(1)
	})
}

// still returns what comes within a second, "" for nothing but acknowledgements.
func (p *peer) still() string {
	p.socket.SetReadDeadline(time.Now().Add(time.Second))
	for {
		_, text, err := p.socket.ReadMessage()
		var timeout net.Error
		switch {
		case errors.As(err, &timeout) && timeout.Timeout():
			return ""
		case err != nil:
			return err.Error()
		case !bytes.HasPrefix(text, []byte(`{"op":"ack"`)):
			return string(text)
		}
	}
}

// The edge knows of a newer attachment of ours: the next number is taken.
func TestMoveRenumbered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNetwork(t, "a", "b")
		r, _ := roaming(t, n, Config{})
		first := r.move("b")
		b := n["b"].accept()
		expect[protocol.Hello](b, protocol.OpHello) // 2
		second := r.move("a")
		<-first
		a := n["a"].accept()
		expect[protocol.Hello](a, protocol.OpHello) // 3
		a.send(protocol.Error{Op: protocol.OpError, Code: protocol.Conflict, Attachment: number(2)})
		a = n["a"].accept()
		if hello := a.welcomeAt("a", "one"); *hello.Attachment != 4 {
			t.Errorf("%+v", hello)
		}
		must(t, second)
	})
}

// What the old broker answers after the new one's hello was made is asked
// again of the new one; it counts only if that one refuses. If it does not
// answer the hello may have arrived, and what was asked is asked behind another.
func TestSubscribeWhileMoving(t *testing.T) {
	for _, name := range []string{"moved", "refused", "lost"} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := newNetwork(t, "a", "b")
				r, a := roaming(t, n, Config{})
				before := r.subscribe("before")
				expect[protocol.Subscribe](a, protocol.OpSubscribe)
				moved := r.move("b")
				b := n["b"].accept()
				hello := expect[protocol.Hello](b, protocol.OpHello)
				if len(hello.Subscriptions) != 1 {
					t.Errorf("%+v", hello.Subscriptions)
				}
				if s := expect[protocol.Subscribe](b, protocol.OpSubscribe); s.ID != "before" {
					t.Errorf("%+v", s)
				}
				a.send(subscribedTo("before"))
				during := r.subscribe("during")
				if s := expect[protocol.Subscribe](b, protocol.OpSubscribe); s.ID != "during" {
					t.Errorf("%+v", s)
				}
				ending := make(chan error, 1)
				go func() { ending <- r.Unsubscribe(context.Background(), "near") }()
				expect[protocol.Unsubscribe](b, protocol.OpUnsubscribe)
				synctest.Wait()
				for _, done := range []<-chan error{before, during, ending} {
					if len(done) > 0 {
						t.Error("an answer came before the hand-over was settled")
					}
				}
				switch name {
				case "moved":
					b.send(welcomeFor(hello, "one"))
					must(t, moved)
					synctest.Wait()
					if len(before)+len(during)+len(ending) > 0 {
						t.Error("an answer came without the new broker's word")
					}
					b.send(subscribedTo("near"), subscribedTo("before"), subscribedTo("during"), protocol.Reply{Op: protocol.OpReply, ID: "near", OK: true})
				case "refused":
					b.send(protocol.Error{Op: protocol.OpError, Code: protocol.Overloaded, Message: "no room"})
					<-moved
					b.end()
					must(t, before)
					if s := expect[protocol.Subscribe](a, protocol.OpSubscribe); s.ID != "during" {
						t.Errorf("%+v", s)
					}
					expect[protocol.Unsubscribe](a, protocol.OpUnsubscribe)
					a.send(subscribedTo("during"), protocol.Reply{Op: protocol.OpReply, ID: "near", OK: true})
				case "lost":
					b.cut()
					<-moved
					a.end()
					synctest.Wait()
					if len(before)+len(during)+len(ending) > 0 {
						t.Error("an answer of a broker that may not have this client any more counts")
					}
					a = n["a"].accept()
					if again := a.welcomeAt("a", "one"); *again.Attachment != 3 || len(again.Subscriptions) != 0 {
						t.Errorf("%+v", again)
					}
					for _, id := range []string{"before", "during"} {
						if s := expect[protocol.Subscribe](a, protocol.OpSubscribe); s.ID != id {
							t.Errorf("%+v", s)
						}
					}
					a.send(subscribedTo("before"), subscribedTo("during"))
				}
				if name != "refused" {
					must(t, before)
				}
				must(t, during)
				must(t, ending)
				if s := r.State().Subscriptions; len(s) != 2 || s[0].ID != "before" || s[1].ID != "during" {
					t.Errorf("%+v", s)
				}
			})
		})
	}
}

// Commands that wait for their answers are not lost by a move.
func TestCommandWhileMoving(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNetwork(t, "a", "b")
		r, a := roaming(t, n, Config{})
		command := func() (<-chan error, protocol.Command) {
			done := make(chan error, 1)
			go func() {
				_, err := r.Command(context.Background(), Command{Robot: "r0", Name: "stop"})
				done <- err
			}()
			return done, expect[protocol.Command](a, protocol.OpCommand)
		}
		answered, c1 := command()
		lost, _ := command()
		moved := r.move("b")
		n["b"].accept().welcomeAt("b", "one")
		must(t, moved)
		// What else the old one says is not taken any more.
		a.send(notify("s1", 1, 0), protocol.Reply{Op: protocol.OpReply, ID: c1.ID, OK: true})
		must(t, answered)
		began := time.Now()
		if err := <-lost; !errors.Is(err, ErrLost) || time.Since(began) > 2*lingering { // and the time to say goodbye
			t.Errorf("after %s: %v", time.Since(began), err)
		}
		a.end()
		next[*Attached](r)
		if len(r.events) > 0 {
			t.Errorf("%+v", <-r.events)
		}
	})
}
