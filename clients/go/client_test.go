package callboard

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"callboard/player/deadline/deadlinetest"
	"callboard/subscribe/protocol"

	"github.com/google/go-cmp/cmp"
)

func TestHelloSubscribeNotifyAck(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakeBroker(t)
		r := start(t, f, Config{Client: "me", Token: "secret"})
		p := f.accept()
		hello := expect[protocol.Hello](p, protocol.OpHello)
		want := protocol.Hello{Op: protocol.OpHello, Client: "me", Token: "secret"}
		if diff := cmp.Diff(want, hello); diff != "" {
			t.Error(diff)
		}
		p.send(welcomeFor(hello, "one"))
		a := next[*Attached](r)
		if a.Broker != "b1" || a.Resumed || a.Attachment != 1 || a.Session != "one" {
			t.Errorf("attached: %+v", a)
		}
		done := r.subscribe("near")
		s := expect[protocol.Subscribe](p, protocol.OpSubscribe)
		if s.ID != "near" || s.Condition != "laser.min < 1" {
			t.Errorf("subscribe: %+v", s)
		}
		p.send(subscribedTo("near"))
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		p.send(notify("s1", 1, 0), notify("s1", 4, 2), notify("s2", 1, 0))
		for range 3 {
			n := next[*Notification](r)
			var raw protocol.Notify
			if err := json.Unmarshal(n.Raw, &raw); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(n.Notify, raw); diff != "" {
				t.Error(diff)
			}
		}
		began := time.Now()
		acks := map[string]uint64{}
		for range 2 {
			a := expect[protocol.Ack](p, protocol.OpAck)
			acks[a.Source] = a.Num
		}
		if waited := time.Since(began); waited != 100*time.Millisecond {
			t.Errorf("acknowledged after %s, expected 100ms", waited)
		}
		if diff := cmp.Diff(map[string]uint64{"s1": 4, "s2": 1}, acks); diff != "" {
			t.Error(diff)
		}
	})
}

func TestAcksInBatches(t *testing.T) {
	for name, config := range map[string]Config{
		"count": {AckCount: 10, AckDelay: time.Hour},
		"bytes": {AckBytes: 1700, AckDelay: time.Hour},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFakeBroker(t)
				r := start(t, f, config)
				p := r.attachedTo(f, "one")
				for seq := range uint64(10) {
					synctest.Wait()
					p.send(notify("s1", seq+1, 0), protocol.Heartbeat{Op: protocol.OpHeartbeat})
				}
				if a := expect[protocol.Ack](p, protocol.OpAck); a.Num < 5 || a.Num > 10 {
					t.Errorf("acknowledged %d", a.Num)
				}
			})
		})
	}
}

func TestResume(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakeBroker(t)
		release := make(chan struct{})
		events := make(chan Event, 100)
		r := start(t, f, Config{Client: "me", Handle: func(e Event) {
			if n, ok := e.(*Notification); ok && n.Seq == 3 {
				<-release // 3 is not handled before the connection is lost
			}
			events <- e
		}})
		r.events = events
		p := r.attachedTo(f, "one")
		p.send(notify("s1", 1, 0), notify("s1", 2, 0), notify("s1", 3, 0), notify("s1", 4, 0))
		synctest.Wait()
		p.cut()
		p = f.accept()
		hello := expect[protocol.Hello](p, protocol.OpHello)
		want := protocol.Hello{
			Op: protocol.OpHello, Client: "me", Session: "one", Attachment: number(2), Num: map[string]uint64{"s1": 2},
			Subscriptions: []Subscription{{ID: "near", Condition: "laser.min < 1"}}, Away: &[]string{},
		}
		if diff := cmp.Diff(want, hello); diff != "" {
			t.Error(diff)
		}
		p.send(welcomeFor(hello, "one"), subscribedTo("near"))
		// What was given already comes again: 3, and 4 conflated with 5.
		p.send(notify("s1", 3, 0), notify("s1", 6, 2), notify("s1", 7, 0))
		close(release)
		var seqs []uint64
		for len(seqs) < 6 {
			switch e := (<-events).(type) {
			case *Notification:
				seqs = append(seqs, e.Seq)
			case *Fault:
				t.Errorf("fault: %s", e.Reason)
			case *Gap:
				t.Errorf("gap: %+v", e)
			}
		}
		if diff := cmp.Diff([]uint64{1, 2, 3, 4, 6, 7}, seqs); diff != "" {
			t.Error(diff)
		}
		synctest.Wait()
		if diff := cmp.Diff(map[string]uint64{"s1": 7}, r.State().Num); diff != "" {
			t.Error(diff)
		}
	})
}

func TestResumeTellsItself(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakeBroker(t)
		r := start(t, f, Config{})
		p := r.attachedTo(f, "one")
		p.cut()
		if d := next[*Detached](r); d.URL != "ws://broker/ws" || d.Err == nil {
			t.Errorf("%+v", d)
		}
		p = f.accept()
		p.welcome("one")
		p.send(subscribedTo("near"))
		if a := next[*Attached](r); !a.Resumed || a.Attachment != 2 {
			t.Errorf("%+v", a)
		}
		if s := next[*Resubscribed](r); s.ID != "near" || s.Robots != 1 {
			t.Errorf("%+v", s)
		}
	})
}

func TestSessionForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakeBroker(t)
		r := start(t, f, Config{})
		p := r.attachedTo(f, "one")
		p.send(notify("s1", 1, 0))
		next[*Notification](r)
		synctest.Wait()
		p.cut()
		p = f.accept()
		p.welcome("two") // its store was lost
		p.send(subscribedTo("near"), notify("s3", 1, 0))
		next[*Detached](r)
		g := next[*Gap](r)
		if g.Source != "s1" || g.From != 2 || g.To != nil || g.Why == "" {
			t.Errorf("gap: %+v", g.Gap)
		}
		if a := next[*Attached](r); a.Resumed {
			t.Errorf("%+v", a)
		}
		next[*Resubscribed](r)
		next[*Notification](r)
	})
}

func TestGaps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakeBroker(t)
		r := start(t, f, Config{AckCount: 1})
		p := r.attachedTo(f, "one")
		gap := protocol.Gap{Op: protocol.OpGap, Source: "s1", From: 1, To: number(5), Why: "inbox full"}
		p.send(gap, notify("s1", 6, 0))
		if g := next[*Gap](r); g.From != 1 || *g.To != 5 || g.Why != "inbox full" {
			t.Errorf("%+v", g.Gap)
		}
		next[*Notification](r)
		for a := expect[protocol.Ack](p, protocol.OpAck); a.Num != 6; a = expect[protocol.Ack](p, protocol.OpAck) {
		}
		// The sequence ends; the next one begins at 1.
		p.send(protocol.Gap{Op: protocol.OpGap, Source: "s1", From: 7, Why: "store lost", Next: "s9"}, notify("s9", 1, 0))
		if g := next[*Gap](r); g.To != nil || g.Next != "s9" || g.From != 7 {
			t.Errorf("%+v", g.Gap)
		}
		if n := next[*Notification](r); n.Source != "s9" {
			t.Errorf("%+v", n)
		}
	})
}

func TestFaults(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakeBroker(t)
		r := start(t, f, Config{})
		p := r.attachedTo(f, "one")
		p.send(notify("s1", 1, 0), notify("s1", 3, 0))
		next[*Notification](r)
		if e := next[*Fault](r); e.Source != "s1" || !strings.Contains(e.Reason, "expected 2") {
			t.Errorf("%v", e)
		}
		if n := next[*Notification](r); n.Seq != 3 {
			t.Errorf("%+v", n)
		}
		p.send(notify("s1", 3, 0)) // twice, and not after a resume
		if e := next[*Fault](r); !strings.Contains(e.Error(), "came again") {
			t.Errorf("%v", e)
		}
		p.send(protocol.Gap{Op: protocol.OpGap, Source: "s1", From: 9, To: number(10)})
		next[*Fault](r)
		next[*Gap](r)
		p.send(`{"op":"robot","robot":"r0","source":"s1","state":"away","since":3}`, `{"op":"later","x":1}`)
		if e := next[*Robot](r); e.Robot.Robot != "r0" || e.State != protocol.RobotAway {
			t.Errorf("%+v", e)
		}
		p.send(`{"op":"notify","seq":"x"}`) // no message: the connection ends
		next[*Detached](r)
		p.end()
	})
}

func TestHeartbeatsMissing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakeBroker(t)
		r := start(t, f, Config{})
		p := r.attachedTo(f, "one")
		for range 10 {
			<-time.After(2 * time.Second)
			p.send(protocol.Heartbeat{Op: protocol.OpHeartbeat, Broker: "b1"})
		}
		began := time.Now()
		d := next[*Detached](r)
		if waited := time.Since(began); waited != 3*time.Second || !strings.Contains(d.Err.Error(), "silent for 3s") {
			t.Errorf("after %s: %v", waited, d.Err)
		}
		f.accept().welcome("one")
		next[*Attached](r)
	})
}

// TestStoodStill: a client that stood still for longer than three heartbeats
// goes on with the broker whose heartbeats wait to be read.
func TestStoodStill(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakeBroker(t)
		var still deadlinetest.Standstill
		r := start(t, f, Config{Dial: still.Dial(f.pipes.dial)})
		p := r.attachedTo(f, "one")
		for seq := range uint64(3) {
			synctest.Wait()
			still.End()
			synctest.Wait()
			p.send(notify("s1", seq+1, 0))
			next[*Notification](r)
		}
	})
}

func TestNextBroker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakeBroker(t)
		var hosts []string
		config := Config{Brokers: []string{"ws://gone/ws", "ws://here/ws"}}
		config.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
			hosts = append(hosts, address)
			if address == "gone:80" {
				return nil, errors.New("connection refused")
			}
			return f.pipes.dial(ctx, network, address)
		}
		r := start(t, nil, config)
		p := f.accept()
		p.welcome("one")
		next[*Attached](r)
		p.cut()
		f.accept().welcome("one")
		if diff := cmp.Diff([]string{"gone:80", "here:80", "here:80"}, hosts); diff != "" {
			t.Error(diff)
		}
	})
}

func TestConflicts(t *testing.T) {
	conflict := func(n uint64) protocol.Error {
		return protocol.Error{Op: protocol.OpError, Code: protocol.Conflict, Message: "attached elsewhere", Attachment: number(n)}
	}
	t.Run("taken over while attached", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			f := newFakeBroker(t)
			r := start(t, f, Config{})
			p := r.attachedTo(f, "one")
			p.send(conflict(2))
			if err := <-r.result; !errors.Is(err, ErrTakenOver) {
				t.Errorf("ended with %v", err)
			}
			if _, err := r.Subscribe(t.Context(), Subscription{ID: "x"}); !errors.Is(err, ErrClosed) {
				t.Errorf("subscribe afterwards: %v", err)
			}
		})
	})
	t.Run("taken over while away", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			f := newFakeBroker(t)
			r := start(t, f, Config{})
			r.attachedTo(f, "one").cut()
			p := f.accept()
			expect[protocol.Hello](p, protocol.OpHello)
			p.send(conflict(2)) // the number that we took: another has it
			if err := <-r.result; !errors.Is(err, ErrTakenOver) {
				t.Errorf("ended with %v", err)
			}
		})
	})
	t.Run("own older attachment", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			f := newFakeBroker(t)
			r := start(t, f, Config{})
			p := r.attachedTo(f, "one")
			p.send(conflict(1))
			next[*Detached](r)
			hello := f.accept().welcome("one")
			if *hello.Attachment != 2 {
				t.Errorf("attachment %d, expected 2", *hello.Attachment)
			}
			next[*Attached](r)
		})
	})
	// A first hello that nobody answered has no number that this client knows:
	// the broker takes it late, and that is no other program, but for once.
	for name, late := range map[string]time.Duration{"own hello that comes late": time.Minute, "another program long after": 10 * time.Minute} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFakeBroker(t)
				r := start(t, f, Config{})
				p := f.accept()
				expect[protocol.Hello](p, protocol.OpHello)
				p.end() // it gives up
				p = r.attachedTo(f, "one")
				for range late / time.Second {
					p.send(`{"op":"heartbeat"}`)
					<-time.After(time.Second)
				}
				p.send(conflict(2))
				if late > unansweredFor {
					if err := <-r.result; !errors.Is(err, ErrTakenOver) {
						t.Errorf("ended with %v", err)
					}
					return
				}
				next[*Detached](r)
				p = f.accept()
				if hello := p.welcome("one"); *hello.Attachment != 3 || hello.Session != "one" || len(hello.Subscriptions) != 1 {
					t.Errorf("%+v", hello)
				}
				next[*Attached](r)
				p.send(conflict(4))
				if err := <-r.result; !errors.Is(err, ErrTakenOver) {
					t.Errorf("ended with %v", err)
				}
			})
		})
	}
	t.Run("a restored state that is behind", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			f := newFakeBroker(t)
			start(t, f, Config{Resume: &State{Client: "me", Session: "one", Attachment: 4, Num: map[string]uint64{"s1": 7}}})
			p := f.accept()
			hello := expect[protocol.Hello](p, protocol.OpHello)
			if *hello.Attachment != 5 || hello.Num["s1"] != 7 || hello.Session != "one" {
				t.Errorf("%+v", hello)
			}
			p.send(conflict(9))
			hello = f.accept().welcome("one")
			if *hello.Attachment != 10 {
				t.Errorf("attachment %d, expected 10", *hello.Attachment)
			}
		})
	})
}

func TestRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakeBroker(t)
		r := start(t, f, Config{})
		p := f.accept()
		expect[protocol.Hello](p, protocol.OpHello)
		p.send(protocol.Error{Op: protocol.OpError, Code: protocol.Overloaded, Message: "full"}) // for now
		p = f.accept()
		expect[protocol.Hello](p, protocol.OpHello)
		p.send(protocol.Error{Op: protocol.OpError, Code: protocol.Unauthorized, Message: "no such token"})
		err := <-r.result
		var e *Error
		if !errors.As(err, &e) || e.Code != protocol.Unauthorized {
			t.Errorf("ended with %v", err)
		}
	})
}

// A hello that is too large for a client whose token is not known yet has it in
// the request too.
func TestLargeHelloShowsItsToken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakeBroker(t)
		r := start(t, f, Config{Token: "s3cret"})
		p := r.attachedTo(f, "s")
		if p.authorization != "" {
			t.Errorf("a small hello came with %q", p.authorization)
		}
		done := make(chan error, 1)
		go func() {
			_, err := r.Subscribe(context.Background(), Subscription{ID: "large", Condition: strings.Repeat("true && ", 10_000) + "true"})
			done <- err
		}()
		expect[protocol.Subscribe](p, protocol.OpSubscribe)
		p.send(subscribedTo("large"))
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		p.cut()
		p = f.accept()
		if p.authorization != "Bearer s3cret" {
			t.Errorf("a large hello came with %q", p.authorization)
		}
		if hello := p.welcome("s"); len(hello.Subscriptions) != 2 {
			t.Errorf("hello lists %d subscriptions", len(hello.Subscriptions))
		}
	})
	synctest.Test(t, func(t *testing.T) {
		f := newFakeBroker(t)
		state := State{Client: "guard", Session: "s", Attachment: 1}
		for i := range 10_000 {
			state.Away = append(state.Away, fmt.Sprintf("robot%d", i))
		}
		start(t, f, Config{Token: "s3cret", Resume: &state})
		p := f.accept()
		if p.authorization != "Bearer s3cret" {
			t.Errorf("a hello with many robots that are away came with %q", p.authorization)
		}
		if hello := p.welcome("s"); hello.Away == nil || len(*hello.Away) != len(state.Away) {
			t.Errorf("hello tells %v of robots that are away", hello.Away)
		}
	})
}

func TestGoodbyeOfRandomClient(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakeBroker(t)
		r := start(t, f, Config{})
		p := r.attachedTo(f, "one")
		p.send(notify("s1", 1, 0))
		next[*Notification](r)
		r.cancel()
		got := p.end()
		want := []string{`{"op":"unsubscribe","id":"near"}`, `{"op":"ack","source":"s1","num":1}`}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
		if err := <-r.result; err != nil {
			t.Errorf("ended with %v", err)
		}
	})
}

func TestGoodbyeOfLastingClient(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakeBroker(t)
		var r *running
		r = start(t, f, Config{Client: "me", Handle: func(e Event) {
			if _, ok := e.(*Notification); ok {
				r.cancel() // what is handled at the end is acknowledged still
				<-time.After(100 * time.Millisecond)
			}
			r.events <- e
		}})
		p := r.attachedTo(f, "one")
		p.send(notify("s1", 1, 0))
		if diff := cmp.Diff([]string{`{"op":"ack","source":"s1","num":1}`}, p.end()); diff != "" {
			t.Error(diff)
		}
	})
}

func TestSlowProgram(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakeBroker(t)
		turn := make(chan struct{})
		var seqs []uint64
		r := start(t, f, Config{QueueCount: 10, Handle: func(e Event) {
			if n, ok := e.(*Notification); ok {
				<-turn
				seqs = append(seqs, n.Seq)
			}
		}})
		p := f.accept()
		p.welcome("one")
		for seq := range uint64(20) {
			text, _ := json.Marshal(notify("s1", seq+1, 0))
			p.socket.WriteMessage(1, text) // fails once the client has given up
		}
		p.end()
		<-time.After(time.Minute) // as long as the program takes nothing, nothing is asked for
		select {
		case <-f.peers:
			t.Fatal("the client came back with its queue full")
		default:
		}
		close(turn)
		p = f.accept()
		hello := p.welcome("one")
		for seq := hello.Num["s1"] + 1; seq <= 20; seq++ {
			synctest.Wait() // a window keeps the queue small
			p.send(notify("s1", seq, 0))
		}
		synctest.Wait()
		for i, seq := range seqs {
			if seq != uint64(i+1) {
				t.Fatalf("got %v", seqs)
			}
		}
		if len(seqs) != 20 {
			t.Fatalf("got %v", seqs)
		}
		_ = r
	})
}

func TestAnonymous(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakeBroker(t)
		r := start(t, f, Config{Anonymous: true})
		p := r.attachedTo(f, "one")
		p.send(notify("s1", 1, 0))
		next[*Notification](r)
		synctest.Wait()
		p.cut()
		p = f.accept()
		hello := p.welcome("two")
		want := protocol.Hello{Op: protocol.OpHello, Subscriptions: []Subscription{{ID: "near", Condition: "laser.min < 1"}}}
		if diff := cmp.Diff(want, hello); diff != "" {
			t.Error(diff)
		}
		next[*Detached](r)
		next[*Gap](r)
		next[*Attached](r)
		p.send(subscribedTo("near"), notify("s1", 1, 0))
		next[*Resubscribed](r)
		next[*Notification](r)
		r.cancel()
		if got := p.end(); got != nil { // no acknowledgements
			t.Errorf("%q", got)
		}
	})
}
